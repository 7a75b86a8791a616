"""The diagnosis of a run: everything that its screens say, worked out once."""

from __future__ import annotations

from dataclasses import dataclass

from imbrex.diagnosis.account import Account, take_account
from imbrex.diagnosis.finding import Finding
from imbrex.diagnosis.findings.registry import find_all
from imbrex.diagnosis.reasons import Reason, why_undetermined
from imbrex.diagnosis.sentence import first_sentence
from imbrex.diagnosis.standing import Ending, find_ending
from imbrex.diagnosis.weaknesses import other_load, weaknesses
from imbrex.profile.run import Run
from imbrex.profile.summary import rows


@dataclass(frozen=True)
class Diagnosis:
    """The account of a run, the sentence that sums it up, and what follows, what matters first.

    `reasons` are those for which transfer time is neither hidden nor exposed for certain; `ending`
    says where the ranks stood of a run that was cut short.
    """

    account: Account
    sentence: str
    findings: tuple[Finding, ...]
    weaknesses: tuple[str, ...]
    reasons: tuple[Reason, ...]
    ending: Ending | None = None

    @property
    def run(self) -> Run:
        """What was diagnosed."""
        return self.account.run

    @property
    def further_weaknesses(self) -> list[str]:
        """The weaknesses that the sentence does not say already."""
        crowded = self.run.job.crowded
        told = crowded is not None and crowded.lower() in self.sentence.lower()
        load = other_load(self.run) if told else None
        return [line for line in self.weaknesses if line != load]


def diagnose(run: Run) -> Diagnosis:
    """Work out the diagnosis of a run."""
    account = take_account(run)
    return Diagnosis(
        account=account,
        sentence=first_sentence(account),
        findings=find_all(account),
        weaknesses=tuple(weaknesses(run, account.sums)),
        reasons=tuple(why_undetermined(account.knowledge, rows(run, "operation"))),
        ending=find_ending(run),
    )

"""The instructions that ask, in the place of a hook's call, whether its access concerns anybody."""

from __future__ import annotations

import re
from dataclasses import dataclass

from imbrex.recorder.addresses import CALLER_SAVED, lower_half

_WORD_BITS = 3
CHANGED_BY_KEEPER = ("rax", "rdi", "r9", "r10", "r11")
LINE_BITS = 5
LINE_BYTES = 1 << LINE_BITS
# Labels that are no target of a jump: debuggers'.
DEBUG_LABEL = re.compile(r"\.L(VL|BB|BE)\d*:")
MARKS = "\tmovq\timbrex_access_words@GOTPCREL(%rip), %r11"


@dataclass(frozen=True)
class Code:
    """What is known of an assembler file. `keeper`: the function of keep.c through which the
    recorder must be called, if the compiler was told what hooks change."""

    keeper: str = ""

    @property
    def changed(self) -> tuple[str, ...]:
        """The registers that a hook may change."""
        return CHANGED_BY_KEEPER if self.keeper else CALLER_SAVED


@dataclass
class Access:
    """One hook in a run: at which line of the text, and what it accesses."""

    at: int
    is_write: bool
    size: int
    aligned: bool
    place: str  # the .loc in force
    paired: bool = False
    argument: str = ""  # the line that puts its address into rdi, where the hook may do that itself

    @property
    def is_source(self) -> bool:
        """Whether a write of the run may have its value from here."""
        return self.paired and not self.is_write

    @property
    def in_one_word(self) -> bool:
        """Whether the access is certain to lie in one word of 8 bytes."""
        return self.size <= 8 and self.aligned


def thread_local(instruction: str, name: str) -> list[str]:
    """An instruction whose last operand is the thread's variable. In programs the linker would know
    how far away it is, but a count is added to in half the time (AMD, Zen 5) through a register."""
    return [
        f"\tmovq\timbrex_access_{name}@gottpoff(%rip), %rax",
        f"\t{instruction}, %fs:(%rax)",
    ]


def remember(access: Access) -> list[str]:
    """Where a later write of the run may have its value from."""
    if not access.is_source:
        return []
    return thread_local("movq\t%rdi", f"source{access.size}_at")


def ask(access: Access, number: int, load: bool) -> list[str]:
    """Go to the stub if anything of the access's memory was communicated, or a copy is awaited.

    r11 holds where lines are marked; `load`: it does not yet, or something else used it.
    """
    text = [
        _into_eax(access.argument),
        *([MARKS] if load else []),
        f"\tshrl\t${LINE_BITS}, %eax",
        "\tcmpb\t$0, (%r11,%rax)",
        f"\tjne\t.Limbrex_call{number}",
    ]
    if not access.in_one_word:
        text += [
            f"\tleal\t{access.size - 1}(%rdi), %eax",
            f"\tshrl\t${LINE_BITS}, %eax",
            "\tcmpb\t$0, (%r11,%rax)",
            f"\tjne\t.Limbrex_call{number}",
        ]
    return [*text, *ask_pending(access, number)]


def _into_eax(argument: str) -> str:
    """What the line puts into rdi, as far as lines are told apart by it; rdi itself without one."""
    mnemonic, _, operands = argument.strip().partition("\t")
    source = operands.rpartition(", ")[0]
    if mnemonic == "leaq":
        return f"\tleal\t{source}, %eax"
    return f"\tmovl\t{lower_half(source) if source else '%edi'}, %eax"


def ask_pending(access: Access, number: int) -> list[str]:
    """Go to the stub if what was just unpacked waits for the write that it is copied by."""
    if not access.paired or not access.is_write:
        return []
    return [
        f".Limbrex_pending{number}:",
        *thread_local("cmpq\t$0", "pending"),
        f"\tjne\t.Limbrex_late{number}",
    ]


def stub(
    access: Access, number: int, later: int, before: list[str], code: Code, behind: str = ""
) -> list[str]:
    """Far from the access: call the recorder after all, unless only another word of the line was
    communicated. `later` accesses that are counted are still to come; `before`: instructions before
    the call; `behind`: where it goes on behind the call, if not where the access is."""
    back = f".Limbrex_back{number}"
    leave = back
    if access.paired and access.is_write:
        leave = f".Limbrex_pending{number}"
    kind = ("copy" if access.paired else "write") if access.is_write else "read"
    if access.is_source:
        kind = "source"
    argument = [access.argument] if access.argument else []
    return [
        f".Limbrex_call{number}:",
        *argument,
        *(_leave_unless_marked(leave) if access.in_one_word else []),
        f".Limbrex_late{number}:",
        *argument,
        *([access.place] if access.place else []),
        *before,
        *_call(f"{kind}{access.size}", later, code),
        MARKS,
        f"\tjmp\t{behind or back}",
    ]


def _call(name: str, later: int, code: Code) -> list[str]:
    if not code.keeper:
        return [f"\tmovl\t${later}, %esi", f"\tcall\timbrex_access_{name}@PLT"]
    return [
        f"\tmovl\t${later}, %r10d",
        "\tleaq\t0(%rip), %r9",
        f"\tmovq\timbrex_access_late_{name}@GOTPCREL(%rip), %rax",
        f"\tcall\t{code.keeper}@PLT",
    ]


def hook(
    run: list[Access], index: int, number: int, load: bool, code: Code, counted: bool = False
) -> tuple[list[str], list[str]]:
    """Instructions in place of a call, and its stub. `load`: as `ask`; `counted`: the run's
    accesses are counted before it."""
    access = run[index]
    text = []
    if index == 0 and not counted:
        text = thread_local(f"addq\t${len(run)}", "clock")
    text += remember(access)
    text += [*ask(access, number, load), f".Limbrex_back{number}:"]
    return text, stub(access, number, len(run) - 1 - index, [], code)


def _leave_unless_marked(label: str) -> list[str]:
    """To the label, if this word of the line was never communicated. eax is the line's number."""
    return [
        "\tmovzbl\t(%r11,%rax), %eax",
        "\tmovl\t%edi, %r11d",
        f"\tshrl\t${_WORD_BITS}, %r11d",
        "\tandl\t$7, %r11d",
        "\tbtl\t%r11d, %eax",
        MARKS,
        f"\tjnc\t{label}",
    ]

"""The instructions that ask, in the place of a hook's call, whether its access concerns anybody."""

from __future__ import annotations

from dataclasses import dataclass

_WORD_BITS = 3
LINE_BITS = 5
MARKS = "\tmovq\timbrex_access_words@GOTPCREL(%rip), %r11"


@dataclass
class Access:
    """One hook in a run: at which line of the text, and what it accesses."""

    at: int
    is_write: bool
    size: int
    aligned: bool
    place: str  # the .loc in force
    paired: bool = False

    @property
    def in_one_word(self) -> bool:
        """Whether the access is certain to lie in one word of 8 bytes."""
        return self.size <= 8 and self.aligned


def thread_local(instruction: str, name: str, direct: bool) -> list[str]:
    """An instruction whose last operand is the thread's variable. `direct`: its distance is known
    to the linker, because the code is for a program, not for a shared library."""
    if direct:
        return [f"\t{instruction}, %fs:imbrex_access_{name}@tpoff"]
    return [
        f"\tmovq\timbrex_access_{name}@gottpoff(%rip), %rax",
        f"\t{instruction}, %fs:(%rax)",
    ]


def remember(access: Access, direct: bool) -> list[str]:
    """Where a later write of the run may have its value from."""
    if not access.paired or access.is_write:
        return []
    return thread_local("movq\t%rdi", f"source{access.size}_at", direct)


def ask(access: Access, number: int, load: bool, direct: bool) -> list[str]:
    """Go to the stub if anything of the access's memory was communicated, or a copy is awaited.

    r11 holds where lines are marked; `load`: it does not yet, or something else used it.
    """
    text = [
        "\tmovl\t%edi, %eax",
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
    return [*text, *ask_pending(access, number, direct)]


def ask_pending(access: Access, number: int, direct: bool) -> list[str]:
    """Go to the stub if what was just unpacked waits for the write that it is copied by."""
    if not access.paired or not access.is_write:
        return []
    return [
        f".Limbrex_pending{number}:",
        *thread_local("cmpq\t$0", "pending", direct),
        f"\tjne\t.Limbrex_late{number}",
    ]


def stub(access: Access, number: int, later: int, before: list[str], behind: str = "") -> list[str]:
    """Far from the access: call the recorder after all, unless only another word of the line was
    communicated. `later` accesses that are counted are still to come; `before`: instructions before
    the call; `behind`: where it goes on behind the call, if not where the access is."""
    back = f".Limbrex_back{number}"
    leave = back
    if access.paired and access.is_write:
        leave = f".Limbrex_pending{number}"
    kind = ("copy" if access.paired else "write") if access.is_write else "read"
    if access.paired and not access.is_write:
        kind = "source"
    return [
        f".Limbrex_call{number}:",
        *(_leave_unless_marked(leave) if access.in_one_word else []),
        f".Limbrex_late{number}:",
        *([access.place] if access.place else []),
        *before,
        f"\tmovl\t${later}, %esi",
        f"\tcall\timbrex_access_{kind}{access.size}@PLT",
        MARKS,
        f"\tjmp\t{behind or back}",
    ]


def hook(
    run: list[Access], index: int, number: int, load: bool, direct: bool
) -> tuple[list[str], list[str]]:
    """Instructions in place of a call, and its stub. `load`: as `ask`; `direct`: the code is for a
    program, as `thread_local`."""
    access = run[index]
    text = thread_local(f"addq\t${len(run)}", "clock", direct) if index == 0 else []
    text += remember(access, direct)
    text += [*ask(access, number, load, direct), f".Limbrex_back{number}:"]
    return text, stub(access, number, len(run) - 1 - index, [])


def _leave_unless_marked(label: str) -> list[str]:
    """To the label, if this word of the line was never communicated. eax is the line's number."""
    return [
        "\tmovzbl\t(%r11,%rax), %eax",
        "\tmovl\t%edi, %ecx",
        f"\tshrl\t${_WORD_BITS}, %ecx",
        "\tandl\t$7, %ecx",
        "\tbtl\t%ecx, %eax",
        f"\tjnc\t{label}",
    ]

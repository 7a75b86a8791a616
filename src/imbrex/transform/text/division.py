"""The text of a divided loop nest, or of a divided call of a routine that is one nest."""

from __future__ import annotations

from dataclasses import dataclass

from imbrex.transform.analysis.space import Space
from imbrex.transform.model.affine import Affine, surely_less
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.model.statements import Block
from imbrex.transform.text.elementwise_text import sections_in_parts
from imbrex.transform.text.labels import Used, relabelled
from imbrex.transform.text.layout import indent_at, line_start
from imbrex.transform.text.loop_headers import Header, read_header, whole_statement, with_headers
from imbrex.transform.text.parted import Parted
from imbrex.transform.text.terms import shifted
from imbrex.transform.text.wrapping import wrapped

_LONG = 120  # columns: lines up to there may be indented further
_NEST = -1  # in the place of a loop's number: all of the nest
Cuts = dict[int, tuple[int, int]]
"""Of the loops that are divided, by number: iterations cut off at the low and the high end."""


@dataclass(slots=True)
class Division:
    """A space, the iterations cut off as its boundary, and the block that it stands in."""

    space: Space
    cuts: Cuts
    block: Block
    at: int  # the interior of a consumer goes in front of this statement of the block
    produces: bool
    until: int = -1  # the interior of a producer goes behind this one
    # Of Fortran: conditions all of which must hold for the space to have an interior.
    asked: tuple[str, ...] = ()


def halves(
    program: Program,
    user: Routine,
    division: Division,
    nonnegative: frozenset[Affine],
    parted: Parted,
) -> tuple[str, str]:
    """The interior and the boundary. `nonnegative`: expressions known not to be below 0.

    `parted` takes the routines that must be written for them, where no arguments can say it.
    """
    source, space = program.files[user.file], division.space
    used: Used = set()  # labels and names of Fortran in what is written
    if space.callee is not None and not by_arguments(space, division.cuts):
        assert space.loops_in is not None
        headers, texts = _headers(program.files[space.loops_in.file], division, used)
        parts = parted.calls(user, space, headers, texts, 0 if division.produces else 1)
        return _where_asked(source, division, *parts)
    if space.call is not None:
        return _where_asked(source, division, *_of_call(source, division, nonnegative))
    headers, texts = _headers(source, division, used)
    span = line_start(source.data, space.statement.start), space.statement.end
    interior, boundary = (with_headers(source, span, headers, changed) for changed in texts)
    if source.is_fortran:
        interior = relabelled(source, interior, used) or interior
    return interior, boundary


def _where_asked(
    source: SourceFile, division: Division, interior: str, boundary: str
) -> tuple[str, str]:
    """The parts where the conditions hold; where one does not, all of the call behind the wait."""
    if not division.asked:
        return interior, boundary
    statement = division.space.statement
    indent = indent_at(source.data, statement.code_start)
    first = f"{indent}if ({' .and. '.join(division.asked)}) then"
    first = wrapped(source.language, first, len(indent), indent)
    whole = f"{indent}{source.data[statement.code_start : statement.end].decode()}"
    texts = (interior, boundary, whole)
    room = max(len(line) for text in texts for line in text.split("\n")) < _LONG
    inner, outer, other = (text.replace("\n", "\n  ") if room else text for text in texts)
    more = "  " if room else ""
    last = f"{indent}end if"
    return (
        f"{first}\n{more}{inner}\n{last}",
        f"{first}\n{more}{outer}\n{indent}else\n{more}{other}\n{last}",
    )


def _headers(
    source: SourceFile, division: Division, used: Used
) -> tuple[dict[int, Header], tuple[dict[int, str], dict[int, str]]]:
    """The headers of the loops that are divided, and how they read in either part."""
    space, cuts = division.space, division.cuts
    headers: dict[int, Header] = {}
    if space.elements:
        first, statement = min(cuts), space.loops[0]
        texts = sections_of(source, space, cuts)
        assert texts is not None
        headers[first] = whole_statement(statement)
        return headers, ({first: texts[0]}, {first: texts[1]})
    for number in cuts:
        header = read_header(source, space.loops[number], named=True, ahead=True)
        assert header is not None
        headers[number] = header
    interior = {n: headers[n].inner(cut) for n, cut in cuts.items()}
    if several_layers(cuts):
        texts_of_strips = _strips(source, space, headers, cuts, used)
        return {**headers, _NEST: whole_statement(space.loops[0])}, (
            interior,
            {_NEST: texts_of_strips},
        )
    *outer, last = sorted(cuts)
    always = [text for n in outer for text in headers[n].outside(cuts[n])]
    return headers, (interior, {last: headers[last].ends(cuts[last], always)})


def sections_of(source: SourceFile, space: Space, cuts: Cuts) -> tuple[str, str] | None:
    """An assignment to a section in two parts; None where no text for these is found."""
    numbers = {space.elements[number]: cut for number, cut in cuts.items()}
    return sections_in_parts(source, space.loops[0], numbers)


def is_readable(source: SourceFile, space: Space, cuts: Cuts) -> bool:
    """Whether the text of what is divided is one that can be written in parts."""
    if space.elements:
        return sections_of(source, space, cuts) is not None
    headers = [read_header(source, space.loops[n], named=True, ahead=True) for n in cuts]
    return all(header is not None for header in headers)


def _strips(
    source: SourceFile,
    space: Space,
    headers: dict[int, Header],
    cuts: Cuts,
    used: Used,
) -> str:
    """The boundary as a nest for each end that is cut off, of the loops from the outermost.

    What stands in front of the first, a directive, stands in front of the others too. `used`: takes
    the labels of Fortran that these have.
    """
    nest = space.loops[0]
    span = nest.code_start, nest.end
    lead = source.data[nest.start : nest.code_start].decode().lstrip(" \t")
    found: list[str] = []
    inside: dict[int, str] = {}
    for number in sorted(cuts):
        for strip in headers[number].strips(cuts[number]):
            text = with_headers(source, span, headers, {**inside, number: strip})
            if found and source.is_fortran:
                text = relabelled(source, text, used) or text
            found.append(text)
        inside[number] = headers[number].inner(cuts[number])
    return f"\n{indent_at(source.data, nest.start)}{lead}".join(found)


def several_layers(cuts: Cuts) -> bool:
    """Whether more than one iteration is cut off at an end."""
    return any(max(cut) > 1 for cut in cuts.values())


def by_arguments(space: Space, cuts: Cuts) -> bool:
    """Whether calls with other arguments are the parts of a call."""
    return space.given(cuts) and not several_layers(cuts)


def _of_call(
    source: SourceFile, division: Division, nonnegative: frozenset[Affine]
) -> tuple[str, str]:
    space, cuts = division.space, division.cuts
    assert space.call is not None and space.bounds is not None
    on = space.call.on  # the object, which is in front of the name
    if space.callee is not None and space.callee.on_object:
        on = 0
    given = [n for n in range(len(space.call.arguments)) if n != on]
    whole = [argument.text.strip() for argument in space.call.arguments]
    inner = list(whole)
    for number, (before, behind) in cuts.items():
        first, last = space.bounds[number]
        inner[first], inner[last] = shifted(whole[first], before), shifted(whole[last], -behind)
    strips = []
    current = list(whole)
    for number, cut in sorted(cuts.items()):
        first, last = space.bounds[number]
        span = space.ranges[number]
        low, high = whole[first], whole[last]
        for side, wanted in enumerate(cut):
            if not wanted:
                continue
            strip = list(current)
            strip[first] = strip[last] = high if side else low
            # One iteration serves both ends; without any, neither is there.
            least = span.low.plus(Affine(1)) if side and cut[0] else span.low
            sure = surely_less(least, span.high.plus(Affine(1)), nonnegative)
            compare = ">" if side and cut[0] else ">="
            strips.append((strip, None if sure else (high, compare, low)))
        current[first], current[last] = inner[first], inner[last]
    indent = indent_at(source.data, space.statement.code_start)
    name = source.data[space.call.start : space.call.arguments[given[0]].start].decode()
    lines = [_call(source, name, [s[n] for n in given], guard, indent) for s, guard in strips]
    return _call(source, name, [inner[n] for n in given], None, indent), "\n".join(lines)


def _call(
    source: SourceFile,
    name: str,
    arguments: list[str],
    guard: tuple[str, str, str] | None,
    indent: str,
) -> str:
    call = name + ", ".join(arguments) + ")"
    if source.language is Language.C:
        inner = indent + "    " if guard else indent
        text = inner + wrapped(source.language, call + ";", len(inner), inner)
        return f"{indent}if ({' '.join(guard)})\n{text}" if guard else text
    if guard:
        high, compare, low = guard
        call = f"if ({high} {'.gt.' if compare == '>' else '.ge.'} {low}) {call}"
    return indent + wrapped(source.language, call, len(indent), indent)

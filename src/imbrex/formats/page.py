"""The fields of a format as a Markdown table, for its reference page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from imbrex.formats.arrays import TableFormat
from imbrex.formats.schema import REQUIRED, Field
from imbrex.formats.toml import TIME_UNITS, Keys, Quantity
from imbrex.formats.value_types import Kind, ListOf, MapOf, Object

_HEAD = ("type", "unit", "range", "meaning")


def keys_page(table: Keys) -> str:
    """The keys of one kind of table of a TOML file; `_T` stands for any unit of time."""
    rows = []
    for key in table.keys:
        names, unit = f"`{key.name}`", ""
        if isinstance(key.kind, Quantity) and key.kind.units is TIME_UNITS:
            names, unit = f"`{key.name}_T`", "T"
        elif isinstance(key.kind, Quantity):
            names = ", ".join(f"`{key.name}_{unit}`" for unit in key.kind.units)
        meaning = f"{key.meaning} ({key.default})" if key.default else key.meaning
        rows.append([names, key.kind.name, unit, key.kind.range, meaning.strip()])
    return _markdown(iter(rows), "key")


def columns_page(table: TableFormat) -> str:
    """The columns of a `.npy` file."""
    return _markdown([f"`{c.name}`", c.type, c.unit, c.range, c.meaning] for c in table.columns)


def fields_page(content: Object) -> str:
    """The fields of a JSON file, those of objects within as `outer.inner` and `outer[].inner`."""
    return _markdown(_rows(content.fields, ""))


def _rows(fields: Sequence[Field], before: str) -> Iterator[list[str]]:
    for field in fields:
        place = f"{before}{field.name}"
        kind, meaning = field.kind, field.meaning
        inner, step = _inside(kind)
        if inner is not None and inner.listed_in:
            meaning = f"{meaning}; fields as in {inner.listed_in}"
        if field.null:
            meaning = f"{meaning}; or null" if meaning else "or null"
        if field.default is not REQUIRED:
            meaning = f"{meaning} (may be absent)"
        yield [f"`{place}`", kind.name, field.unit, kind.range, meaning]
        if inner is not None and not inner.listed_in:
            yield from _rows(inner.fields, f"{place}{step}.")


def _inside(kind: Kind) -> tuple[Object | None, str]:
    """The object within lists and objects of a kind, and how its fields are reached."""
    step = ""
    while not isinstance(kind, Object):
        if isinstance(kind, ListOf):
            kind, step = kind.item, f"{step}[]"
        elif isinstance(kind, MapOf):
            kind, step = kind.item, f"{step}.*"
        else:
            return None, ""
    return kind, step


def _markdown(rows: Iterator[list[str]], first: str = "field") -> str:
    lines = [f"| {' | '.join((first, *_HEAD))} |", "|---|---|---|---|---|"]
    lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"

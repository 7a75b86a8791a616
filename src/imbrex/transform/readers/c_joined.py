"""What single files of C say, put together to one program."""

from __future__ import annotations

from imbrex.transform.model.program import Program
from imbrex.transform.readers.c_headers import join_headers
from imbrex.transform.readers.c_same import read_again


def join(program: Program, part: Program) -> None:
    """Enter what one file says into `program`, which takes its parts over.

    Of variables and functions that several files know the first file's count.
    """
    program.files |= part.files
    join_headers(program, part.headers)
    for name, routine in part.routines.items():
        known = program.routines.get(name)
        if known is not None:
            read_again(known, routine)
        else:
            program.routines[name] = routine
    for key, variable in part.variables.items():
        program.variables.setdefault(key, variable)
    for place, call in part.not_analysed.items():
        seen = program.not_analysed.get(place)
        if seen is None or seen.idle:  # an instance runs it
            program.not_analysed[place] = call
    _join_sets(program, part)
    _join_lists(program, part)
    _join_values(program, part)


def _join_sets(program: Program, part: Program) -> None:
    program.inner_addresses |= part.inner_addresses
    program.record_facts |= part.record_facts
    program.numbers |= part.numbers
    program.resized_vectors |= part.resized_vectors
    program.request_vectors |= part.request_vectors
    program.copied_records |= part.copied_records
    program.exchanged_records |= part.exchanged_records
    program.to_rows |= part.to_rows
    for found, more in (
        (program.named_by, part.named_by),
        (program.request_lists, part.request_lists),
    ):
        for key, names in more.items():
            found.setdefault(key, set()).update(names)
    for key, offsets in part.known_from.items():
        program.known_from.setdefault(key, set()).update(offsets)
    for place, instances in part.instances.items():
        program.instances[place] |= instances


def _join_lists(program: Program, part: Program) -> None:
    program.pointer_facts += part.pointer_facts
    program.called_cells += part.called_cells
    program.passed_vectors += part.passed_vectors
    program.exchanged_vectors += part.exchanged_vectors
    program.row_stores += part.row_stores
    program.rows_set += part.rows_set
    program.stray_wildcards += part.stray_wildcards
    program.null_ranks += part.null_ranks


def _join_values(program: Program, part: Program) -> None:
    program.named_objects |= part.named_objects
    program.definitions |= part.definitions
    program.residues |= part.residues
    program.built |= part.built
    program.made |= part.made
    program.member_objects |= part.member_objects
    program.null_writes += part.null_writes
    program.has_main |= part.has_main
    program.unread_code |= part.unread_code
    program.throws |= part.throws

"""A program with what is known of it, found in the order in which one thing needs another."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from imbrex.transform.analysis.aliases import Aliases
from imbrex.transform.analysis.allocators import tell_allocations_apart
from imbrex.transform.analysis.assigned import pass_assigned
from imbrex.transform.analysis.built import name_built
from imbrex.transform.analysis.called_targets import name_targets
from imbrex.transform.analysis.caught import caught
from imbrex.transform.analysis.constants import name_constants, nonnegative
from imbrex.transform.analysis.contiguous import find_contiguous
from imbrex.transform.analysis.datatype_values import name_datatypes
from imbrex.transform.analysis.datatypes import find_layouts
from imbrex.transform.analysis.declared_lengths import settle_lengths
from imbrex.transform.analysis.derived import main_derived, name_derived
from imbrex.transform.analysis.distinct import between_objects, find_distinct, find_owned
from imbrex.transform.analysis.element_indices import name_indices
from imbrex.transform.analysis.embedded import name_embedded
from imbrex.transform.analysis.equal_objects import name_equal
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.found_once import FoundOnce
from imbrex.transform.analysis.given_extents import find_extents
from imbrex.transform.analysis.given_values import note_given
from imbrex.transform.analysis.index_scalars import tell_indices
from imbrex.transform.analysis.kept_arguments import name_kept
from imbrex.transform.analysis.kept_shapes import keep_shapes
from imbrex.transform.analysis.known import note_known
from imbrex.transform.analysis.library import Libraries
from imbrex.transform.analysis.line_rooms import note_rooms
from imbrex.transform.analysis.linear import split_linear
from imbrex.transform.analysis.message_extent import mark_extents
from imbrex.transform.analysis.message_places import note_places
from imbrex.transform.analysis.named_elements import name_elements
from imbrex.transform.analysis.persistent import persistent_of
from imbrex.transform.analysis.references import find_references
from imbrex.transform.analysis.restricted import find_restricted
from imbrex.transform.analysis.returned_datatypes import name_returned
from imbrex.transform.analysis.row_pointers import find_row_lengths
from imbrex.transform.analysis.set_from import find_set_from
from imbrex.transform.analysis.slots import find_slotted
from imbrex.transform.analysis.success import gives_codes, other_codes
from imbrex.transform.analysis.swap_functions import read_exchanges
from imbrex.transform.analysis.whole_program import unseen_code
from imbrex.transform.known_libraries import known_functions, libraries_of
from imbrex.transform.model.program import Program
from imbrex.transform.options import Options
from imbrex.transform.reading import read_program


class Analysis:
    """A program as read, and what is known of it."""

    def __init__(self, paths: list[Path], options: Options) -> None:
        self._read(paths, options)
        while (corrected := self._corrected(options)) is not None:
            options = corrected
            self._read(paths, options)
        with self.program.keeping_statements():
            self._find_out(self.program, self.libraries)

    def _find_out(self, program: Program, libraries: Libraries) -> None:
        self.known = known_functions(program, libraries)
        tell_allocations_apart(program, self.known)
        aliases = Aliases(program, self.known)
        aliases.outside = libraries.c.no_mpi
        name_targets(program, aliases)
        find_contiguous(program)
        name_datatypes(program)
        name_returned(program)
        mark_extents(program, aliases)
        name_indices(program)
        aliases.slotted = find_slotted(program, aliases)
        named = name_elements(program, aliases)
        aliases.distinct = find_distinct(program, aliases, named)
        aliases.distinct |= find_references(program, aliases) | find_restricted(program)
        aliases.distinct |= find_set_from(program, aliases.distinct)
        aliases.owned = find_owned(program, aliases)
        aliases.exchanged = set(between_objects(program))
        footprints = partial(Footprints, program, aliases, libraries, FoundOnce(program, libraries))
        settle_lengths(program, footprints())
        name_kept(program, footprints())
        name_constants(program, footprints())
        name_derived(program, footprints())
        name_equal(program, footprints())
        name_built(program, footprints())
        name_embedded(program, footprints())
        pass_assigned(program, footprints())
        tell_indices(program, footprints())
        program.shapes = keep_shapes(program, footprints)
        note_given(program, main_derived(program, footprints()))
        program.given_extents = find_extents(program, footprints())
        program.layouts = find_layouts(program, footprints())
        split_linear(program)
        named_all = footprints()  # what conditions and messages say changes no variable
        note_known(program, named_all)
        note_places(program, named_all)
        note_rooms(program, footprints())
        self.footprints = footprints()
        self.footprints.starting = persistent_of(self.footprints).effect
        self.footprints.nonnegative = nonnegative(program, self.footprints)

    def _read(self, paths: list[Path], options: Options) -> None:
        self.program = read_program(paths, options)
        read_exchanges(self.program)
        self.libraries = libraries_of(self.program)

    def _corrected(self, options: Options) -> Options | None:
        """How to read it anew, where it was read by what does not hold of it."""
        program = self.program
        unseen = unseen_code(program, self.libraries)
        checks = any(source.checked or source.code_checks for source in program.files.values())
        if options.checks and checks and gives_codes(program, unseen):
            return replace(options, checks=False)  # the macros that check codes as they are
        codes = other_codes(program, unseen)
        if codes:
            return replace(options, not_codes=options.not_codes | codes)
        if options.aborts and program.throws and caught(program, unseen):
            return replace(options, aborts=False)
        if options.row_lengths is None and program.row_stores:
            known = known_functions(program, self.libraries)
            return replace(options, row_lengths=find_row_lengths(program, known, self.libraries))
        return None

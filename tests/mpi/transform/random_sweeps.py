"""Sweeps over every second cell of a plate, which is one of the arrays, row by row.

Most read the cells of the other colour alone, so that their iterations may change places; some
reach for cells of their own colour, or have colours that do not alternate from row to row.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

ROWS = 48  # that are swept; one more at either end
_WIDTHS = [60, 59]  # of 3,000 elements


@dataclass(frozen=True)
class Sweep:
    """The lines of a nest of two loops, outermost first: headers and the statement inside."""

    c: list[str]
    fortran: list[str]
    width: int

    def rows(self, array: str) -> list[tuple[str, str]]:
        """Calls that exchange the rows at both ends with the other process."""
        calls = []
        for tag, (sent, received) in enumerate(((ROWS, 0), (1, ROWS + 1)), 7):
            ours = f"&{array}[{sent * self.width}], {self.width}, MPI_DOUBLE, peer, {tag}"
            theirs = f"&{array}[{received * self.width}], {self.width}, MPI_DOUBLE, peer, {tag}"
            c = f"MPI_Sendrecv({ours}, {theirs}, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
            parts = [
                f"{array}({row * self.width + 1}), {self.width}, MPI_DOUBLE_PRECISION, peer, {tag}"
                for row in (sent, received)
            ]
            end = "MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)"
            calls.append((c, f"call MPI_SENDRECV({parts[0]}, {parts[1]}, {end}"))
        return calls


def sweep(choice: random.Random, array: str) -> Sweep:
    """A sweep over one array, in both languages."""
    width = choice.choice(_WIDTHS)
    color = choice.choice([0, 1])
    reach = choice.choice([1, 1, 1, 1, 2, 3])  # 2: a cell of the same colour
    slant = choice.choice([0, 0, 0, 0, 1])  # of the cell above: 1: of the same colour
    of_row = choice.choice([True, True, True, False])  # else columns instead of colours
    last = width - 1 - reach
    row, row_f = (f"row + {color}", f"j + {color}") if of_row else (f"{color}", f"{color}")
    even, even_f = (f"row + cell + {color}", f"j + i + {color}")
    if not of_row:
        even, even_f = f"cell + {color}", f"i + {color}"
    at = f"row * {width} + cell"
    body = (
        f"{array}[{at}] = 0.25 * {array}[{at}] + 0.1875 * ({array}[{at} - {width + slant}] + "
        f"{array}[{at} + {width}]) + 0.125 * ({array}[{at} - 1] + {array}[{at} + {reach}]);"
    )
    at = f"j * {width} + i"
    cells = [f"{array}({at} + {1 + by})" for by in (0, -width - slant, width, -1, reach)]
    mine, above, below, before, behind = (cell.replace("+ -", "- ") for cell in cells)
    body_f = (
        f"{mine} = max(0.5d0 * {mine}, 0.375d0 * ({above} + {below}), "
        f"0.25d0 * ({before} + {behind}))"
    )
    outer = f"for (int row = 1; row <= {ROWS}; row++)"
    outer_f = f"do j = 1, {ROWS}"
    if choice.random() < 0.5:
        inner = f"for (int cell = 1 + ({row}) % 2; cell <= {last}; cell += 2)"
        inner_f = f"do i = 1 + mod({row_f}, 2), {last}, 2"
        return Sweep([outer, inner, body], [outer_f, inner_f, body_f, "end do", "end do"], width)
    inner, inner_f = f"for (int cell = 1; cell <= {last}; cell++)", f"do i = 1, {last}"
    asked, asked_f = f"if (({even}) % 2 == 0)", f"if (mod({even_f}, 2) .eq. 0) then"
    return Sweep(
        [outer, inner, asked, body],
        [outer_f, inner_f, asked_f, body_f, "end if", "end do", "end do"],
        width,
    )

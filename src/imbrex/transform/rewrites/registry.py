"""The rewrites: one line each."""

from __future__ import annotations

from typing import Any

from imbrex.transform.rewrites.base import Rewrite
from imbrex.transform.rewrites.blocking import BlockingToNonblocking
from imbrex.transform.rewrites.boundary import BoundaryFirst
from imbrex.transform.rewrites.collectives import CollectivesToNonblocking
from imbrex.transform.rewrites.decomposition import Decomposition
from imbrex.transform.rewrites.distribution import LoopDistribution
from imbrex.transform.rewrites.error_codes import ErrorCodes
from imbrex.transform.rewrites.hoisting import Hoisting
from imbrex.transform.rewrites.message_loops import StartedInLoops
from imbrex.transform.rewrites.motion import ExistingMotion
from imbrex.transform.rewrites.nested import NestedWrappers
from imbrex.transform.rewrites.pipelining import Pipelining
from imbrex.transform.rewrites.prefetching import Prefetching
from imbrex.transform.rewrites.private import PrivateBuffers
from imbrex.transform.rewrites.private_receives import PrivateReceives
from imbrex.transform.rewrites.progress import ProgressCalls
from imbrex.transform.rewrites.proposals import Preparing
from imbrex.transform.rewrites.rearrangement import Rearrangement
from imbrex.transform.rewrites.received import ReceivedBuffers
from imbrex.transform.rewrites.replaced import ReplacedBuffers
from imbrex.transform.rewrites.returned_values import ReturnedValues
from imbrex.transform.rewrites.returned_values_fortran import FortranReturnedValues
from imbrex.transform.rewrites.sent import SentCopies
from imbrex.transform.rewrites.sequences import WrapperSequences
from imbrex.transform.rewrites.side_by_side import SideBySide
from imbrex.transform.rewrites.sinking import Sinking
from imbrex.transform.rewrites.statement_motion import StatementMotion
from imbrex.transform.rewrites.unused_results import UnusedResults
from imbrex.transform.rewrites.versioning import Versioning
from imbrex.transform.rewrites.wrappers import Wrappers

COMMUNICATION: tuple[type[Rewrite[Any, Any, Any]], ...] = (
    BlockingToNonblocking,
    CollectivesToNonblocking,
    ExistingMotion,
    StatementMotion,
)
PREPARING: tuple[type[Preparing[Any, Any]], ...] = (
    ErrorCodes,
    PrivateBuffers,
    PrivateReceives,
    ReplacedBuffers,
    ReceivedBuffers,
    SentCopies,
    BoundaryFirst,
    LoopDistribution,
    Decomposition,
    Rearrangement,
    Versioning,
    NestedWrappers,
    WrapperSequences,
    Wrappers,
    SideBySide,
    Hoisting,
    Sinking,
    UnusedResults,
    ReturnedValues,
    FortranReturnedValues,
    Pipelining,
    Prefetching,
    StartedInLoops,
)
"""What makes room for communication to move, in the order in which it is tried."""

ALL: tuple[type[Rewrite[Any, Any, Any]], ...] = (*COMMUNICATION, *PREPARING, ProgressCalls)
REWRITES = tuple(dict.fromkeys(rewrite.name for rewrite in (*COMMUNICATION, *PREPARING)))
"""The names that `--rewrites` takes."""

"""What one tuning left behind, before anything is shown of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.issues import Issues
from tvmdbg_widgets.model.tuning.task import Task, Tuner
from tvmdbg_widgets.model.tuning.trials import Trials
from tvmdbg_widgets.sources.byte_source import ByteSource

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RefusedLine:
    """A line that is no record: which, where, and why (field, what was expected and found)."""

    source: int
    line: int
    offset: int
    why: str


@dataclass(frozen=True)
class ConsoleTask:
    """One row of a printed table of tasks; None where it says "-" or "N/A", or has no column."""

    id: int
    description: str
    latency_ms: float | None
    gflops: float | None
    trials: int | None
    flop: float | None = None
    weight: float | None = None


@dataclass(frozen=True)
class ConsoleTable:
    """The last table of captured output; AutoTVM's is made of its progress bars.

    Attributes
    ----------
    rows : tuple of ConsoleTask
    total_ms : float or None
        "Estimated total latency"; None where it says "-".
    trials : int or None
    used_s : float or None
    tuner : str
        Who printed it: ``"ansor"``, ``"autotvm"`` or ``"metaschedule"``.
    """

    rows: tuple[ConsoleTask, ...]
    total_ms: float | None = None
    trials: int | None = None
    used_s: float | None = None
    tuner: str = "ansor"


@dataclass(frozen=True, eq=False)
class LatencyCurve:
    """``total_latency.tsv``: R rounds (``LogEstimatedLatency``)."""

    elapsed_s: Floats
    latency_ms: Floats
    trials: Floats


@dataclass(frozen=True)
class ConsoleMessage:
    """What the verbose output of a tuning says of one measurement."""

    number: int
    row: int
    error: int
    message: str
    glyphs: str = ""


@dataclass(frozen=True)
class TuningParts:
    """Records of one tuning, and what else was found with them."""

    title: str
    tuner: Tuner | str
    tasks: tuple[Task, ...]
    trials: Trials
    sources: tuple[ByteSource, ...] = ()
    positions: tuple[tuple[int, int], ...] = ()
    beside: tuple[ByteSource, ...] = ()
    refused: tuple[RefusedLine, ...] = ()
    num_refused: int = 0
    undecoded: Mapping[str, int] = field(default_factory=dict)
    cut: bool = False
    dags: Mapping[str, str] = field(default_factory=dict)
    console: ConsoleTable | None = None
    latency: LatencyCurve | None = None
    messages: tuple[ConsoleMessage, ...] = ()
    glyphs: str = ""
    registered: tuple[str, ...] = ()
    issues: Issues = field(default_factory=Issues)

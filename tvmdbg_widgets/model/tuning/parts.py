"""What one tuning left behind, before anything is shown of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.issues import Issues

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tvmdbg_widgets.model.sources.byte_source import ByteSource
    from tvmdbg_widgets.model.tuning.task import Task, Tuner
    from tvmdbg_widgets.model.tuning.trials import Trials

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
    """``total_latency.tsv``: R rounds (``LogEstimatedLatency``).

    Attributes
    ----------
    elapsed_s, latency_ms, trials : float64 [R]
        The latency is NaN where the file says N/A.
    """

    elapsed_s: Floats
    latency_ms: Floats
    trials: Floats


@dataclass(frozen=True)
class ConsoleMessage:
    """What the verbose output of a tuning says of one measurement.

    Attributes
    ----------
    number : int
        ``No: 12``.
    row : int
        The trial it was joined to; -1 where none or several fit.
    error : int
    message : str
        ``error_msg``: the only place that has it.
    glyphs : str
        ``"*"``, ``".E"`` …, empty where the output has none for it.
    """

    number: int
    row: int
    error: int
    message: str
    glyphs: str = ""


@dataclass(frozen=True)
class TuningParts:
    """Records of one tuning, and what else was found with them.

    Attributes
    ----------
    title : str
    tuner : str
        Of the records; ``"mixed"`` where files of several were given as one.
    tasks : tuple of Task
    trials : Trials
    sources : tuple of ByteSource
        The files that rows come from.
    positions : tuple of (int, int)
        Of each of them, where the next line begins, bytes, and its number: what was read so far.
    beside : tuple of ByteSource
        The files that tables, curves, messages and DAGs come from.
    refused : tuple of RefusedLine
        The lines that could not be read; of more than 100,000 the first.
    num_refused : int
        All of them.
    undecoded : mapping of str to int
        Lines that are recognised and left alone, by what they are
        (``"AutoTVM pickle line for cuda"``).
    cut : bool
        Whether the last line ends too early, as where tuning was killed or still runs.
    dags : mapping of str to str
        DAG texts by workload key (``dump_workload_to_dag_log``), or by md5 for DAG text alone.
    console : ConsoleTable or None
    latency : LatencyCurve or None
    messages : tuple of ConsoleMessage
    glyphs : str
        All glyphs of the verbose output, in their order.
    registered : tuple of str
        Sources of Python modules with registered workloads; they are read, never run.
    issues : Issues
    """

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

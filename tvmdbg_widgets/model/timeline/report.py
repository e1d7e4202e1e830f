"""A profiling report: the calls of one pass as columns, and other output of the profiler."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import (
    Trust,
    agree,
    as_float,
    counted,
    duration_text,
    html_table,
    text_lines,
)
from tvmdbg_widgets.model.base.text import Issues, data_frame, one_line

_SHOWN = 20
_ARGUMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\[([0-9]{0,18}(?:, [0-9]{1,18})*)\](?:, |$)")


@dataclass(frozen=True, slots=True)
class Metric:
    """One value as the file has it.

    Attributes
    ----------
    kind : str
        The value key: ``microseconds``, ``percent``, ``count``, ``ratio``, ``string``; ``text``
        where the file does not say; other keys as is.
    value : object
        int, float or str; whatever the JSON held for an unknown kind.
    text : str
        The value as written.
    """

    kind: str
    value: Any
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Argument:
    """dtype and shape of one argument of a call, ``float32[1, 64]``."""

    dtype: str
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


def parse_arguments(text: str) -> tuple[Argument, ...] | None:
    """Read an ``Argument Shapes`` text; None if it is malformed."""
    arguments, position = [], 0
    while match := _ARGUMENT.match(text, position):
        sizes = match[2].split(", ") if match[2] else []
        arguments.append(Argument(match[1], tuple(int(size) for size in sizes)))
        position = match.end()
    ended = position == len(text) and not text.endswith(", ")
    return tuple(arguments) if ended else None


@dataclass(frozen=True, eq=False)
class Report:
    """One profiling report of C calls.

    Attributes
    ----------
    names : StringColumn[C]
        Names of the calls: function names in a report of the graph executor. Empty where the file
        cannot be read unambiguously.
    duration_ns, rounding_ns : float64[C]
        Time of the row (of all its calls together where ``count`` is above one), NaN unknown, and
        the largest error that the printed digits allow.
    count : int64[C]
        Calls in the row; 0 where the file does not tell.
    percent : float64[C]
        As written, never computed; NaN unknown.
    devices, argument_shapes, hashes : StringColumn[C]
        Empty where unknown. :meth:`arguments` reads the shapes.
    metrics : mapping of str to tuple of (Metric or None)
        Every other column, verbatim.
    device_metrics : mapping of str to mapping of str to Metric
        Totals by device.
    configuration : mapping of str to Metric
        Empty in TVM v0.8.
    form : str
        ``"json"``, ``"csv"``, ``"table"`` or ``"vm-table"``.
    in_call_order : bool
        Rows are in the order the calls ended. A sorted or aggregated table has lost it.
    truncated : bool
        Calls are missing: the file ends early or could not be read further.
    issues : Issues
    file : str
    also : tuple of str
        Other files that print the same report with fewer digits.
    nodes, trust : int32[C], uint8[C]
        Node ids of the rows (-1 unknown) and their trust, once joined to a graph.
    num_nodes : int
        Nodes of that graph, 0 before.
    """

    names: StringColumn
    duration_ns: npt.NDArray[np.float64]
    rounding_ns: npt.NDArray[np.float64]
    count: npt.NDArray[np.int64]
    percent: npt.NDArray[np.float64]
    devices: StringColumn
    argument_shapes: StringColumn
    hashes: StringColumn
    metrics: Mapping[str, tuple[Metric | None, ...]]
    device_metrics: Mapping[str, Mapping[str, Metric]]
    configuration: Mapping[str, Metric]
    form: str
    in_call_order: bool
    truncated: bool
    issues: Issues
    file: str
    also: tuple[str, ...] = ()
    nodes: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    trust: npt.NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    num_nodes: int = 0

    def __post_init__(self) -> None:
        if not len(self.nodes):
            object.__setattr__(self, "nodes", np.full(len(self), -1, np.int32))
            object.__setattr__(self, "trust", np.full(len(self), Trust.ABSENT, np.uint8))

    def __len__(self) -> int:
        return len(self.names)

    @property
    def aggregated(self) -> bool:
        """Whether a row stands for several calls, which cannot be put on single nodes."""
        return bool((self.count > 1).any())

    @property
    def executor(self) -> str:
        """``Graph`` or ``VM`` as the configuration says (v0.9 and later), else empty."""
        metric = self.configuration.get("Executor")
        return "" if metric is None else metric.text

    @property
    def total_ns(self) -> float:
        """Sum of the rows' durations, unknown ones left out; NaN if none is known.

        A report of a virtual machine counts the callees of a VM function twice.
        """
        known = self.duration_ns[np.isfinite(self.duration_ns)]
        return float(known.sum()) if len(known) else float("nan")

    @cached_property
    def device_ns(self) -> dict[str, float]:
        """Total time by device, measured by the profiler around all calls."""
        totals = {}
        for device, metrics in self.device_metrics.items():
            metric = metrics.get("Duration (us)")
            if metric is not None and isinstance(metric.value, int | float):
                totals[device] = as_float(metric.value) * 1e3
        return totals

    @cached_property
    def node_ns(self) -> npt.NDArray[np.float64]:
        """Time per node of the graph, float64[N]; NaN where no row is joined to it."""
        times = np.full(self.num_nodes, np.nan)
        rows = np.flatnonzero((self.nodes >= 0) & np.isfinite(self.duration_ns))
        times[self.nodes[rows]] = self.duration_ns[rows]
        return times

    def arguments(self, row: int) -> tuple[Argument, ...] | None:
        """Inputs then outputs of a call; None where the file has none or other text."""
        text = self.argument_shapes[row]
        return parse_arguments(text) if text else None

    def joined(
        self, nodes: npt.NDArray[np.int32], trust: npt.NDArray[np.uint8], num_nodes: int
    ) -> Report:
        """Return this report with its rows joined to nodes."""
        return replace(self, nodes=nodes, trust=trust, num_nodes=num_nodes)

    def to_dataframe(self) -> Any:
        """One row a call (``pandas.DataFrame``, times in ns); ImportError without pandas."""
        return data_frame(
            {
                "name": list(self.names),
                "duration_ns": self.duration_ns,
                "count": self.count,
                "percent": self.percent,
                "device": list(self.devices),
                "argument_shapes": list(self.argument_shapes),
                "hash": list(self.hashes),
                "node": self.nodes,
                "trust": [Trust(item).label for item in self.trust.tolist()],
                **{
                    name: [None if item is None else item.value for item in column]
                    for name, column in self.metrics.items()
                },
            }
        )

    def _headline(self) -> str:
        calls = counted(len(self), "call")
        if self.aggregated:
            calls = f"{counted(len(self), 'row')} of several calls{agree(len(self), '', ' each')}"
        devices = ", ".join(
            f"{one_line(name)} {duration_text(ns)} in all" for name, ns in self.device_ns.items()
        )
        cut = ", cut off" if self.truncated else ""
        issues = f"; {self.issues.summary()}" if len(self.issues) else ""
        return (
            f"Report: {calls}, {duration_text(self.total_ns)} together"
            f"{f' ({devices})' if devices else ''}{cut}; {self.form}, {one_line(self.file)}{issues}"
        )

    def _cells(self) -> list[list[str]]:
        rows = [["name", "time", "percent", "count", "device", "arguments", "node"]]
        for i in range(min(len(self), _SHOWN)):
            percent, count = float(self.percent[i]), int(self.count[i])
            rows.append(
                [
                    one_line(self.names[i]) or "?",
                    duration_text(float(self.duration_ns[i])),
                    "" if np.isnan(percent) else f"{percent:.2f} %",
                    str(count) if count else "",
                    one_line(self.devices[i]),
                    one_line(self.argument_shapes[i]),
                    "" if self.nodes[i] < 0 else f"{self.nodes[i]} ({Trust(self.trust[i]).label})",
                ]
            )
        return rows

    def _more(self) -> str:
        more = len(self) - _SHOWN
        return f"… and {counted(more, 'more row')}" if more > 0 else ""

    def __repr__(self) -> str:
        rows = self._cells()
        more = [self._more()] if self._more() else []
        return "\n  ".join([self._headline(), *text_lines(rows), *more])

    def _repr_html_(self) -> str:
        head, *rows = self._cells()
        more = filter(None, [self._more()])
        return html_table(head, rows, caption=self._headline(), below=more)

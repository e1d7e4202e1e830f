"""Options of all views: live, in figures and in TypeScript, with what a reader is told of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tvmdbg_widgets.answers.tensor import Redact
from tvmdbg_widgets.model.base.options import (
    FLAG,
    TEXT,
    Accepts,
    ViewOptions,
    anything,
    choice,
    either,
    fixed,
    interval,
    listed,
    number,
    option,
    options_of,
    text,
    whole,
)
from tvmdbg_widgets.model.findings import Findings
from tvmdbg_widgets.model.graph.node_columns import NodeColumn, checked_range, checked_template
from tvmdbg_widgets.model.tensors.layouts import Layout, checked_sizes

Span: TypeAlias = tuple[float, float]
#: Row, column, rows and columns of a region in a plane, in values.
Region: TypeAlias = tuple[int, int, int, int]

#: Integers up to which JavaScript's numbers are exact.
_EXACT = 2**53
_MOST_HEIGHT = 4000
_REGION = fixed(row=whole(0), col=whole(0), rows=whole(1), cols=whole(1))
#: Per second; logarithms of quotients stay finite.
_CEILING = number(1e-30, 1e30)
NODES = listed(whole())
ENTRY = "[node: number, output: number]"


def _height(default: int) -> Any:
    return option(whole(120, _MOST_HEIGHT), default, "CSS pixels.", drawn=False)


def auto_height(least: int = 240) -> Any:
    """Return a height option; ``"auto"`` is the height of the visible part of the notebook."""
    pixels = whole(least, _MOST_HEIGHT)
    about = (
        'CSS pixels; ``"auto"`` is the height of the part of the notebook that is seen, from 480 '
        "on."
    )
    accepts = Accepts("number", 'int or "auto"', pixels.check, ("auto",))
    return option(accepts, "auto", about, drawn=False)


def _layout(given: str) -> str:
    if given:
        Layout.parse(given)
    return given


def _node(given: Any) -> Any:
    return given if isinstance(given, str) else whole().check(given)


_SELECTED = option(NODES, [], live=False)


@dataclass(frozen=True, kw_only=True)
class GraphOptions(ViewOptions, view="graph"):
    """Options of a graph."""

    height: int | str = _height(420)
    color_by: str | NodeColumn | Any = option(
        anything("string", "str"),
        "kind",
        'What the colors show: ``"kind"`` (of operator), ``"time"``, ``"health"`` (of the values '
        'that a node computed, see ``DebugRun.health``), ``"dtype"``, ``"device"``, '
        '``"storage"``, ``"layout"``, ``"bytes"`` …; by time first where the run knows times. '
        "Data may be assigned, one value a node or entry, or a mapping of nodes to values. Called, "
        'it takes more: ``view.color_by(psnr, name="PSNR", unit="dB")``, '
        '``view.color_by("error", reference=other_run)``; see '
        ":class:`tvmdbg_widgets.widgets.graph.ColorName`.",
    )
    color_limits: Span | None = option(
        anything("[low: number, high: number]", "(float, float)", checked_range),
        None,
        "Between which values the colors lie, times in ns and sizes in bytes; None for all.",
    )
    label: str = option(
        text(checked_template),
        "",
        'Template of the labels, ``"{op} #{id}"``, or of two lines with a line break between '
        "them. Fields: op, id, name, func, kind, shape, dtype, time, share, device, storage, "
        "layout, bytes, and value, which is what the colors show. Empty for the usual ones.",
    )
    fold_parameters: bool = option(FLAG, True, "Draw parameters as a count on their consumer.")
    direction: str = option(choice("down", "right"), "down", '``"down"`` or ``"right"``.')
    focus: int | str | None = option(
        anything("number | string", "int, str", _node),
        None,
        "Node (id or name) that is in view first.",
    )
    hops: int | None = option(whole(0), None, "Show only nodes within so many edges of the focus.")
    search: str = option(
        TEXT,
        "",
        "Query; its matches are marked, see :meth:`tvmdbg_widgets.DebugRun.select`.",
    )
    grouped: bool = option(
        FLAG,
        True,
        "Draw closed groups of ``run.groups`` as one box each, and frames around what is in "
        "open ones.",
    )
    open_groups: Sequence[int] | None = option(
        NODES,
        None,
        "Ids of the groups that are open; None: all of a small graph, of a larger one as many as "
        "can be taken in at one look. See :meth:`expand`, :meth:`collapse`.",
    )
    wrapped: bool | None = option(
        FLAG,
        None,
        "A long graph in columns side by side; None: if only this makes it readable.",
        drawn=False,
    )
    group: int | None = option(whole(), None, "The selected group.", drawn=False)
    isolate: dict[str, Any] | None = option(
        anything("Isolation", "dict"),
        None,
        'Part that alone is shown: ``{"kind": "upstream", "nodes": [12], "hops": None}``; kinds '
        'are ``"upstream"`` and ``"downstream"`` of nodes, ``"around"`` them within ``hops`` '
        'edges, and every ``"path"`` between two. See :meth:`upstream`, :meth:`path`, '
        ":meth:`everything`.",
    )
    hidden: Sequence[str] = option(
        listed(TEXT), [], "Queries; the nodes they find are not drawn. See :meth:`hide`."
    )
    camera: Mapping[str, Any] | None = option(
        anything("CameraPlace", "dict"),
        None,
        'Where the view looks from: ``{"node", "dx", "dy", "scale"}``, px of the graph right of '
        "and below a node; None before it is moved.",
        drawn=False,
    )
    history: Mapping[str, Any] = option(
        anything("History", "dict"),
        {},
        "Looks to go back and forward to. See :meth:`back`.",
        drawn=False,
    )
    bookmarks: Mapping[str, Any] = option(
        anything("Readonly<Record<string, Bookmark>>", "dict"),
        {},
        "Looks by name. See :meth:`bookmark`, :meth:`go`.",
        drawn=False,
    )
    selected: Sequence[int] = _SELECTED
    whole: bool = option(FLAG, False, live=False)


@dataclass(frozen=True, kw_only=True)
class TensorLook(ViewOptions):
    """Options of a tensor that the debugger names like the inspector."""

    entry: tuple[int, int] | None = option(
        anything(ENTRY, "(int, int)"),
        None,
        "Shown first; otherwise the session's entry. Also set by a node's id or name, which is "
        "its first output.",
    )
    axes: tuple[int | None, int | None] | None = option(
        fixed(down=None, across=None),
        None,
        "Axes down and across; None leaves the choice to the view.",
    )
    index: Sequence[int] | None = option(listed(whole()), None, "Fixed index per axis.")
    color_scale: str = option(
        choice("auto", "linear", "log", "symlog"),
        "auto",
        '``"linear"``, ``"log"`` or ``"symlog"``; ``"auto"`` is linear unless that would give '
        "nearly all values the same color.",
    )
    color_map: str = option(
        choice("auto", "sequential", "diverging"),
        "auto",
        '``"auto"``, ``"sequential"`` or ``"diverging"``.',
    )
    color_range: str | Span = option(
        either(
            choice("auto", "tensor", "plane", "robust"),
            interval("values", names=("low", "high"), may_be_empty=True),
        ),
        "auto",
        'Between which values the colors lie: ``"auto"`` spans the tensor without the few far '
        'values that would set its range, if there are any; ``"tensor"`` and ``"plane"`` span all '
        'of either, ``"robust"`` the tensor\'s percentiles 1 to 99; or two numbers. Values beside '
        "it have colors of their own.",
    )
    data_layout: str | None = option(
        text(_layout),
        None,
        'The layout to unfold, as TVM spells it (``"NCHW8c"``); ``""`` for the axes as stored. '
        "None takes the one that the graph states, if it does. ``axes``, ``index`` and ``along`` "
        "speak of the logical axes.",
    )
    data_sizes: Mapping[str, int] | None = option(
        anything("Record<string, number>", "dict of str to int", checked_sizes),
        None,
        'Sizes of logical axes by letter that hide padding, ``{"C": 3}`` where 3 of the 8 '
        "channels of an NCHW8c are real. None takes those that are known with the layout, ``{}`` "
        "shows all padding.",
    )
    reading: str | None = option(
        TEXT,
        None,
        "One of ``tensor.readings``, where the bytes can be understood in several ways.",
    )
    along: int | None = option(
        whole(0),
        None,
        "The axis of ``show``. None, as one that cannot be gone along, leaves the choice to the "
        "view: the channels where they are known, else the longest.",
    )
    cells: str = option(
        choice("mean", "least", "largest", "extreme"),
        "mean",
        'Which number colors show of a cell that stands for several values: their ``"mean"``, '
        'the ``"least"``, the ``"largest"`` or the ``"extreme"``, which is farthest from zero.',
    )
    region: Region | None = option(
        _REGION,
        None,
        "Row, column, rows and columns of the plane that are visible; None for all of it.",
    )
    marked_region: Region | None = option(
        _REGION,
        None,
        "Row, column, rows and columns of the region that is marked; its statistics are shown.",
        drawn=False,
    )
    value_format: str = option(
        choice("number", "hex", "bits", "dequantized", dequantised="dequantized"),
        "number",
        'How single values are written: ``"number"``, ``"hex"``, ``"bits"`` or ``"dequantized"``.',
        drawn=False,
    )
    scale: float = option(
        number(), 1.0, "Of dequantized values: ``(value - zero_point) * scale``.", drawn=False
    )
    zero_point: int = option(
        whole(-_EXACT, _EXACT), 0, "Of dequantized values, as ``scale``.", drawn=False
    )

    def __post_init__(self) -> None:
        """Check every option, and that sizes name axes of the layout."""
        super().__post_init__()
        if self.data_sizes is not None:
            checked_sizes(self.data_sizes, self.data_layout)


_SHOWN = choice("heatmap", "channels", "line plot", picture="heatmap", profile="line plot")
_SHOWN_HELP = (
    '``"heatmap"`` of one plane, ``"channels"`` (one heatmap for each index of an axis) or '
    '``"line plot"`` of min, mean and max along an axis.'
)


@dataclass(frozen=True, kw_only=True)
class TensorOptions(TensorLook, view="tensor"):
    """Options of a tensor."""

    height: int | str = auto_height(120)
    show: str = option(_SHOWN, "heatmap", _SHOWN_HELP)


@dataclass(frozen=True, kw_only=True)
class TimelineOptions(ViewOptions, view="timeline"):
    """Options of a timeline."""

    height: int | str = _height(320)
    show: str = option(
        choice("both", "chart", "table"), "both", '``"chart"``, ``"table"`` or ``"both"``.'
    )
    chart: str = option(
        choice("time", "merged", "folded", "repeats", "roofline"),
        "time",
        'What the chart shows: ``"time"`` (tracks in time), ``"merged"`` (left-heavy, by path), '
        '``"folded"`` (all repeats on one axis), ``"repeats"`` (operators × repeats) or '
        '``"roofline"`` (work against time).',
    )
    table_by: str = option(
        choice(*("node", "kind", "part", "group", "module", "device", "name", "callers", "change")),
        "node",
        'What a row of the table sums up: ``"node"``, ``"kind"``, ``"part"``, ``"group"``, '
        '``"module"``, ``"device"``, ``"name"`` or ``"callers"``; of two runs first ``"change"``, '
        "the difference of each operator.",
    )
    slice_color: str = option(
        choice("auto", "kind", "block", "share", "change"),
        "auto",
        'Color of slices: by ``"kind"`` of operator, ``"block"`` around it, ``"share"`` '
        'of the time, or of two runs ``"change"``. ``"auto"``: of two runs the change; else the '
        "kind, unless one kind takes nine tenths of the time; then the block, else the share.",
    )
    critical: bool = option(FLAG, False, "Whether the critical path is marked.", drawn=False)
    peak_flops: float | None = option(_CEILING, None, "Hardware peak of the roofline, FLOP/s.")
    bandwidth: float | None = option(_CEILING, None, "Memory bandwidth of the roofline, byte/s.")
    sort: str = option(
        choice("time", "order"),
        "time",
        'Order of the table: ``"time"`` or ``"order"`` (of execution).',
    )
    time_range: Span | None = option(
        interval("nanoseconds"),
        None,
        "Visible nanoseconds; None is all of the timeline, or of a recorded run its executions.",
    )
    selected: Sequence[int] = _SELECTED


@dataclass(frozen=True, kw_only=True)
class MemoryOptions(ViewOptions, view="memory"):
    """Options of a memory plan."""

    height: int | str = _height(420)
    parameters: bool = option(FLAG, True, "Show what the parameters take below the workspace.")
    color_by: str = option(
        choice("kind", "size"), "kind", 'Entries by ``"kind"`` (of operator) or ``"size"``.'
    )
    step_range: Span | None = option(
        interval("steps"),
        None,
        "Steps in view: places in ``run.memory_plan().order``, the nodes that run in their order. "
        "None is all.",
    )
    selected: Sequence[int] = _SELECTED


PANELS = ("findings", "graph", "tensor", "timeline")


@dataclass(frozen=True, kw_only=True)
class DebuggerOptions(GraphOptions, TensorLook, TimelineOptions, view="debugger"):
    """Options of the linked views."""

    height: int | str = auto_height()
    layout_sizes: Sequence[float] = option(
        listed(number()),
        [0.5, 0.66],
        "Share of the width that the graph takes, and share of the height of the upper row.",
        drawn=False,
    )
    collapsed: Sequence[str] = option(
        listed(choice(*PANELS)),
        [],
        'Panels that are hidden: ``"findings"``, ``"graph"``, ``"tensor"``, ``"timeline"``. '
        "Where not given, the views whose part the run does not hold, as long as it holds any.",
    )
    findings_folded: bool = option(
        FLAG, False, "Whether the list of findings is folded to one line.", drawn=False
    )
    tensor_show: str = option(_SHOWN, "heatmap", "What a TensorInspector calls ``show``.")

    def of_view(self, kind: type[ViewOptions]) -> Any:
        """Return the options of one view."""
        given = {each.name: getattr(self, each.name) for each in options_of(kind)}
        if kind is TensorOptions:
            given["show"] = self.tensor_show
        return kind(**given)


@dataclass(frozen=True)
class Redaction:
    """Replacements in a figure that is saved for others."""

    redact: Redact = lambda _: ("", False)
    #: Findings as far as they may be shown.
    findings: Callable[[Findings], Findings] = lambda found: found
    selected: tuple[int, ...] = ()
    entry: tuple[int, int] | None = None

"""Columns that color the nodes or entries of a graph, and templates of labels."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.number_text import is_float, is_integer
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.slips import meant, one_of
from tvmdbg_widgets.model.base.text import paired
from tvmdbg_widgets.model.graph.graph import Graph

Of: TypeAlias = Literal["nodes", "entries"]
Scale: TypeAlias = Literal["linear", "log", "symlog", "diverging"]
Together: TypeAlias = Literal["largest", "sum", "mean", "ratio"]

SCALES: tuple[str, ...] = get_args(Scale)
TOGETHERS: tuple[str, ...] = tuple(each for each in get_args(Together) if each != "ratio")
_MOST_NAME = 60
_MOST_CLASS = 120


@dataclass(frozen=True, eq=False)
class NodeColumn:
    """Numbers or classes of the nodes (N) or entries (E) of a graph. Arrays are read-only.

    Attributes
    ----------
    name : str
    of : str
        ``"nodes"`` or ``"entries"``.
    values : float64 [N] or [E], or None
        NaN is unknown. None where there are classes.
    codes : int32 [N] or [E], or None
        Row ``i`` is of ``classes[codes[i]]``; -1 is unknown.
    classes : tuple of str
        The most frequent first, or ``ordered``.
    unit : str
        Of the values; ``"ns"`` and ``"B"`` are written in the units that suit their size;
        values in ``"×"`` are binary logarithms of ratios of times, ``"4.9× faster"``.
    scale : str
        ``"linear"``, ``"log"``, ``"symlog"``, or ``"diverging"``: linear, and even around zero.
    range : (float, float) or None
        Values at the ends of the colors; None for the extremes.
    together : str
        Aggregate of several nodes in one box, or outputs of one node: the value of the
        ``"largest"`` magnitude, the ``"sum"``, the ``"mean"``, or the ``"ratio"`` of two sums.
    terms : (float64 [N], float64 [N]), or None
        Divisor and dividend of a ratio by node; NaN where either is unknown.
    ordered : bool
        The classes are in an order of their own, and have colors by that.
    hatched : int
        The class that is hatched, too; -1 for none.
    note : str
        Why some values are unknown, or empty.
    """

    name: str
    of: Of
    values: npt.NDArray[np.float64] | None = None
    codes: npt.NDArray[np.int32] | None = None
    classes: tuple[str, ...] = ()
    unit: str = ""
    scale: Scale = "linear"
    range: tuple[float, float] | None = None
    together: Together = "largest"
    ordered: bool = False
    hatched: int = -1
    note: str = ""
    terms: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None = None

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        for array in (self.values, self.codes):
            if array is not None:
                array.flags.writeable = False

    @property
    def rows(self) -> npt.NDArray[Any]:
        """Values or codes."""
        rows = self.values if self.values is not None else self.codes
        return np.zeros(0) if rows is None else rows


def fitting(column: NodeColumn, graph: Graph) -> NodeColumn:
    """Return a column that has a row for every node or entry of a graph."""
    count = graph.num_nodes if column.of == "nodes" else graph.num_entries
    if len(column.rows) != count:
        raise ValueError(
            f"{column.name!r} has {counted(len(column.rows), 'row')} for {count:,} {column.of} of "
            "this graph"
        )
    return column


def node_column(
    graph: Graph,
    data: Any,
    *,
    name: str = "values",
    unit: str = "",
    scale: str = "linear",
    range: tuple[float, float] | None = None,  # noqa: A002 (what the views call it)
    together: str = "largest",
) -> NodeColumn:
    """Return your own data as a column.

    Parameters
    ----------
    graph : Graph
    data : array_like or mapping
        One number, text or None for each node, or for each entry where there are more entries
        than nodes; or a mapping of node ids, node names or entries ``(node, output)`` to such.
        A name stands for all nodes of that name. NaN, None, what is masked or NA, and what a
        mapping leaves out are unknown; texts and bools are classes. A pandas Series whose index
        is not 0, 1, 2 … is a mapping of its index.
    name, unit : str
        For the legend.
    scale, range, together
        As of :class:`NodeColumn`.

    Raises
    ------
    TypeError
        Neither numbers nor texts, or a mapping of both.
    ValueError
        A length that fits neither nodes nor entries, or a scale, range or name that is none.
    KeyError, IndexError
        The mapping has a node that the graph has not; the message names close ones.
    """
    for what, text, most in (("name", name, _MOST_NAME), ("unit", unit, _MOST_NAME)):
        least = 1 if what == "name" else 0
        if not isinstance(text, str):
            raise TypeError(f"{what} is a text, found {text!r:.80}")
        if not least <= len(text.strip()) <= most:
            raise ValueError(f"{what} is a text of {least} to {most} letters, found {text!r:.80}")
    one_of("scale", scale, SCALES)
    one_of("together", together, TOGETHERS)
    of, rows = _of_mapping(graph, data) if isinstance(data, Mapping) else _of_rows(graph, data)
    values, codes, classes = _values_or_codes(rows)
    return NodeColumn(
        paired(name),
        of,
        values,
        codes,
        classes,
        paired(unit),
        cast("Scale", scale),
        checked_range(range),
        cast("Together", together),
    )


def checked_range(range_: Any) -> tuple[float, float] | None:
    """Return a range of colors as two floats."""
    if range_ is None:
        return None
    try:
        low, high = (float(end) for end in range_)
    except (TypeError, ValueError):
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"a range of colors is (low, high), both finite, found {range_!r:.80}")
    return low, high


def classed(name: str, of: Of, texts: list[str | None], **more: Any) -> NodeColumn:
    """Return a column of classes, the most frequent first; None is unknown."""
    counts = Counter(text for text in texts if text is not None)
    classes = tuple(sorted(counts, key=lambda text: -counts[text]))
    code = {text: row for row, text in enumerate(classes)}
    codes = np.array([-1 if text is None else code[text] for text in texts], np.int32)
    return NodeColumn(name, of, codes=codes, classes=classes, **more)


def _of_mapping(graph: Graph, data: Mapping[Any, Any]) -> tuple[Of, list[Any]]:
    entries = any(isinstance(key, tuple) for key in data)
    rows: list[Any] = [None] * (graph.num_entries if entries else graph.num_nodes)
    for key, value in data.items():
        if isinstance(key, tuple):
            if len(key) != 2 or not all(isinstance(part, int | np.integer) for part in key):
                raise TypeError(f"an entry is (node id, output), found {key!r:.80}")
            rows[graph.entry_id(int(key[0]), int(key[1]))] = value
            continue
        for node in _nodes(graph, key):
            for at in graph.entry_range(node) if entries else (node,):
                rows[at] = value
    return ("entries" if entries else "nodes"), rows


def _nodes(graph: Graph, key: object) -> list[int]:
    if isinstance(key, str):
        ids = [node.id for node in graph.nodes_named(key)]
        return ids or [graph.node(key).id]
    if isinstance(key, int | np.integer) and not isinstance(key, bool):
        graph.entry_range(int(key))
        return [int(key)]
    raise TypeError(f"keys are node ids, node names or (node, output), found {key!r:.80}")


def _of_rows(graph: Graph, data: Any) -> tuple[Of, Any]:
    if isinstance(data, str | bytes) or not hasattr(data, "__len__"):
        raise TypeError(
            "colors come from the name of a column, from one value a node or entry, or from a "
            f"mapping of nodes to values, not from {type(data).__name__}"
        )
    rows = data if isinstance(data, list | tuple) else np.asanyarray(data)
    if isinstance(rows, np.ndarray) and rows.ndim != 1:
        raise ValueError(f"one value a node or entry has one axis, found shape {rows.shape}")
    if hasattr(data, "isna") and hasattr(data, "index"):
        rows = [None if gone else value for value, gone in zip(data, data.isna(), strict=True)]
        if list(data.index) != list(range(len(rows))):
            if not data.index.is_unique:
                raise ValueError("the index of the values names a node twice")
            return _of_mapping(graph, dict(zip(data.index, rows, strict=True)))
    elif isinstance(rows, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(rows).tolist()
        rows = [None if gone else row for row, gone in zip(rows.data, masked, strict=True)]
    for of, count in (("nodes", graph.num_nodes), ("entries", graph.num_entries)):
        if len(rows) == count:
            return cast("Of", of), rows
    raise ValueError(
        f"found {counted(len(rows), 'value')} for a graph of {counted(graph.num_nodes, 'node')} "
        f"and {counted(graph.num_entries, 'entry')}; a mapping may leave some out: {{node: value}}"
    )


def _values_or_codes(
    rows: Any,
) -> tuple[npt.NDArray[np.float64] | None, npt.NDArray[np.int32] | None, tuple[str, ...]]:
    if isinstance(rows, np.ndarray) and (is_float(rows.dtype) or is_integer(rows.dtype)):
        with np.errstate(invalid="ignore"):
            return np.array(rows, np.float64), None, ()
    kind = rows.dtype.kind if isinstance(rows, np.ndarray) else "O"
    if kind not in "bOUT":
        raise TypeError(f"colors come from numbers or texts, not from {rows.dtype}")
    items = rows.tolist() if isinstance(rows, np.ndarray) else rows
    plain = [None if _is_missing(value) else value for value in items]
    if any(isinstance(value, str | bool | np.bool_) for value in plain):
        column = classed("", "nodes", [None if value is None else _text(value) for value in plain])
        return None, column.codes, _shortened(column.classes)
    return np.array([_number(value) for value in plain]), None, ()


def _is_missing(value: Any) -> bool:
    return (
        value is None
        or value is np.ma.masked
        or (isinstance(value, float | np.floating) and math.isnan(value))
    )


def _text(value: object) -> str:
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if not isinstance(value, str):
        raise TypeError(f"classes are texts, and one of them is {value!r:.80}")
    return paired(value)


def _shortened(classes: tuple[str, ...]) -> tuple[str, ...]:
    """Cut long texts; number those that then look the same."""
    rows: dict[str, int] = {}
    for row, text in enumerate(classes):
        short = text if len(text) <= _MOST_CLASS else text[: _MOST_CLASS - 1] + "…"
        if short in rows:
            short = f"{text[: _MOST_CLASS - 10]}… {row + 1}"
        rows[short] = row
    return tuple(rows)


def _number(value: Any) -> float:
    if value is None:
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"colors come from numbers or texts, not from {value!r:.80}") from None


FIELDS = (
    *("op", "id", "name", "func", "kind", "shape", "dtype", "time", "share", "device"),
    *("storage", "layout", "bytes", "value"),
)
_MOST = 400
_LINES = 2
_PART = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


def checked_template(text: str) -> str:
    """Return a template after checking its fields."""
    if len(text) > _MOST:
        raise ValueError(f"a label has at most {_MOST} characters, found {len(text):,}")
    lines = text.split("\n")
    if len(lines) > _LINES:
        raise ValueError(f"a box has room for {_LINES} lines, found {len(lines)}")
    for found in (each for line in lines for each in _PART.finditer(line)):
        part, name, at = found.group(), found.group(1), found.start()
        if name is None and part not in ("{{", "}}"):
            raise ValueError(f"{part!r} at {at} stands alone; write {part * 2!r}")
        if name is not None and name not in FIELDS:
            known = [f"{{{field}}}" for field in FIELDS]
            raise ValueError(f"unknown field {part} at {at}{meant(part, known)}")
    return text

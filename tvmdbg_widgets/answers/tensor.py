"""Answers about one tensor: header, picture, channels, data and health."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.layouts import KnownLayout, laid_out
from tvmdbg_widgets.analysis.opening import named_entry
from tvmdbg_widgets.analysis.summary import how_to_get
from tvmdbg_widgets.answers.kept_timeline import KeptTimeline
from tvmdbg_widgets.answers.messages import Question, StatisticsJobs
from tvmdbg_widgets.engine import pack
from tvmdbg_widgets.model.base.number_text import is_integer
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.model.base.text import FormatError, unread_text
from tvmdbg_widgets.model.findings import Findings
from tvmdbg_widgets.model.graph.graph import Graph, tensor_title
from tvmdbg_widgets.model.health import Health
from tvmdbg_widgets.model.pictures import Part, Picture, Pictures, Profile, is_cheap
from tvmdbg_widgets.model.pictures import channels as channels_of
from tvmdbg_widgets.model.tensors.layouts import Layout
from tvmdbg_widgets.model.tensors.planes import ArrayValues, Plane, axes_along, default_axes
from tvmdbg_widgets.model.tensors.tensors import Tensor
from tvmdbg_widgets.model.tensors.values import ArrayView

#: Gives the reason why a tensor's values are withheld ("" if not), and if even its bounds are.
Redact: TypeAlias = Callable[[Tensor], tuple[str, bool]]


@dataclass(frozen=True)
class Reply:
    """A JSON value and its buffers."""

    result: Any
    buffers: tuple[bytes, ...] = ()

    @classmethod
    def of(cls, answer: str, columns: Mapping[str, Any], info: Any = None) -> Reply:
        """Pack columns as a reply, with more facts in ``info``."""
        headers, buffer = pack(columns, answer)
        return cls({"columns": headers, "info": info}, (buffer,))


@dataclass(frozen=True)
class Context:
    """The run, caches and progress of one answer."""

    run: RunFacts
    layouts: Callable[[tuple[int, int]], tuple[KnownLayout, ...]]
    pictures: Pictures
    statistics_jobs: StatisticsJobs
    timeline: KeptTimeline | None
    redact: Redact
    #: Findings as far as they may be shown.
    shown: Callable[[Findings], Findings]
    watch: Callable[[], None] = lambda: None

    @property
    def kept_timeline(self) -> KeptTimeline:
        """Timeline of the run; LookupError if there is none."""
        if self.timeline is None:
            raise LookupError("this run has no timeline")
        return self.timeline


def health(context: Context, _question: Question) -> Reply:
    """Answer the health of all entries, in execution order."""
    search = context.run.search
    state = search.scan.state  # first: "done" must not accompany a partial result
    verdicts = search.health()
    columns, buffer = pack(verdicts.columns(), "health")
    named = named_entry(context.run)
    opens = {"opens": None if named is None else list(named)}
    words = {"state": state, **health_words(verdicts), **opens}
    return Reply({**words, "columns": columns}, (buffer,))


def health_words(verdicts: Health) -> dict[str, Any]:
    """Return the counts and sentences of a run's health."""
    return {
        "done": verdicts.looked_at,
        "total": len(verdicts),
        "words": verdicts.words,
        "brief": verdicts.brief,
        "firstNan": verdicts.row(verdicts.first_nan),
        "firstNonfinite": verdicts.row(verdicts.first_nonfinite),
    }


def trust_of(tensor: Tensor, graph: Graph | None) -> Trust:
    """Return how surely a tensor belongs to its node; without a graph nothing is matched."""
    return tensor.trust if graph is not None else Trust.EXACT


_MOST_CHANNELS = 4096


def channels(context: Context, question: Question) -> Reply:
    """Answer one picture per index of an axis."""
    count = question.integer("count", 1, _MOST_CHANNELS)
    rows, cols = _asked_cells(question, count)
    about = TensorQuery(context, question)
    about.require_pictures()
    plane = about.plane
    axis, first = question.integer("axis", 0, 63), question.integer("first")
    drawn = channels_of(about.values, plane, axis, first, count, rows, cols, context.watch)
    columns, buffer = packed_cells(drawn)
    return Reply(
        {
            "axis": drawn.axis,
            "first": drawn.first,
            "count": drawn.count,
            "length": drawn.length,
            **_grid(drawn, plane),
            "columns": columns,
        },
        (buffer,),
    )


def _grid(drawn: Picture, plane: Plane) -> dict[str, int]:
    return {
        "rows": drawn.rows,
        "cols": drawn.cols,
        "rowStep": drawn.row_step,
        "colStep": drawn.col_step,
        "planeRows": plane.rows,
        "planeCols": plane.cols,
    }


#: Bytes of one answer.
MOST_BYTES = 1 << 20
_PIECE = 1 << 17


def data(context: Context, question: Question) -> Reply:
    """Answer as many rows of a plane as fit one message."""
    about = TensorQuery(context, question)
    kept, note = file_dtype(about.values.numpy_dtype)
    header: dict[str, Any] = {"descr": kept.str, "note": note}
    if not math.prod(about.shape):
        return Reply({"row": 0, "rows": 0, "col": 0, "cols": 0, **header}, (b"",))
    plane = about.plane
    most = MOST_BYTES // kept.itemsize
    row = min(question.integer("row"), plane.rows - 1)
    col = min(question.integer("col"), plane.cols - 1) if question.has("col") else 0
    cols = min(plane.cols - col, most)
    rows = min(question.integer("rows", 1), plane.rows - row, most // cols)
    if cols < plane.cols:
        rows = 1
    # Remote values are read at once; others in pieces, between which the answer can be cancelled.
    high = rows if about.stored.source.far else max(1, _PIECE // (cols * kept.itemsize))
    pieces = []
    for top in range(row, row + rows, high):
        context.watch()
        part = plane.selection(slice(top, min(top + high, row + rows)), slice(col, col + cols))
        pieces.append(plane.oriented(about.values.window(part)).astype(kept).tobytes())
    header |= {"row": row, "rows": rows, "col": col, "cols": cols}
    return Reply(header, (b"".join(pieces),))


def file_dtype(dtype: np.dtype[Any]) -> tuple[np.dtype[Any], str]:
    """Return the dtype for a .npy file that holds the values exactly, and a note."""
    if dtype.kind in "biufc":
        return dtype.newbyteorder("<"), ""
    integer = "|u1" if dtype.name.startswith("u") else "|i1"
    kept: np.dtype[Any] = np.dtype(integer if is_integer(dtype) else "<f4")
    return kept, f"{dtype.name} saved as {kept.name}, which is exact"


def tensor(context: Context, question: Question) -> Reply:
    """Answer the header of a tensor and a picture of a part of one plane; of no cells, none."""
    rows, cols = _asked_cells(question, least=0)
    about = TensorQuery(context, question, may_be_withheld=True)
    plane = about.plane if about.has_pictures or about.is_unordered else None
    header = _header(context, about, plane)
    if why := context.redact(about.tensor)[0]:
        return Reply({**header, "withheld": why})
    if plane is None or about.is_unordered or not rows * cols:
        return Reply(header)
    part, exact = about.part, question.flag("exact")
    try:
        shown = context.pictures.get(
            about.key, about.values, plane, rows, cols, part, exact, context.watch
        )
    except (FormatError, OSError) as problem:
        return Reply({**header, "trouble": str(problem), "unread": unread_text(problem)})
    columns, buffer = packed_cells(shown)
    header["cheap"] = not about.stored.source.far and is_cheap(about.values, plane)
    header["tile"] = {
        "row": shown.row,
        "col": shown.col,
        **_grid(shown, plane),
        "exact": shown.exact,
        "columns": columns,
    }
    return Reply(header, (buffer,))


def _header(context: Context, about: TensorQuery, plane: Plane | None) -> dict[str, Any]:
    tensor = about.tensor
    return {
        "entry": [tensor.node, tensor.output],
        "name": tensor.name,
        "title": tensor_title(tensor, context.run.graph),
        "key": tensor.key,
        "dtype": tensor.dtype.name,
        "valueDtype": about.values.numpy_dtype.name,
        "shape": list(tensor.shape),
        "nbytes": tensor.nbytes,
        "offset": tensor.offset,
        "file": tensor.file,
        "trust": trust_of(tensor, context.run.graph).label,
        "notes": list(tensor.notes),
        "missingLanes": about.stored.is_missing_lanes,
        "captured": tensor.captured,
        "readings": list(tensor.readings),
        "reading": about.reading,
        "layouts": [layout_json(layout, about.stored) for layout in about.layouts],
        "layout": about.layout,
        "sizes": about.sizes,
        "viewShape": list(about.shape),
        "axisNames": list(about.axis_names),
        "along": about.along,
        "storedAxes": about.stored_axes,
        "storedShape": list(about.stored.view_shape),
        "axes": list(plane.axes) if plane else [None, None],
        "index": list(plane.index) if plane else [0] * len(about.shape),
        "unordered": about.is_unordered,
        "tile": None,
    }


def layout_json(known: KnownLayout, stored: ArrayValues) -> dict[str, Any]:
    """Return a known layout of values as JSON; without axes if they cannot have it."""
    letters, axes, along = known.layout.letters, None, list[int]()
    if known.layout.fits(stored.view_shape):
        axes = dict(zip(letters, known.layout.parts, strict=True))
        along = axes_along(known.layout.logical_shape(stored.view_shape), letters)
    return {
        "layout": known.layout.text,
        "sizes": known.sizes,
        "source": known.source,
        "certainty": known.certainty,
        "axes": axes,
        "along": along,
    }


def layout(context: Context, question: Question) -> Reply:
    """Answer the axes of any layout; ValueError if the tensor cannot have it or its sizes."""
    tensor, reading = asked_tensor(context.run, question)
    stored = tensor.values(reading)
    given = Layout.parse(question.text("layout", _LONGEST_LAYOUT) or "")
    given.named_sizes(stored.view_shape, question.sizes("sizes") if question.has("sizes") else {})
    return Reply(layout_json(KnownLayout(given, "", "likely"), stored))


def packed_cells(drawn: Picture | Profile) -> tuple[list[dict[str, Any]], bytes]:
    """Return headers and buffer of mean, minimum, maximum and flags."""
    return pack(cell_columns([drawn]), "cells")


def cell_columns(drawn: Sequence[Picture | Profile]) -> dict[str, np.ndarray[Any, Any]]:
    """Return mean, minimum, maximum and flags, one after the other.

    Bounds that equal the mean bit by bit are left out, and flags if none is set;
    ``js/src/shared/client/client.ts`` restores them.
    """

    def joined(name: str) -> np.ndarray[Any, Any]:
        return np.concatenate([getattr(one, name).ravel() for one in drawn])

    columns = {"mean": joined("mean")}
    word = np.dtype(f"u{columns['mean'].itemsize}")
    for name in ("minimum", "maximum"):
        if not np.array_equal((bound := joined(name)).view(word), columns["mean"].view(word)):
            columns[name] = bound
    if (flags := joined("flags")).any():
        columns["flags"] = flags
    return columns


_LONGEST_LAYOUT = 100
_LONGEST_READING = 100
#: Cells of one answer.
MOST_CELLS = 1 << 20
MOST_SIDE = 8192


class TensorQuery:
    """The tensor, reading, layout, plane and part of one question; ValueError if withheld."""

    def __init__(
        self, context: Context, question: Question, *, may_be_withheld: bool = False
    ) -> None:
        self._question = question
        self.tensor, self.reading = (
            asked_tensor(context.run, question)
            if may_be_withheld
            else readable_tensor(context, question)
        )
        self.stored: ArrayValues = self.tensor.values(self.reading)
        self.values: ArrayView = self.stored
        self.layouts = context.layouts((self.tensor.node, self.tensor.output))
        self.layout, self.sizes, self.axis_names = "", dict[str, int](), self.stored.axis_names
        self.stored_axes = [[axis] for axis in range(len(self.stored.view_shape))]
        self.along = axes_along(self.stored.view_shape, self.axis_names)
        text = question.text("layout", _LONGEST_LAYOUT)
        sizes = question.sizes("sizes") if question.has("sizes") else None
        unfolded = laid_out(self.stored, self.layouts, text, sizes)
        if unfolded is None:
            return
        self.layout, self.axis_names = unfolded.layout.text, unfolded.axis_names
        self.stored_axes = [list(parts) for parts in unfolded.layout.parts]
        full = unfolded.layout.logical_shape(self.stored.view_shape)
        self.along = axes_along(full, self.axis_names)
        every = zip(unfolded.axis_names, unfolded.shape, full, strict=True)
        self.sizes = {name: size for name, size, most in every if size < most}
        if self.sizes or unfolded.layout.is_packed:
            self.values = unfolded

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape that axes and index refer to."""
        return self.values.view_shape

    @property
    def key(self) -> tuple[Any, ...]:
        """Identity of the values within a run."""
        entry = (self.tensor.node, self.tensor.output)
        return (*entry, self.reading, self.layout, *sorted(self.sizes.items()))

    @property
    def has_pictures(self) -> bool:
        """Whether there are ordered values."""
        return self.stored.is_ordered and math.prod(self.shape) > 0

    @property
    def is_unordered(self) -> bool:
        """Whether there are values without an order: complex ones."""
        stored = self.stored
        return not (stored.is_raw or stored.is_ordered) and math.prod(self.shape) > 0

    def require_pictures(self) -> None:
        """Raise where there are none."""
        if not self.has_pictures:
            raise ValueError(
                f"{self.tensor.name}: {self.tensor.dtype}{list(self.shape)} has no heatmap"
            )

    @cached_property
    def plane(self) -> Plane:
        """The asked plane; by default the last axes at index 0."""
        question, shape = self._question, self.shape
        index = question.integers("index") if question.has("index") else [0] * len(shape)
        if len(index) != len(shape):
            return Plane.of(shape, default_axes(shape), [0] * len(shape))
        axes = question.axes("axes") if question.has("axes") else default_axes(shape)
        return Plane.of(shape, axes, index)

    @property
    def part(self) -> Part | None:
        """The asked region, clipped to the plane; None for all of it."""
        question, plane = self._question, self.plane
        if not question.has("part"):
            return None
        row, col, rows, cols = question.integers("part", 4)
        if not rows or not cols:
            raise ValueError(f"part has no values: {rows} x {cols}")
        row, col = min(row, plane.rows - 1), min(col, plane.cols - 1)
        return row, col, min(rows, plane.rows - row), min(cols, plane.cols - col)


def asked_tensor(run: RunFacts, question: Question) -> tuple[Tensor, str | None]:
    """Return the tensor that a question names and its reading, None if it has only one."""
    if run.tensors is None:
        raise LookupError(how_to_get("tensors", run.parts))
    node, output = question.integers("entry", 2)
    if (node, output) not in run.tensors:
        raise LookupError(f"This run has no tensor for node {node}, output {output}.")
    tensor = run.tensors[node, output]
    if tensor.readings:
        return tensor, question.choice("reading", tensor.readings) or tensor.readings[0]
    question.text("reading", _LONGEST_READING)
    return tensor, None


def readable_tensor(context: Context, question: Question) -> tuple[Tensor, str | None]:
    """Return tensor and reading of a question, unless the values are withheld."""
    tensor, reading = asked_tensor(context.run, question)
    if why := context.redact(tensor)[0]:
        raise ValueError(why)
    return tensor, reading


def _asked_cells(question: Question, pictures: int = 1, least: int = 1) -> tuple[int, int]:
    """Return the most rows and columns of ``pictures`` pictures."""
    rows, cols = (question.integer(name, least, MOST_SIDE) for name in ("rows", "cols"))
    if rows * cols * pictures > MOST_CELLS:
        given = f"{rows} x {cols}" if pictures == 1 else f"{pictures} of {rows} x {cols}"
        raise ValueError(f"an answer has at most {MOST_CELLS} cells, asked for {given}")
    return rows, cols

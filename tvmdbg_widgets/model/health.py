"""The health of a run's tensors: one verdict per entry, in execution order."""

from __future__ import annotations

import enum
import html
import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from tvmdbg_widgets.model.base.number_text import number_text
from tvmdbg_widgets.model.base.numbers import counted, percent
from tvmdbg_widgets.model.base.slips import public_class, row_of
from tvmdbg_widgets.model.base.text import data_frame, one_line
from tvmdbg_widgets.model.graph.graph import node_title, short_label

if TYPE_CHECKING:
    import pandas as pd


UNREAD = "unreadable"
_LINES_SHOWN = 12
_LONGEST_TITLE = 64


class HealthVerdict(enum.StrEnum):
    """The verdict on one entry; the order is that of the numbers sent to a page.

    ``NOT_SCANNED``: its values were not scanned. ``OK``: nothing is wrong with them that a look at
    this run alone can tell. ``SUSPICIOUS``: they, or that they belong here, cannot be relied on.
    ``FAULTY``: they are wrong. ``UNKNOWN``: they cannot be judged, ``EntryHealth.words`` says why.
    """

    NOT_SCANNED = "not scanned"
    OK = "OK"
    SUSPICIOUS = "suspicious"
    FAULTY = "faulty"
    UNKNOWN = "unknown"


VERDICTS = tuple(HealthVerdict)
_NUMBERS = {verdict: number for number, verdict in enumerate(VERDICTS)}


class EntryHealth(NamedTuple):
    """The facts of one tensor; None and NaN where unknown or meaningless.

    Attributes
    ----------
    entry : (int, int)
        Node and output.
    name : str
        Name of the node.
    op_kind : str
        As ``Node.op_kind``; empty without a graph.
    dtype : str
    shape : tuple of int
    verdict : Verdict
    words : str
        Why, one sentence part with its numbers; empty for one that is OK, with nothing to tell.
    brief : str
        The same in two or three words, for a label.
    rank : int
        Position in the order of suspicion, 0 the most suspicious
        (:mod:`tvmdbg_widgets.analysis.health_table` says by what).
    size : int
        Counted values.
    nan, inf : int or None
        How many are NaN, and +Inf or -Inf.
    zero, denormal : float
        Shares of all values: zero, and so small that their type has fewer digits for them.
    low, high : scalar of the tensor's type or None
        Least and largest finite value.
    mean, std : float
        Of the finite values.
    saturated : float
        Share of the values at the ends of the range, as the rule ``saturated`` counts them; NaN
        for types and functions whose range has no ends that matter.
    dead : (int, int) or None
        Channels that are zero throughout, of how many; None where the layout names no channels,
        or so few values are zero that no channel can be.
    constant : bool
        Whether all of two values or more are one.
    source : int
        Node from which NaN or Inf came: the entry's own where they first appear; -1 where there
        are none, or nobody can tell.
    title : str
        Id and operators of the node, ``"#38 conv2d + add + relu"``, as the views name it.
    """

    entry: tuple[int, int]
    name: str
    op_kind: str
    dtype: str
    shape: tuple[int, ...]
    verdict: HealthVerdict = HealthVerdict.NOT_SCANNED
    words: str = ""
    brief: str = ""
    rank: int = -1
    size: int = 0
    nan: int | None = None
    inf: int | None = None
    zero: float = math.nan
    denormal: float = math.nan
    low: Any = None
    high: Any = None
    mean: float = math.nan
    std: float = math.nan
    saturated: float = math.nan
    dead: tuple[int, int] | None = None
    constant: bool = False
    source: int = -1
    title: str = ""

    @property
    def dead_share(self) -> float:
        """Share of the channels that are zero throughout; NaN where there are no channels."""
        return math.nan if self.dead is None else self.dead[0] / self.dead[1]

    def __str__(self) -> str:
        title = self.title or node_title(self.name, *self.entry)
        reason = f": {self.words}" if self.words else ""
        return one_line(f"{self.verdict.value:8} {short_label(title, _LONGEST_TITLE)}{reason}")

    def __repr__(self) -> str:
        facts = [f"{self.dtype}{list(self.shape)}"]
        if self.nan is not None:
            facts += [f"{self.nan:,} NaN", f"{self.inf:,} Inf", f"{percent(self.zero)} zero"]
        if self.low is not None:
            facts.append(f"{number_text(self.low)} … {number_text(self.high)}")
        if self.saturated > 0:
            facts.append(f"{percent(self.saturated)} at the ends")
        if self.dead is not None and self.dead[0]:
            facts.append(f"{self.dead[0]:,} of {counted(self.dead[1], 'channel')} dead")
        return f"EntryHealth({str(self).strip()}; {', '.join(facts)})"


class HealthTable(NamedTuple):
    """The health of entries, one column per fact."""

    columns: dict[str, np.ndarray[Any, Any]]
    words: list[str]
    brief: list[str]
    make: Callable[[int], EntryHealth]

    @classmethod
    def of(cls, items: Sequence[EntryHealth]) -> HealthTable:
        """Return the table of existing entries."""

        def floats(values: Iterable[Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
            known = (math.nan if value is None else float(value) for value in values)
            return np.fromiter(known, np.float64, len(items))

        columns: dict[str, np.ndarray[Any, Any]] = {
            "node": np.array([item.entry[0] for item in items], np.int32),
            "output": np.array([item.entry[1] for item in items], np.int32),
            "verdict": np.array([_NUMBERS[item.verdict] for item in items], np.uint8),
            "rank": np.array([item.rank for item in items], np.int32),
            "source": np.array([item.source for item in items], np.int32),
            "dead": floats(item.dead_share for item in items),
        }
        for name in ("nan", "inf", "zero", "saturated", "denormal", "low", "high"):
            columns[name] = floats(getattr(item, name) for item in items)
        texts = [item.words for item in items], [item.brief for item in items]
        return cls(columns, *texts, items.__getitem__)


@public_class
class Health(Sequence[EntryHealth]):
    """The health of every tensor of a run, in execution order.

    Parameters
    ----------
    entries : iterable of EntryHealth, or HealthTable
        In execution order, their ranks a permutation.
    complete : bool
        Whether every tensor was scanned, or failed to be read.
    title : str
        Of the run.
    """

    def __init__(
        self,
        entries: Iterable[EntryHealth] | HealthTable = (),
        *,
        complete: bool = True,
        title: str = "",
    ) -> None:
        table = entries if isinstance(entries, HealthTable) else HealthTable.of(tuple(entries))
        self._columns = table.columns
        self._make = table.make
        self._made: dict[int, EntryHealth] = {}
        #: Reasons of the verdicts, in full and in two or three words.
        self.words, self.brief = table.words, table.brief
        self.complete = complete
        self.title = title

    def __len__(self) -> int:
        return len(self.words)

    @overload
    def __getitem__(self, index: int) -> EntryHealth: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[EntryHealth, ...]: ...
    def __getitem__(self, index: int | slice) -> EntryHealth | tuple[EntryHealth, ...]:
        if isinstance(index, slice):
            return tuple(map(self._item, range(len(self))[index]))
        return self._item(row_of("row", index, len(self), "health.of(node)"))

    def _item(self, row: int) -> EntryHealth:
        entry = self._made.get(row)
        if entry is None:
            entry = self._made.setdefault(row, self._make(row))
        return entry

    @cached_property
    def _rows(self) -> dict[tuple[int, int], int]:
        entries = zip(self._columns["node"].tolist(), self._columns["output"].tolist(), strict=True)
        return {entry: row for row, entry in enumerate(entries)}

    def of(self, node: int, output: int = 0) -> EntryHealth:
        """Return the health of one entry.

        Raises
        ------
        KeyError
            The run has no tensor of it.
        """
        row = self._rows.get((node, output))
        if row is None:
            raise KeyError(f"no tensor for node {node}, output {output}")
        return self._item(row)

    @cached_property
    def ranked(self) -> tuple[EntryHealth, ...]:
        """All entries, the most suspicious first."""
        return tuple(map(self._item, np.argsort(self._columns["rank"]).tolist()))

    @cached_property
    def suspicious(self) -> tuple[EntryHealth, ...]:
        """The faulty and the suspicious entries, the most suspicious first."""
        bad = [_NUMBERS[HealthVerdict.FAULTY], _NUMBERS[HealthVerdict.SUSPICIOUS]]
        rows = np.flatnonzero(np.isin(self._columns["verdict"], bad))
        order = np.argsort(self._columns["rank"][rows])
        return tuple(map(self._item, rows[order].tolist()))

    @cached_property
    def first_nan(self) -> EntryHealth | None:
        """The first entry in execution order with NaN, or None."""
        return self._first(self._columns["nan"] > 0)

    @cached_property
    def first_nonfinite(self) -> EntryHealth | None:
        """The first faulty entry in execution order with NaN or Inf, or None; not -Inf alone."""
        bad = (self._columns["nan"] > 0) | (self._columns["inf"] > 0)
        return self._first(bad & (self._columns["verdict"] == _NUMBERS[HealthVerdict.FAULTY]))

    def _first(self, mask: np.ndarray[Any, Any]) -> EntryHealth | None:
        return self._item(int(mask.argmax())) if mask.any() else None

    @cached_property
    def looked_at(self) -> int:
        """Number of scanned entries."""
        return len(self) - self.counts[HealthVerdict.NOT_SCANNED]

    @cached_property
    def counts(self) -> dict[HealthVerdict, int]:
        """Entries by verdict."""
        numbers = np.bincount(self._columns["verdict"], minlength=len(VERDICTS)).tolist()
        return dict(zip(VERDICTS, numbers, strict=True))

    @cached_property
    def unread(self) -> tuple[EntryHealth, ...]:
        """Entries whose values could not be read; their ``words`` say why."""
        unknown = self._columns["verdict"] == _NUMBERS[HealthVerdict.UNKNOWN]
        items = map(self._item, np.flatnonzero(unknown).tolist())
        return tuple(item for item in items if item.brief == UNREAD)

    def summary(self) -> str:
        """Return the counts in words: ``"1 faulty, 3 suspicious, 40 OK"``."""
        order = (
            HealthVerdict.FAULTY,
            HealthVerdict.SUSPICIOUS,
            HealthVerdict.UNKNOWN,
            HealthVerdict.OK,
            HealthVerdict.NOT_SCANNED,
        )
        parts = [f"{self.counts[v]:,} {v.value}" for v in order if self.counts[v]]
        return ", ".join(parts) or "no tensors"

    def row(self, each: EntryHealth | None) -> int:
        """Return the position of an entry in execution order, -1 for None."""
        return -1 if each is None else self._rows[each.entry]

    def columns(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return one array a fact, a row an entry.

        Returns
        -------
        dict of str to array
            ``node``, ``output`` (int32), ``verdict`` (uint8, see :data:`VERDICTS`), ``nan``,
            ``inf`` (float64 counts), ``zero``, ``saturated``, ``dead``, ``denormal`` (float64
            shares), ``low``, ``high`` (float64), ``rank``, ``source`` (int32); NaN where unknown.
        """
        return dict(self._columns)

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row an entry, in execution order (needs pandas)."""
        items = self[:]
        columns: dict[str, list[Any]] = {
            "node": [item.entry[0] for item in items],
            "output": [item.entry[1] for item in items],
        }
        for name in EntryHealth._fields:
            if name not in ("entry", "brief"):
                columns[name] = [getattr(item, name) for item in items]
        columns["verdict"] = [item.verdict.value for item in items]
        return data_frame(columns)

    def _heading(self) -> str:
        text = f"Health of {counted(len(self), 'tensor')}: {self.summary()}"
        if self.unread:
            text += f"; {len(self.unread):,} of {counted(len(self), 'tensor')} "
            text += self.unread[0].words
        return text if self.complete else f"{text}; interrupted, run.health() goes on"

    def _list(self, most: int) -> tuple[tuple[EntryHealth, ...], str]:
        more = len(self.suspicious) - most
        return self.suspicious[:most], f"… {more:,} more: health.suspicious" if more > 0 else ""

    def __repr__(self) -> str:
        listed, rest = self._list(_LINES_SHOWN)
        return "\n".join(
            [self._heading(), *(f"  {item}" for item in listed), *filter(None, [rest])]
        )

    def _repr_html_(self) -> str:
        listed, rest = self._list(_LINES_SHOWN)
        verdicts = [VERDICTS[number].value for number in self._columns["verdict"].tolist()]
        rows = []
        for item in listed:
            node, output = item.entry
            where = f"{item.name} ({node},\N{NO-BREAK SPACE}{output})"
            cells = map(html.escape, (item.verdict.value, where, item.words))
            rows.append(f"<tr>{''.join(f'<td {_CELL}>{cell}</td>' for cell in cells)}</tr>")
        table = f"<table>{''.join(rows)}</table>" if rows else ""
        more = f"<p>{html.escape(rest)}</p>" if rest else ""
        heading = self._heading()
        return f"<div>{html.escape(heading)}</div>{_strip(heading, verdicts)}{table}{more}"


_CELLS = 300
_WIDE = 600
_HIGH = 24
_CELL = 'style="text-align: left"'
# color, opacity, share of the height: no verdict is shown by its color alone
_LOOKS = {
    "not scanned": ("currentColor", 0.08, 0.15),
    "OK": ("currentColor", 0.35, 0.35),
    "unknown": ("#8a6bbf", 0.9, 0.5),
    "suspicious": ("#d28a00", 1.0, 0.7),
    "faulty": ("#d1242f", 1.0, 1.0),
}
_WORST_LAST = tuple(_LOOKS)


def _strip(heading: str, verdicts: Sequence[str]) -> str:
    """Draw a cell per entry, or for the worst of several that share one."""
    cells = min(len(verdicts), _CELLS)
    if not cells:
        return ""
    worst = [0] * cells
    for row, verdict in enumerate(verdicts):
        cell = row * cells // len(verdicts)
        worst[cell] = max(worst[cell], _WORST_LAST.index(verdict))
    wide = min(_WIDE, 24 * cells) / cells
    marks = []
    start = 0
    for cell in range(1, cells + 1):
        if cell < cells and worst[cell] == worst[start]:
            continue
        color, opacity, share = _LOOKS[_WORST_LAST[worst[start]]]
        high = _HIGH * share
        marks.append(
            f'<rect x="{start * wide:g}" y="{_HIGH - high:g}" width="{(cell - start) * wide:g}" '
            f'height="{high:g}" fill="{color}" fill-opacity="{opacity}"/>'
        )
        start = cell
    size = f'width="{cells * wide:g}" height="{_HIGH}" viewBox="0 0 {cells * wide:g} {_HIGH}"'
    label = html.escape(heading, quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{label}" '
        f'style="max-width:100%;display:block;margin:4px 0">{"".join(marks)}</svg>'
    )

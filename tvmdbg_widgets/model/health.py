"""How sound the tensors of a run are: one verdict an entry, in execution order."""

from __future__ import annotations

import enum
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from tvmdbg_widgets.model.frames import data_frame
from tvmdbg_widgets.model.health_picture import health_html
from tvmdbg_widgets.model.number_text import number_text
from tvmdbg_widgets.model.numbers import counted, percent
from tvmdbg_widgets.model.text import one_line

if TYPE_CHECKING:
    import pandas as pd

#: What is said in brief of an entry whose values could not be read.
UNREAD = "unreadable"
_LINES_SHOWN = 12
_LONGEST_NAME = 100


class Verdict(enum.StrEnum):
    """What can be said of one entry; the order is that of the numbers sent to a page.

    ``NOT_YET``: its values were not looked at. ``SOUND``: nothing is wrong with them that a look at
    this run alone can tell. ``DOUBTFUL``: they, or that they belong here, cannot be relied on.
    ``FAULTY``: they are wrong. ``UNKNOWN``: they cannot be judged, ``EntryHealth.words`` says why.
    """

    NOT_YET = "not looked at"
    SOUND = "sound"
    DOUBTFUL = "doubtful"
    FAULTY = "faulty"
    UNKNOWN = "unknown"


#: Verdicts by their number.
VERDICTS = tuple(Verdict)
_NUMBERS = {verdict: number for number, verdict in enumerate(VERDICTS)}


class EntryHealth(NamedTuple):
    """What is known of one tensor; None and NaN where it is not known or has no meaning.

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
        Why, one sentence part with its numbers; empty for a sound one with nothing to tell.
    brief : str
        The same in two or three words, for a label.
    rank : int
        Position in the order of suspicion, 0 the most suspicious
        (:mod:`tvmdbg_widgets.analysis.health` says by what).
    size : int
        Values looked at.
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
    """

    entry: tuple[int, int]
    name: str
    op_kind: str
    dtype: str
    shape: tuple[int, ...]
    verdict: Verdict = Verdict.NOT_YET
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

    @property
    def dead_share(self) -> float:
        """Share of the channels that are zero throughout; NaN where there are no channels."""
        return math.nan if self.dead is None else self.dead[0] / self.dead[1]

    def __str__(self) -> str:
        node, output = self.entry
        where = f"node {node}" if output == 0 else f"node {node}, output {output}"
        said = f": {self.words}" if self.words else ""
        name = self.name or "tensor"
        name = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
        return one_line(f"{self.verdict.value:8} {name} ({where}){said}")

    def __repr__(self) -> str:
        facts = [f"{self.dtype}{list(self.shape)}"]
        if self.nan is not None:
            facts += [f"{self.nan:,} NaN", f"{self.inf:,} Inf", f"{percent(self.zero)} zero"]
        if self.low is not None:
            facts.append(f"{number_text(self.low)} … {number_text(self.high)}")
        if self.saturated > 0:
            facts.append(f"{percent(self.saturated)} at the ends")
        if self.dead is not None and self.dead[0]:
            facts.append(f"{self.dead[0]:,} of {self.dead[1]:,} channels dead")
        return f"EntryHealth({str(self).strip()}; {', '.join(facts)})"


class Health(Sequence[EntryHealth]):
    """The health of every tensor of a run, in execution order.

    Parameters
    ----------
    entries : iterable of EntryHealth
        In execution order, their ranks a permutation.
    complete : bool
        Whether every tensor was looked at, or failed to be read.
    title : str
        Of the run.
    """

    def __init__(
        self, entries: Iterable[EntryHealth] = (), *, complete: bool = True, title: str = ""
    ) -> None:
        self._items = tuple(entries)
        self.complete = complete
        self.title = title

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> EntryHealth: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[EntryHealth, ...]: ...
    def __getitem__(self, index: int | slice) -> EntryHealth | tuple[EntryHealth, ...]:
        return self._items[index]

    @cached_property
    def _rows(self) -> dict[tuple[int, int], int]:
        return {each.entry: row for row, each in enumerate(self._items)}

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
        return self._items[row]

    @cached_property
    def ranked(self) -> tuple[EntryHealth, ...]:
        """All entries, the most suspicious first."""
        return tuple(sorted(self._items, key=lambda each: each.rank))

    @cached_property
    def suspicious(self) -> tuple[EntryHealth, ...]:
        """The faulty and the doubtful entries, the most suspicious first."""
        bad = (Verdict.FAULTY, Verdict.DOUBTFUL)
        return tuple(each for each in self.ranked if each.verdict in bad)

    @cached_property
    def first_nan(self) -> EntryHealth | None:
        """The first entry in execution order that holds NaN; None where none does."""
        return next((each for each in self._items if each.nan), None)

    @cached_property
    def first_nonfinite(self) -> EntryHealth | None:
        """The first faulty entry in execution order that holds NaN or Inf; None where none does.

        -Inf alone, which attention masks hold on purpose, is a doubt and does not count.
        """
        return next(
            (
                each
                for each in self._items
                if each.verdict is Verdict.FAULTY and (each.nan or each.inf)
            ),
            None,
        )

    @cached_property
    def looked_at(self) -> int:
        """Entries that were looked at."""
        return sum(each.verdict is not Verdict.NOT_YET for each in self._items)

    @cached_property
    def counts(self) -> dict[Verdict, int]:
        """Entries by verdict."""
        found = Counter(each.verdict for each in self._items)
        return {verdict: found[verdict] for verdict in VERDICTS}

    @cached_property
    def unread(self) -> tuple[EntryHealth, ...]:
        """Entries whose values could not be read; their ``words`` say why."""
        return tuple(each for each in self._items if each.brief == UNREAD)

    def summary(self) -> str:
        """Return the counts in words: ``"1 faulty, 3 doubtful, 40 sound"``."""
        order = (Verdict.FAULTY, Verdict.DOUBTFUL, Verdict.UNKNOWN, Verdict.SOUND, Verdict.NOT_YET)
        told = [f"{self.counts[each]:,} {each.value}" for each in order if self.counts[each]]
        return ", ".join(told) or "no tensors"

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
            shares), ``low``, ``high`` (float64), ``rank`` (int32); NaN where unknown.
        """
        items = self._items

        def floats(values: Iterable[Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
            known = (math.nan if value is None else float(value) for value in values)
            return np.fromiter(known, np.float64, len(items))

        return {
            "node": np.array([each.entry[0] for each in items], np.int32),
            "output": np.array([each.entry[1] for each in items], np.int32),
            "verdict": np.array([_NUMBERS[each.verdict] for each in items], np.uint8),
            "nan": floats(each.nan for each in items),
            "inf": floats(each.inf for each in items),
            "zero": floats(each.zero for each in items),
            "saturated": floats(each.saturated for each in items),
            "dead": floats(each.dead_share for each in items),
            "denormal": floats(each.denormal for each in items),
            "low": floats(each.low for each in items),
            "high": floats(each.high for each in items),
            "rank": np.array([each.rank for each in items], np.int32),
        }

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row an entry, in execution order (needs pandas)."""
        items = self._items
        columns: dict[str, list[Any]] = {
            "node": [each.entry[0] for each in items],
            "output": [each.entry[1] for each in items],
        }
        for name in EntryHealth._fields:
            if name not in ("entry", "brief"):
                columns[name] = [getattr(each, name) for each in items]
        columns["verdict"] = [each.verdict.value for each in items]
        return data_frame(columns)

    def _heading(self) -> str:
        told = f"Health of {counted(len(self), 'tensor')}: {self.summary()}"
        if self.unread:
            told += f"; {len(self.unread):,} of {counted(len(self), 'tensor')} "
            told += self.unread[0].words
        return told if self.complete else f"{told}; interrupted, run.health() goes on"

    def _list(self, most: int) -> tuple[tuple[EntryHealth, ...], str]:
        more = len(self.suspicious) - most
        return self.suspicious[:most], f"… and {more:,} more in .suspicious" if more > 0 else ""

    def __repr__(self) -> str:
        listed, rest = self._list(_LINES_SHOWN)
        return "\n".join(
            [self._heading(), *(f"  {each}" for each in listed), *filter(None, [rest])]
        )

    def _repr_html_(self) -> str:
        listed, rest = self._list(_LINES_SHOWN)
        return health_html(self._heading(), self._items, listed, rest)

"""Rows of a comparison of times, individually and as columns, and formatting of their numbers."""

from __future__ import annotations

import html
import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.compare_times.aligned import NO_MATCH, Aligned, NodeRows
from tvmdbg_widgets.analysis.compare_times.verdicts import (
    ALPHA,
    Ground,
    NodeSamples,
    Samples,
    TimeVerdict,
    Verdicts,
    judge,
    least_p,
)
from tvmdbg_widgets.analysis.matching import Certainty, Reason
from tvmdbg_widgets.model.base.numbers import counted, duration_text, speed_text, text_lines
from tvmdbg_widgets.model.base.ranges import MadeSequence
from tvmdbg_widgets.model.base.text import columns_of, data_frame, more_text, one_line

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TimeChange:
    """Time of the same work in two runs.

    Attributes
    ----------
    label, kind : str
        Operators and their kind, of the side with fewer nodes, else of `a`.
    a, b : tuple of int
        The nodes that do it, ascending; empty where one run does not.
    ns_a, ns_b : float
        Nanoseconds, sums of the nodes' times; 0 without nodes, NaN where none is known.
    change_ns : float
        ``ns_b - ns_a``.
    ratio : float
        ``ns_b / ns_a``; NaN where it is not known or `a` takes no time.
    p, q : float
        Two-sided Mann-Whitney p, and corrected by Benjamini-Hochberg; NaN where not tested.
    shift_ns, low_ns, high_ns : float
        Increase of a repeat (Hodges-Lehmann), and its interval of 95 % confidence.
    verdict : Verdict
    why : str
        Evidence of the verdict.
    certainty : Certainty or None
        Least certainty of the match; None where one run has none.
        Evidence of the match.
    repeats_a, repeats_b : float64
        Nanoseconds; of several nodes the sums, repeat by repeat.
    shape : str
        Of the first output, as ``"1×64×8×8"``: tells operators of one label apart.
    rounding_ns : (float, float)
        As of both timelines: a time of 0 is less than this.
    """

    label: str
    kind: str
    a: tuple[int, ...]
    b: tuple[int, ...]
    ns_a: float
    ns_b: float
    change_ns: float
    ratio: float
    p: float
    q: float
    shift_ns: float
    low_ns: float
    high_ns: float
    verdict: TimeVerdict
    ground: Ground = field(repr=False)
    certainty: Certainty | None
    reason: str
    repeats_a: Floats
    repeats_b: Floats
    why: str = ""
    shape: str = ""
    rounding_ns: tuple[float, float] = (0.0, 0.0)

    @property
    def texts(self) -> tuple[str, str]:
        """Both times as texts."""
        a, b = self.rounding_ns
        return duration_text(self.ns_a, a), duration_text(self.ns_b, b)

    @property
    def match(self) -> str:
        """Certainty of the match: ``"exact"``, ``"likely, by name"``, …."""
        if self.certainty is None:
            return ""
        named = f", {self.reason}" if self.reason == Reason.BY_NAME.label else ""
        return f"{self.certainty.label}{named}"

    @property
    def nodes(self) -> str:
        """Ids of both sides: ``"#12 ~ #14, #15, #16"``."""
        return " ~ ".join(dict.fromkeys(_ids(nodes) for nodes in (self.a, self.b) if nodes))

    @property
    def brief_nodes(self) -> str:
        """First and last ids of both sides: ``"#12 ~ #14 … #16"``."""
        return " ~ ".join(dict.fromkeys(_ends(nodes) for nodes in (self.a, self.b) if nodes))

    def __repr__(self) -> str:
        return (
            f"TimeChange {one_line(self.label)!r} ({self.nodes}): {' → '.join(self.texts)}, "
            f"{change_text(self.change_ns)} "
            f"({speed_text(self.ratio)}); {self.verdict.label}: {self.why}"
        )

    def cells(self) -> list[str]:
        """Return the row as texts, for tables."""
        return [
            f"{one_line(self.label)} {self.shape}".rstrip(),
            self.nodes + (f" ({self.match})" if self.match not in ("", "exact") else ""),
            self.texts[0] if self.a else "–",
            self.texts[1] if self.b else "–",
            change_text(self.change_ns),
            speed_text(self.ratio) if self.a and self.b else "–",
            self.verdict.label,
            "–" if np.isnan(self.q) else p_text(self.q),
        ]


#: Titles of :meth:`TimeChange.cells` after the first.
TITLES = ("nodes A ~ B", "A", "B", "B − A", "speed", "verdict", "p corrected")
_IDS = 4


def why(row: TimeChange, tests: int, missing: str) -> str:
    """Explain a verdict in one sentence."""
    n, m = len(row.repeats_a), len(row.repeats_b)
    ground = row.ground
    if ground in (Ground.TOLD, Ground.NOT_TOLD):
        sign = "≤" if ground is Ground.TOLD else ">"
        corrected = f", {p_text(row.q)} corrected for {counted(tests, 'comparison')}"
        p_words = f"p = {p_text(row.p)} ({against(n, m)}){corrected if tests > 1 else ''}"
        return f"{p_words}, {sign} {ALPHA}"
    if ground is Ground.CLOCK:
        return "the difference is below what the printed times resolve (1 ns each)"
    if ground is Ground.ODDS:
        return (
            f"the ranks of the repeats say {change_text(row.shift_ns)}, the means "
            f"{change_text(row.change_ns)}: a few repeats are outliers"
        )
    if ground is Ground.FEW:
        p_words = (
            f"{against(n, m)} can show nothing at {ALPHA}: the least possible p is "
            f"{p_text(least_p(n, m))}"
        )
        return f"{p_words}; {ONCE}" if min(n, m) == 1 else p_words
    if ground is Ground.NO_REPEATS:
        return missing or "no repeats"
    if ground is Ground.UNEVEN:
        return "the parts have different numbers of repeats, which cannot be summed one by one"
    if ground is Ground.NO_TIME:
        return "the time of some of these nodes is unknown"
    if ground is Ground.POSSIBLE:
        return f"the match is only possible ({row.reason}), so it is not used"
    return "it has no match"


def _ends(nodes: tuple[int, ...]) -> str:
    return _ids(nodes) if len(nodes) <= 2 else f"#{nodes[0]} … #{nodes[-1]}"


def _ids(nodes: tuple[int, ...]) -> str:
    more = f" … ({len(nodes)})" if len(nodes) > _IDS else ""
    return ", ".join(f"#{node}" for node in nodes[:_IDS]) + more


_SHOWN = 30
_CELL = 'style="text-align: left; white-space: nowrap"'


def change_text(ns: float) -> str:
    """Format a difference with its sign: ``"+1.82 ms"``, ``"−340.0 µs"``, ``"0 ns"``."""
    size = duration_text(abs(ns))
    return size if not ns or math.isnan(ns) else f"{'+' if ns > 0 else '−'}{size}"


def p_text(p: float) -> str:
    """Format a p value with two significant digits, small ones as a bound: ``"0.0079"``."""
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"


def change_columns(rows: Sequence[TimeChange]) -> dict[str, Any]:
    """Return rows as columns of a data frame."""
    names = (
        *("label", "kind", "a", "b", "ns_a", "ns_b", "change_ns", "ratio", "p", "q"),
        *("shift_ns", "low_ns", "high_ns", "verdict", "why", "match"),
    )
    return columns_of(rows, names) | {"verdict": [row.verdict.label for row in rows]}


class TimeChanges(MadeSequence[TimeChange]):
    """Rows by size of their difference, largest first, unknown ones last."""

    noun = "operator"

    @property
    @abstractmethod
    def columns(self) -> ChangeColumns:
        """The rows as columns."""

    @property
    @abstractmethod
    def caption(self) -> tuple[str, ...]:
        """The sentences above the rows."""

    def __len__(self) -> int:
        return len(self.columns)

    def _item(self, at: int) -> TimeChange:
        return self.columns.row(at)

    def to_dataframe(self) -> Any:
        """Return one row per change as a ``pandas.DataFrame``, times in nanoseconds."""
        return data_frame(change_columns(list(self)))

    def __repr__(self) -> str:
        table = [[self.noun, *TITLES], *(row.cells() for row in self[:_SHOWN])]
        lines = text_lines(table)
        return "\n".join([*self.caption, *lines, *more_text(len(self), _SHOWN)])

    def _repr_html_(self) -> str:
        titles = "".join(f"<th {_CELL}>{html.escape(title)}</th>" for title in (self.noun, *TITLES))
        body = "".join(
            f'<tr title="{html.escape(row.why)}">'
            + "".join(f"<td {_CELL}>{html.escape(cell)}</td>" for cell in row.cells())
            + "</tr>"
            for row in self[:_SHOWN]
        )
        more = "".join(f"<p>{line}</p>" for line in more_text(len(self), _SHOWN))
        caption = "<br>".join(map(html.escape, self.caption))
        return (
            f"<p>{caption}</p><table><thead><tr>{titles}</tr></thead>"
            f"<tbody>{body}</tbody></table>{more}"
        )


@dataclass(frozen=True, eq=False)
class ChangeColumns:
    """R rows, the largest difference first, then by the nodes of `a`."""

    aligned: Aligned
    a: Samples
    b: Samples
    verdicts: Verdicts
    labels: Sequence[str]
    kinds: Sequence[str]
    shapes: Sequence[str]
    missing: str
    rounding_ns: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def of(
        cls,
        aligned: Aligned,
        nodes: tuple[NodeSamples, NodeSamples],
        words: tuple[Sequence[str], Sequence[str], Sequence[str]],
        missing: str,
    ) -> ChangeColumns:
        """Sum and test rows whose labels, kinds and shapes are given."""
        a, b = nodes[0].rows(aligned.a), nodes[1].rows(aligned.b)
        rounding = nodes[0].rounding_ns, nodes[1].rounding_ns
        return cls(aligned, a, b, judge(a, b, aligned), *words, missing, rounding)

    def __len__(self) -> int:
        return len(self.aligned)

    @cached_property
    def change_ns(self) -> Floats:
        """``b`` minus ``a``, in the order of the arrays."""
        return self.b.ns - self.a.ns

    @cached_property
    def order(self) -> npt.NDArray[np.int64]:
        """Index of each place's row in the arrays."""
        with np.errstate(invalid="ignore"):
            size = np.abs(self.change_ns)
        return np.argsort(-np.where(np.isnan(size), -1, size), kind="stable").astype(np.int64)

    def row(self, place: int) -> TimeChange:
        """Return the row at a place."""
        at = int(self.order[place])
        verdicts = self.verdicts
        ns_a, ns_b = float(self.a.ns[at]), float(self.b.ns[at])
        code = int(self.aligned.certainty[at])
        matched = code != NO_MATCH
        made = TimeChange(
            label=self.labels[at],
            kind=self.kinds[at],
            a=self.aligned.a.of(at),
            b=self.aligned.b.of(at),
            ns_a=ns_a,
            ns_b=ns_b,
            change_ns=ns_b - ns_a,
            ratio=ns_b / ns_a if ns_a > 0 else float("nan"),
            p=float(verdicts.p[at]),
            q=float(verdicts.q[at]),
            shift_ns=float(verdicts.shift[at]),
            low_ns=float(verdicts.low[at]),
            high_ns=float(verdicts.high[at]),
            verdict=TimeVerdict(int(verdicts.verdict[at])),
            ground=Ground(int(verdicts.ground[at])),
            certainty=Certainty(code) if matched else None,
            reason=Reason(int(self.aligned.reason[at])).label if matched else "",
            repeats_a=self.a.of(at),
            repeats_b=self.b.of(at),
            shape=self.shapes[at],
            rounding_ns=self.rounding_ns,
        )
        object.__setattr__(made, "why", why(made, verdicts.tests, self.missing))
        return made


def grouped(aligned: Aligned, group: npt.NDArray[np.int64], count: int) -> Aligned:
    """Return rows joined by group; matches are ignored."""
    sides = []
    for rows in (aligned.a, aligned.b):
        of_node = group[rows.row]
        order = np.lexsort((rows.nodes, of_node))
        starts = np.searchsorted(of_node[order], np.arange(count + 1)).astype(np.int64)
        sides.append(NodeRows(starts, rows.nodes[order]))
    both = (sides[0].sizes > 0) & (sides[1].sizes > 0)
    certainty = np.where(both, Certainty.EXACT, NO_MATCH).astype(np.uint8)
    return Aligned(sides[0], sides[1], certainty, np.zeros(count, np.uint8))


ONCE = "one repeat is no evidence of spread"  # note on a side with a single repeat


def against(n: int, m: int) -> str:
    """Format numbers of repeats: ``"5 against 5 repeats"``."""
    return f"{n:,} against {counted(m, 'repeat')}"

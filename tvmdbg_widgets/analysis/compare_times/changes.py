"""One row of a comparison of times: an operator, or all operators of a kind."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.compare_times.change_texts import (
    ONCE,
    against,
    change_text,
    p_text,
    ratio_text,
)
from tvmdbg_widgets.analysis.compare_times.rank_test import least_p
from tvmdbg_widgets.analysis.compare_times.verdicts import ALPHA, Ground, TimeVerdict
from tvmdbg_widgets.analysis.matching import Certainty, Reason
from tvmdbg_widgets.model.base.numbers import counted, duration_text
from tvmdbg_widgets.model.base.text import one_line

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TimeChange:
    """The time of some work in two runs.

    Attributes
    ----------
    label, kind : str
        The operators, and their kind: of the side that has fewer nodes, a fused function, else
        of `a`.
    a, b : tuple of int
        The nodes that do it, ascending; empty where one run does not.
    ns_a, ns_b : float
        Nanoseconds, sums of the nodes' times; 0 without nodes, NaN where none is known.
    change_ns : float
        ``ns_b - ns_a``.
    ratio : float
        ``ns_b / ns_a``; NaN where it is not known or `a` takes no time.
    p, q : float
        Two-sided p value of the Mann-Whitney test, and that corrected for the number of tests
        (Benjamini-Hochberg); NaN where not tested.
    shift_ns, low_ns, high_ns : float
        By how much a repeat of `b` is longer (Hodges-Lehmann), and an interval that holds it
        with 95 % confidence.
    verdict : Verdict
    why : str
        What the verdict rests on.
    certainty : Certainty or None
        How surely these nodes stand for each other, by the least sure; None where one run has
        none.
    reason : str
        What that rests on.
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
        """Both times as they are told."""
        a, b = self.rounding_ns
        return duration_text(self.ns_a, a), duration_text(self.ns_b, b)

    @property
    def match(self) -> str:
        """How surely these nodes stand for each other: ``"exact"``, ``"likely, by name"``, …."""
        if self.certainty is None:
            return ""
        named = f", {self.reason}" if self.reason == Reason.BY_NAME.label else ""
        return f"{self.certainty.label}{named}"

    @property
    def nodes(self) -> str:
        """Both sides by their ids: ``"#12 ~ #14, #15, #16"``."""
        told = [_ids(each) for each in (self.a, self.b) if each]
        return told[0] if len(told) == 2 and told[0] == told[1] else " ~ ".join(told)

    @property
    def brief_nodes(self) -> str:
        """Both sides by their first and last ids: ``"#12 ~ #14 … #16"``."""
        told = [_ends(each) for each in (self.a, self.b) if each]
        return told[0] if len(told) == 2 and told[0] == told[1] else " ~ ".join(told)

    def __repr__(self) -> str:
        return (
            f"TimeChange {one_line(self.label)!r} ({self.nodes}): {' → '.join(self.texts)}, "
            f"{change_text(self.change_ns)} "
            f"({ratio_text(self.ratio)}); {self.verdict.label}: {self.why}"
        )

    def cells(self) -> list[str]:
        """Return the row as texts, for tables."""
        return [
            f"{one_line(self.label)} {self.shape}".rstrip(),
            self.nodes + (f" ({self.match})" if self.match not in ("", "exact") else ""),
            self.texts[0] if self.a else "–",
            self.texts[1] if self.b else "–",
            change_text(self.change_ns),
            ratio_text(self.ratio) if self.a and self.b else "–",
            self.verdict.label,
            "–" if np.isnan(self.q) else p_text(self.q),
        ]


#: Titles of :meth:`TimeChange.cells` after the first.
TITLES = ("nodes A ~ B", "A", "B", "B − A", "Δ %", "verdict", "p corrected")
_IDS = 4


def why(row: TimeChange, tests: int, missing: str) -> str:
    """Return why a verdict is what it is, in one sentence."""
    n, m = len(row.repeats_a), len(row.repeats_b)
    ground = row.ground
    if ground in (Ground.TOLD, Ground.NOT_TOLD):
        sign = "≤" if ground is Ground.TOLD else ">"
        corrected = f", {p_text(row.q)} corrected for {counted(tests, 'comparison')}"
        told = f"p = {p_text(row.p)} ({against(n, m)}){corrected if tests > 1 else ''}"
        return f"{told}, {sign} {ALPHA}"
    if ground is Ground.CLOCK:
        return "the difference is below what the printed times resolve (1 ns each)"
    if ground is Ground.ODDS:
        return (
            f"the ranks of the repeats say {change_text(row.shift_ns)}, the means "
            f"{change_text(row.change_ns)}: a few repeats are outliers"
        )
    if ground is Ground.FEW:
        told = (
            f"{against(n, m)} can show nothing at {ALPHA}: the least possible p is "
            f"{p_text(least_p(n, m))}"
        )
        return f"{told}; {ONCE}" if min(n, m) == 1 else told
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

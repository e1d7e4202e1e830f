"""The rows of a comparison of times as columns, in the order in which they are told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.compare_times.aligned import NO_MATCH, Aligned
from tvmdbg_widgets.analysis.compare_times.changes import TimeChange, why
from tvmdbg_widgets.analysis.compare_times.samples import NodeSamples, Samples
from tvmdbg_widgets.analysis.compare_times.verdicts import Ground, TimeVerdict, Verdicts, judge
from tvmdbg_widgets.analysis.matching import Certainty, Reason

Floats = npt.NDArray[np.float64]


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
        """Sum up and test the rows, whose labels, kinds and shapes are given."""
        a = nodes[0].rows(aligned.offsets_a, aligned.nodes_a)
        b = nodes[1].rows(aligned.offsets_b, aligned.nodes_b)
        rounding = nodes[0].rounding_ns, nodes[1].rounding_ns
        return cls(aligned, a, b, judge(a, b, aligned), *words, missing, rounding)

    def __len__(self) -> int:
        return len(self.aligned)

    @cached_property
    def change_ns(self) -> Floats:
        """``b`` less ``a``, in the order of the arrays."""
        found: Floats = self.b.ns - self.a.ns
        return found

    @cached_property
    def order(self) -> npt.NDArray[np.int64]:
        """Row of the arrays at each place."""
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
            a=self.aligned.a(at),
            b=self.aligned.b(at),
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
    """Return rows of all nodes of the rows of each group; what it matches is not asked."""
    sides = []
    for offsets, nodes in (
        (aligned.offsets_a, aligned.nodes_a),
        (aligned.offsets_b, aligned.nodes_b),
    ):
        of_node = np.repeat(group, np.diff(offsets))
        order = np.lexsort((nodes, of_node))
        starts = np.searchsorted(of_node[order], np.arange(count + 1)).astype(np.int64)
        sides.append((starts, nodes[order]))
    both = (np.diff(sides[0][0]) > 0) & (np.diff(sides[1][0]) > 0)
    certainty = np.where(both, Certainty.EXACT, NO_MATCH).astype(np.uint8)
    return Aligned(*sides[0], *sides[1], certainty, np.zeros(count, np.uint8))

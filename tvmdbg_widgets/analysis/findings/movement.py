"""Time in functions that move or convert values: layout_transform, copies, casts.

A function of such operators alone costs what it takes; one that fuses them with others may cost
anything between nothing and all of its time for them. Below 1 % nothing is said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.findings import Certainty, Finding, Kind
from tvmdbg_widgets.model.numbers import counted, percent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tvmdbg_widgets.analysis.findings.evidence import Evidence

NAME = "data-movement"
_LEAST = 0.01
_WORK = {
    "layout_transform": frozenset(
        {"layout_transform", "auto_scheduler_layout_transform", "meta_schedule_layout_transform"}
    ),
    "transpose": frozenset({"transpose", "permute_dims", "swapaxes"}),
    "copies": frozenset({"__copy", "copy", "device_copy", "clone", "contiguous"}),
    "casts": frozenset({"cast", "cast_like", "astype"}),
}
_ADVICE = {
    "layout_transform": "Let neighbours agree on a layout (ConvertLayout, AlterOpLayout), or see "
    "why their schedules want different ones.",
    "transpose": "Transpose parameters once when compiling (FoldConstant), and see whether the "
    "nodes that read them can do with the other order.",
    "copies": "Look at the devices on both sides: fewer changes of device, fewer copies.",
    "casts": "See whether neighbours could work in one dtype (ToMixedPrecision).",
}


def find(evidence: Evidence) -> Iterable[Finding]:
    """Make one finding a kind of movement that matters."""
    made_of = {node: frozenset(evidence.operator_parts(node)) for node in evidence.timed}
    for work, names in _WORK.items():
        containing = [node for node, parts in made_of.items() if names & parts]
        share = float(evidence.shares[containing].sum()) if containing else 0.0
        if share < _LEAST:
            continue
        alone = [node for node in containing if names >= made_of[node]]
        own = float(evidence.shares[alone].sum()) if alone else 0.0
        facts = [
            f"alone in {counted(len(alone), 'node')} that {'takes' if len(alone) == 1 else 'take'} "
            f"{percent(own)}"
            if alone
            else "in no function alone",
        ]
        fused = [node for node in containing if not names >= made_of[node]]
        if fused:
            facts.append(
                f"fused with other operators in {counted(len(fused), 'node')} of "
                f"{percent(share - own)}, of which its part is not known"
            )
        slowest = sorted(containing, key=lambda node: -evidence.shares[node])
        facts.append(f"slowest: {evidence.list(slowest, 3)}")
        verb = "are" if work.endswith("s") else "is"
        yield Finding(
            NAME,
            Kind.COST,
            f"{work} {verb} in functions that take {percent(share)} of the time",
            tuple(facts),
            Certainty.POSSIBLE if fused or evidence.unplaced else Certainty.CERTAIN,
            "these functions do nothing else"
            if not fused
            else f"certain are {percent(own)}; the time of fused functions cannot be split",
            tuple(slowest),
            (),
            _ADVICE[work],
            own,
        )


RULE = Rule(NAME, find)

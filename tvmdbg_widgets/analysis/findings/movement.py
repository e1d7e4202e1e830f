"""Time in functions that do nothing but move or convert values: layout_transform, copies, casts.

What a function that fuses them with others spends on them is not known, so it makes no finding.
Below 1 % nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.numbers import counted, percent
from tvmdbg_widgets.model.verdicts.findings import Finding, Severity

MOVEMENT_NAME = "data-movement"
_LEAST = 0.01
_WORK = {
    "layout_transform": frozenset(
        {"layout_transform", "auto_scheduler_layout_transform", "meta_schedule_layout_transform"}
    ),
    "transpose": frozenset(
        {"transpose", "permute_dims", "swapaxes", "permute_copy", "transpose_copy", "t_copy"}
    ),
    "copies": frozenset(
        {
            *("__copy", "copy", "device_copy", "clone", "contiguous"),
            *("_clone_dim_order", "expand_copy", "view_copy", "slice_copy"),
        }
    ),
    "casts": frozenset({"cast", "cast_like", "astype", "_to_copy", "_to_dim_order_copy"}),
}
_ADVICE = {
    "layout_transform": "Make neighbors use the same layout (ConvertLayout, AlterOpLayout), or "
    "check why their schedules need different ones.",
    "transpose": "Transpose parameters at compile time (FoldConstant), or let consumers take the "
    "other axis order.",
    "copies": "Check the devices on both sides: fewer device changes, fewer copies.",
    "casts": "Check whether neighbors can use the same dtype (ToMixedPrecision).",
}
_ADVICE_ON_EXECUTORCH = {
    "layout_transform": "Keep one memory format from end to end.",
    "transpose": "Compute transposed weights once (constant_prop_pass), or let a delegate take "
    "the whole layer.",
    "copies": "Check whether a view would do: memory planning removes views of a fixed shape.",
    "casts": "Check whether neighbors can use the same dtype and memory format.",
}


def find_movement(evidence: RunEvidence) -> Iterable[Finding]:
    """Make one finding a kind of movement that certainly matters."""
    made_of = {node: frozenset(evidence.operator_parts(node)) for node in evidence.timed}
    for work, names in _WORK.items():
        containing = [node for node, parts in made_of.items() if names & parts]
        alone = [node for node in containing if names >= made_of[node]]
        own = float(evidence.shares[alone].sum()) if alone else 0.0
        if own < _LEAST:
            continue
        alone.sort(key=lambda node: -evidence.shares[node])
        facts = [f"{counted(len(alone), 'node')}: {evidence.list(alone, 3)}"]
        fused = [node for node in containing if not names >= made_of[node]]
        if fused:
            facts.append(
                f"also fused into {counted(len(fused), 'node')} with "
                f"{percent(float(evidence.shares[fused].sum()))} of the time; its part of that is "
                "unknown"
            )
        yield Finding(
            MOVEMENT_NAME,
            Severity.HOTSPOT,
            f"Data movement ({work}) takes {percent(own)} of the time: {evidence.list(alone, 2)}",
            tuple(facts),
            evidence.confidence_in_shares,
            "operators are read from function names; fused functions are not counted"
            + evidence.inflated,
            tuple(alone),
            (),
            (_ADVICE_ON_EXECUTORCH if evidence.of_executorch else _ADVICE)[work],
            own,
        )


MOVEMENT = Rule(MOVEMENT_NAME, find_movement, Basis.TIMES)

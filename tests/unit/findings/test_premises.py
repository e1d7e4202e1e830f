"""No finding is surer than its weakest premise: every rule, with each premise weakened in turn."""

import dataclasses
from collections.abc import Callable
from types import MappingProxyType

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.unit.findings.test_findings_rules import CASES, overlapping
from tvmdbg_widgets.analysis.findings import RULES
from tvmdbg_widgets.analysis.findings.rule import Basis
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.model.base.text import Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.findings import Confidence, Finding, Premise
from tvmdbg_widgets.model.findings import Severity as Grade
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.tensors.tensors import Tensor, Tensors
from tvmdbg_widgets.run import DebugRun

RULE_OF = {rule.name: rule for rule in RULES}
DOUBT = Issue("stale-tensors", IssueSeverity.WARNING, "run() was called twice")


def other_trust(parts: RunParts, trust: Trust) -> RunParts:
    found = (
        Tensor(each.record, each.node, each.output, name=each.name, trust=trust)
        for each in parts.tensors.values()
    )
    return dataclasses.replace(parts, tensors=Tensors(found))


def other_edges(parts: RunParts) -> RunParts:
    trust = np.full(parts.graph.num_edges, Trust.BY_ORDER, np.uint8)
    return dataclasses.replace(parts, graph=dataclasses.replace(parts.graph, edge_trust=trust))


def uncertain(parts: RunParts) -> RunParts:
    attrs = tuple(MappingProxyType({**each, "uncertain": "a life"}) for each in parts.graph.attrs)
    return dataclasses.replace(parts, graph=dataclasses.replace(parts.graph, attrs=attrs))


def other_times(parts: RunParts) -> RunParts:
    trust = np.full(len(parts.timeline.node_trust), Trust.AMBIGUOUS, np.uint8)
    return dataclasses.replace(
        parts, timeline=dataclasses.replace(parts.timeline, node_trust=trust)
    )


def twice(parts: RunParts) -> RunParts:
    return dataclasses.replace(parts, issues=Issues([*parts.issues, DOUBT]))


WEAKENED: dict[str, tuple[Basis, Callable[[RunParts], RunParts]]] = {
    "tensors matched ambiguously": (
        Basis.TENSORS | Basis.ALL_TENSORS,
        lambda parts: other_trust(parts, Trust.AMBIGUOUS),
    ),
    "tensors matched by order": (
        Basis.TENSORS | Basis.ALL_TENSORS,
        lambda parts: other_trust(parts, Trust.BY_ORDER),
    ),
    "tensors of another run": (Basis.TENSORS | Basis.ALL_TENSORS, twice),
    "edges by order": (Basis.EDGES | Basis.ALL_EDGES | Basis.SLOTS, other_edges),
    "uncertain nodes": (Basis.EDGES | Basis.ALL_EDGES | Basis.SLOTS, uncertain),
    "times matched ambiguously": (Basis.TIMES, other_times),
}


@pytest.mark.parametrize("weakness", WEAKENED)
@pytest.mark.parametrize("rule", CASES)
def test_finding_on_weakened_premise_is_not_high_confidence(rule: str, weakness: str) -> None:
    basis, weaken = WEAKENED[weakness]
    if not RULE_OF[rule].rests_on & basis:
        return
    run: DebugRun = CASES[rule][0]()
    sound = list(run.findings(progress=False).by_rule(rule))
    weak = tvmdbg.DebugRun(weaken(run.parts)).findings(progress=False).by_rule(rule)
    assert sound
    for finding in weak:
        assert finding.confidence is not Confidence.HIGH, finding


def test_guessed_roles_lower_confidence() -> None:
    from tests.unit.findings.findings_dump import Op, plant
    from tests.unit.findings.test_findings_rules import ramp, relu

    bad = ramp(8)
    bad[0] = np.nan
    run = plant(Op("x", bad), Op("p0", ramp(8)), relu(bad, reads=((0, 0), (1, 0))))
    (guessed,) = run.findings(progress=False).by_rule("first-nonfinite")
    assert guessed.confidence is Confidence.MEDIUM
    assert "no params file lists the parameters among the inputs" in guessed.why
    told = dataclasses.replace(run.parts, graph=run.graph.with_parameters(["p0"]))
    (sure,) = tvmdbg.DebugRun(told).findings(progress=False).by_rule("first-nonfinite")
    assert sure.confidence is Confidence.HIGH


def test_unconfirmed_slot_list_has_medium_confidence() -> None:
    (told,) = overlapping().findings(progress=False).by_rule("lost-values")
    assert told.confidence is Confidence.MEDIUM
    assert "too few outputs" in told.why


def test_the_weakest_premise_counts() -> None:
    sure = Finding(Grade.ERROR, "t", (), Confidence.HIGH, "why")
    weak = [Premise(Confidence.LOW, "a"), Premise(Confidence.MEDIUM, "b")]
    assert sure.resting_on(weak).confidence is Confidence.LOW
    assert sure.resting_on(weak).why == "why; a; b"
    assert sure.resting_on([Premise(Confidence.HIGH, "c")]) == sure
    low = dataclasses.replace(sure, confidence=Confidence.LOW)
    assert low.resting_on(weak[1:]).confidence is Confidence.LOW

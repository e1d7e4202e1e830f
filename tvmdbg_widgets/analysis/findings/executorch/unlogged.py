"""Operators and outputs without a value in an execution that logged values.

Kernels log all of their outputs (``codegen/gen.py`` @ v1.4.1). Of what runs inside of a delegate
the runtime knows nothing, and what memory planning made a view has no instruction.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, and_more, cut
from tvmdbg_widgets.analysis.findings.executorch.recorded import RecordedDump
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.executorch.delegate_calls import is_of_delegate
from tvmdbg_widgets.model.executorch.etdump import EventKind
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

UNLOGGED_NAME = "unlogged-values"


def find_unlogged(evidence: RunEvidence) -> Iterable[Finding]:
    """Make a finding of kernels, one of program outputs, and one of what need not log."""
    recorded, graph, tensors = evidence.recorded, evidence.parts.graph, evidence.parts.tensors
    if recorded is None or graph is None or not tensors:
        return
    dump = recorded.dump
    kernels = np.array([each.startswith("native_call_") for each in dump.names.unique] or [False])
    logged = _nodes(recorded, dump.kind == EventKind.DEBUG)
    silent = sorted(_nodes(recorded, kernels[dump.names.codes]) - logged) if logged else []
    if silent:
        yield _silent(evidence, silent)
    run = recorded.dump.events_of(recorded.files.execution)
    values = (recorded.dump.values[event] for event in run if event in recorded.dump.values)
    if not any(each.output for each in values):
        yield Finding(
            UNLOGGED_NAME,
            Severity.INFO,
            "No output of the program was logged",
            (f"the graph has {counted(len(graph.heads), 'output')}",),
            Confidence.HIGH,
            "this execution logged other values",
            tuple(dict.fromkeys(graph.heads[:, 0].tolist())),
            weight=0.5,
        )
    have = {node for node, _ in tensors} | _nodes(recorded, dump.kind == EventKind.PROFILE)
    computed = np.flatnonzero(graph.kinds >= NodeKind.OPERATOR).tolist()
    sets, calls = recorded.nodes.sets, recorded.nodes.calls.values()
    taken = {node for number in calls for node in sets[number]}
    inside = [node for node in computed if node in taken and node not in have]
    without = [node for node in computed if node not in taken | have]
    if inside:
        yield _unlogged(
            evidence,
            inside,
            "inside of delegates",
            "the runtime cannot see them: a delegate logs what it likes",
            "A delegate can log them with event_tracer_log_output_delegate.",
        )
    if without:
        yield _unlogged(
            evidence,
            without,
            "that did not run" if graph.form == "program" else "without an instruction",
            "no event of this execution is of them; memory planning removes views of a fixed shape",
        )


def _nodes(recorded: RecordedDump, wanted: npt.NDArray[np.bool_]) -> set[int]:
    """Return the nodes of some events of instructions in the shown execution, not of delegates."""
    dump, nodes = recorded.dump, recorded.nodes
    run = recorded.files.execution
    own = wanted & (dump.chain_index >= 0) & ~is_of_delegate(dump)
    own[: dump.run_offsets[run]] = False
    own[dump.run_offsets[run + 1] :] = False
    numbers = set(nodes.set_of[own].tolist()) - {-1, *nodes.calls.values()}
    return {node for number in numbers for node in nodes.sets[number]}


def _silent(evidence: RunEvidence, nodes: list[int]) -> Finding:
    return Finding(
        UNLOGGED_NAME,
        Severity.WARNING,
        f"{evidence.name(nodes[0])} ran but logged no value{and_more(len(nodes) - 1, 'operator')}",
        cut([evidence.name(node) for node in nodes]),
        Confidence.HIGH,
        "other kernels of this execution logged theirs",
        tuple(nodes),
        (),
        "Kernels that are registered without ExecuTorch's generated wrapper do not log.",
        0.65,
    )


def _unlogged(
    evidence: RunEvidence, nodes: list[int], which: str, why: str, step: str = ""
) -> Finding:
    verb = agree(len(nodes), "has")
    return Finding(
        UNLOGGED_NAME,
        Severity.INFO,
        f"{counted(len(nodes), 'operator')} {which} {verb} no value in this dump",
        (evidence.list(nodes, 8),),
        Confidence.HIGH,
        why,
        tuple(nodes),
        (),
        step,
        0.55,
    )


UNLOGGED = Rule(UNLOGGED_NAME, find_unlogged, Basis.ALL_TENSORS)

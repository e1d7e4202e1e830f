"""Rules on events of a dump: values that were not logged, loading, and repeated events.

Kernels log all of their outputs (``codegen/gen.py`` @ v1.4.1). The runtime knows nothing of a
delegate's inside, and a view from memory planning has no instruction.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.executorch.time_scale import RunPattern, RunPatterns
from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, and_more, cut
from tvmdbg_widgets.analysis.findings.executorch.recorded import RecordedDump, shortened
from tvmdbg_widgets.analysis.findings.rule import Basis, rule
from tvmdbg_widgets.model.base.numbers import agree, counted, duration_text, fixed
from tvmdbg_widgets.model.executorch.etdump import ETDump, EventKind, is_of_delegate, named
from tvmdbg_widgets.model.findings import Confidence, Finding, Severity
from tvmdbg_widgets.model.graph.nodes import NodeKind


@rule("unlogged-values", Basis.ALL_TENSORS)
def find_unlogged(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield findings of kernels, of program outputs, and of values that need not be logged."""
    recorded, graph, tensors = evidence.recorded, evidence.parts.graph, evidence.parts.tensors
    if recorded is None or graph is None or not tensors:
        return
    dump = recorded.dump
    kernels = np.array([name.startswith("native_call_") for name in dump.names.unique] or [False])
    logged = _framework_nodes(recorded, dump.kind == EventKind.DEBUG)
    silent = (
        sorted(_framework_nodes(recorded, kernels[dump.names.codes]) - logged) if logged else []
    )
    if silent:
        yield _silent(evidence, silent)
    run = recorded.dump.events_of(recorded.files.execution)
    values = (recorded.dump.values[event] for event in run if event in recorded.dump.values)
    if not any(value.output for value in values):
        yield Finding(
            Severity.INFO,
            "No output of the program was logged",
            (f"the graph has {counted(len(graph.heads), 'output')}",),
            Confidence.HIGH,
            "this execution logged other values",
            tuple(dict.fromkeys(graph.heads[:, 0].tolist())),
            weight=0.5,
        )
    have = {node for node, _ in tensors} | _framework_nodes(
        recorded, dump.kind == EventKind.PROFILE
    )
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
            "the runtime does not see inside delegates; a delegate decides what it logs",
            "A delegate can log them with event_tracer_log_output_delegate.",
        )
    if without:
        yield _unlogged(
            evidence,
            without,
            "that did not run" if graph.form == "program" else "without an instruction",
            "this execution has no event for them; memory planning removes views of a fixed shape",
        )


def _framework_nodes(recorded: RecordedDump, wanted: npt.NDArray[np.bool_]) -> set[int]:
    dump, nodes = recorded.dump, recorded.nodes
    run = recorded.files.execution
    own = wanted & (dump.chain_index >= 0) & ~is_of_delegate(dump)
    own[: dump.run_offsets[run]] = False
    own[dump.run_offsets[run + 1] :] = False
    numbers = set(nodes.set_of[own].tolist()) - {-1, *nodes.calls.values()}
    return {node for number in numbers for node in nodes.sets[number]}


def _silent(evidence: RunEvidence, nodes: list[int]) -> Finding:
    return Finding(
        Severity.WARNING,
        f"{evidence.name(nodes[0])} ran but logged no value{and_more(len(nodes) - 1, 'operator')}",
        cut([evidence.name(node) for node in nodes]),
        Confidence.HIGH,
        "other kernels of this execution logged theirs",
        tuple(nodes),
        next_step="Kernels that are registered without ExecuTorch's generated wrapper do not log.",
        weight=0.65,
    )


def _unlogged(
    evidence: RunEvidence, nodes: list[int], which: str, why: str, step: str = ""
) -> Finding:
    verb = agree(len(nodes), "has")
    return Finding(
        Severity.INFO,
        f"{counted(len(nodes), 'operator')} {which} {verb} no value in this dump",
        (evidence.list(nodes, 8),),
        Confidence.HIGH,
        why,
        tuple(nodes),
        next_step=step,
        weight=0.55,
    )


_LEAST = 2
_LOAD, _INIT, _EXECUTE = "Program::load_method", "Method::init", "Method::execute"


@rule("load-time", Basis.FILES)
def find_load_time(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding where loading takes longer than some executions."""
    recorded = evidence.recorded
    if recorded is None:
        return
    loads, inits, runs = (_durations(recorded, name) for name in (_LOAD, _INIT, _EXECUTE))
    loading = float((loads if len(loads) else inits).sum())  # loading includes initializing
    mean = float(runs.mean()) if len(runs) else 0.0
    if not 0 < _LEAST * mean < loading:
        return
    facts = [
        f"{name}: {duration_text(float(took.sum()))}"
        + (f" in {counted(len(took), 'call')}" if len(took) > 1 else "")
        for name, took in ((_LOAD, loads), (_INIT, inits))
        if len(took)
    ]
    facts.append(
        f"{_EXECUTE}: {duration_text(mean)}"
        + (f", the mean of {counted(len(runs), 'execution')}" if len(runs) > 1 else "")
    )
    yield Finding(
        Severity.INFO,
        f"Loading the method took {duration_text(loading)}, {fixed(loading / mean, 1)}× one "
        "execution",
        tuple(facts),
        Confidence.MEDIUM if evidence.inflated else Confidence.HIGH,
        "both were timed by the runtime" + evidence.inflated,
        next_step="Load a method once and run it often. Delegates prepare their work while it "
        "loads.",
        weight=0.45,
    )


def _durations(recorded: RecordedDump, name: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    dump = recorded.dump
    framework = (dump.kind == EventKind.PROFILE) & named(dump, name) & (dump.chain_index < 0)
    took: np.ndarray[tuple[int], np.dtype[np.float64]] = recorded.took[framework]
    return took


@rule("repeated-events", Basis.FILES)
def find_repeated_events(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding of all repeated events."""
    recorded = evidence.recorded
    if recorded is None:
        return
    dump = recorded.dump
    lost = 0
    most: dict[int, int] = {}
    known: dict[RunPattern, dict[int, int]] = {}
    for run, pattern in RunPatterns(dump, compat=True):
        if pattern not in known:
            known[pattern] = {
                event.profiles[0]: len(event.profiles)
                for event in pattern.events
                if len(event.profiles) > 1
            }
            start = int(dump.run_offsets[run])
            most |= {start + at: times for at, times in known[pattern].items()}
        lost += sum(known[pattern].values()) - len(known[pattern])
    if not lost:
        return
    first = max(most, key=lambda event: most[event])
    whole = int((dump.kind == EventKind.PROFILE).sum())
    nodes = dict.fromkeys(node for event in most for node in recorded.nodes.of(event))
    yield Finding(
        Severity.INFO,
        f"The Inspector would leave out {lost:,} of {counted(whole, 'event')}: {_name(dump, first)}"
        f" occurs {counted(most[first], 'time')} in a run; here all are kept",
        cut(
            list(
                dict.fromkeys(
                    f"{_name(dump, event)} in {_place(dump, event)}: {counted(times, 'time')}"
                    for event, times in most.items()
                )
            )
        ),
        Confidence.HIGH,
        "the Inspector takes events of one run with the same name, identifier and instruction for "
        "one and keeps the last",
        tuple(nodes),
        next_step="run.timeline.to_dataframe() lists every event.",
        weight=0.4,
    )


def _name(dump: ETDump, event: int) -> str:
    return shortened(dump.title(event) or dump.names[event]) or "an event without a name"


def _place(dump: ETDump, event: int) -> str:
    at = dump.place(event)
    return dump.place_text(at) if at[0] >= 0 else "the framework"

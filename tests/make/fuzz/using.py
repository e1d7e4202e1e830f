"""What a person does with what was opened: shows, asks, compares, saves and exports it."""

import contextlib
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

import tvmdbg_widgets as tvmdbg
from tests.formats.executorch.delegate_payloads import assert_sound
from tests.formats.tvm.graph_truth import assert_consistent
from tvmdbg_widgets.answers.answers import Answers
from tvmdbg_widgets.formats.executorch.delegates.families import (
    ConstantBytes,
    graphs_of,
    payload_text,
)
from tvmdbg_widgets.model.executorch.delegate_graph import DelegateGraph
from tvmdbg_widgets.model.executorch.scalar_types import TorchTensor
from tvmdbg_widgets.model.graph.graph import Graph

#: Characters. Lists in messages are cut; a name is quoted in part.
LONGEST_MESSAGE = 5_000
VIEWS = ("graph", "tensor", "timeline", "memory", "debugger")
#: What the views of a run ask first, and the charts that one may turn to.
ASKED = ("summary", "graph", "facts", "tensors", "timeline", "health", "memory", "findings")
ASKED += ("roofline", "critical", "flows", "counters")


class LongMessageError(Exception):
    """A message is longer than anybody reads."""


def use_any(found: Any) -> None:
    """Use what was opened."""
    match found:
        case tvmdbg.DebugRun():
            _use_run(found)
        case tvmdbg.TuningLog():
            _use_log(found)
        case tvmdbg.RpcLog():
            _use_rpc(found)
        case _:
            repr(found).encode("utf-8", "surrogateescape")


def use_opened(found: Any) -> None:
    """Use what was opened as far as no figure is drawn and nothing is written."""
    repr(found).encode()
    match found:
        case tvmdbg.DebugRun():
            _look_at(found)
        case tvmdbg.TuningLog():
            _told(found.trials, found.tasks, *map(found.record, range(min(3, len(found)))))
            _issues(found.issues)
        case tvmdbg.RpcLog():
            _told(found.conversation, found.functions, found.desync)
            _issues(found.issues)
        case Graph():
            assert_consistent(found)
        case DelegateGraph():
            assert_sound(found)
        case TorchTensor():
            found.numpy()
        case dict() | list() | tuple():
            for each in found.values() if isinstance(found, dict) else found:
                use_opened(each)


def _look_at(run: tvmdbg.DebugRun) -> None:
    _told(run.graph, run.tensors, run.timeline, run.provenance, run.reports)
    _issues(run.check())
    check_message(run.summary()[:LONGEST_MESSAGE])
    if run.graph is not None:
        assert_consistent(run.graph)
    for tensor in list((run.tensors or {}).values())[:3]:
        with contextlib.suppress(tvmdbg.FormatError):
            tensor.numpy()
    if run.parts.executorch is not None:
        _absent(lambda: run.program)


def check_message(text: str) -> None:
    """Require a message that can be printed and read."""
    text.encode()
    if len(text) > LONGEST_MESSAGE:
        raise LongMessageError(f"{len(text):,} characters: {text[:200]!r}…")


def _told(*parts: Any) -> None:
    for part in parts:
        repr(part).encode()


def _absent(ask: Callable[[], Any]) -> Any:
    """Return an answer, None where the run has no such thing, as a sentence says."""
    try:
        return ask()
    except (ValueError, tvmdbg.FormatError) as problem:
        if type(problem) not in (ValueError, tvmdbg.FormatError):
            raise
        check_message(str(problem))
        return None


def _issues(issues: Iterable[Any]) -> None:
    for issue in list(issues)[:50]:
        check_message(issue.message)


def _use_run(run: tvmdbg.DebugRun) -> None:
    run._repr_mimebundle_()
    _told(run, run.graph, run.tensors, run.timeline, run.provenance, run.reports, run.tables)
    _issues(run.check())
    check_message(run.summary()[:LONGEST_MESSAGE])
    _told(run.findings(progress=False), run.health(progress=False))
    run.table()._repr_html_().encode()
    str(run.report()).encode()
    for view in VIEWS:
        run.figure(view).svg.encode()
    _use_tensors(run)
    _ask(run)
    if run.parts.executorch is not None:
        _use_executorch(run)
    if run.graph is not None and run.graph.num_nodes and run.tensors:
        _told(_absent(lambda: tvmdbg.compare(run, run)))
    if run.timeline is not None and run.timeline.num_slices:
        _told(_absent(lambda: run.compare_times(run)))
    with tempfile.TemporaryDirectory() as folder:
        _export(run, Path(folder))
    run.debugger().close()


def _ask(run: tvmdbg.DebugRun) -> None:
    answers = Answers(run.facts)
    for kind in ASKED:
        answers.answer({"kind": kind, "id": "1"})
    answers.close()


def _use_tensors(run: tvmdbg.DebugRun) -> None:
    """Statistics and pictures of the first tensors, and their values where they are few."""
    for tensor in list((run.tensors or {}).values())[:3]:
        _told(tensor, tensor.readings)
        if tensor.size <= 1_000_000 and tensor.complete:
            with contextlib.suppress(tvmdbg.FormatError):
                tensor.numpy()
    for node, output in list(run.tensors or {})[:2]:
        if run.graph is not None and isinstance(node, int):
            _absent(lambda node=node, output=output: run.figure("tensor", entry=(node, output)))


def _use_executorch(run: tvmdbg.DebugRun) -> None:
    reference = _absent(lambda: run.reference)
    if reference is not None:
        _told(reference.findings(progress=False), reference.health(progress=False))
        reference.figure("tensor").svg.encode()
        _told(_absent(lambda: tvmdbg.compare(reference, run)))
    delegation = _absent(lambda: run.delegation)
    if delegation is not None:
        _told(delegation, delegation.left_out())
    program = _absent(lambda: run.program)
    if program is not None:
        _told(program, *program.plans[:3])
        _use_delegates(program, run.parts.executorch.program_source)
    inspector = _absent(lambda: run.inspector)
    if inspector is not None:
        _told(inspector, inspector.deviations)
        _absent(inspector.to_dataframe)


def _use_delegates(program: Any, source: Any) -> None:
    """Read the payloads, whose graphs have no circle and name only values that are there."""
    graphs, issues = graphs_of(program, source)
    _issues(issues)
    constants = ConstantBytes(program, source)
    for plan in program.plans[:3]:
        for delegate in plan.delegates[:20]:
            _told(payload_text(source, delegate))
    for graph in graphs.values():
        _told(graph, *graph.nodes[:3], *list(graph.values.values())[:3])
        assert all({*node.reads, *node.writes} <= graph.values.keys() for node in graph.nodes)
        for constant in graph.constants[:20]:
            constants.of(constant)


def _export(run: tvmdbg.DebugRun, below: Path) -> None:
    run.save_html(below / "run.html")
    with contextlib.suppress(tvmdbg.FormatError):  # what cannot be unpacked cannot be copied
        run.save(below / "kept")
        tvmdbg.open(below / "kept")
    if run.graph is not None and run.graph.num_nodes:
        run.to_dot().encode()
        run.to_model_explorer().save(below / "model.json")
        with contextlib.suppress(tvmdbg.FormatError):
            run.extract(range(min(3, run.graph.num_nodes)), below / "mini")
    if run.timeline is not None:
        run.to_chrome_trace(below / "trace.json")


def _use_log(log: tvmdbg.TuningLog) -> None:
    _told(log, log.trials, log.tasks, log.issues, log.findings(), log.task_table())
    _issues(log.issues)
    log.to_dataframe()
    log.select("error:6")
    for row in range(min(3, len(log))):
        _told(log.record(row))
        if log.tasks[log.trials.task[row]].tuner == "ansor":
            _told(log.schedule(row))
    log.figure().svg.encode()
    with tempfile.TemporaryDirectory() as folder:
        log.save_html(Path(folder, "log.html"))
        one_tuner = len({task.tuner for task in log.tasks}) == 1
        # Workloads of several databases have the same numbers.
        if one_tuner and len(np.unique(log.trials.source)) == 1:
            log.write(Path(folder, "again.json"))
            assert len(tvmdbg.open_tuning(Path(folder, "again.json"))) == len(log)


def _use_rpc(log: tvmdbg.RpcLog) -> None:
    _told(log, log.issues, log.conversation, log.functions, log.desync, log.timeline)
    _issues(log.issues)
    log.to_dataframe()
    log._repr_mimebundle_()
    _told(*log[:3])
    log.figure().svg.encode()
    if log.timeline is not None:
        log.flamechart().close()
        with tempfile.TemporaryDirectory() as folder:
            log.run().save_html(Path(folder, "run.html"))

"""What was opened, shown, saved and closed is freed: memory, files, threads, widgets."""

import contextlib
import ctypes
import gc
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from formats.capture_files import frame, pcap
from formats.rpc.captured import segments
from formats.rpc.rpc_cases import conversation

import tvmdbg_widgets as tvmdbg
from tests.make.fuzz.seeds import made_tunings
from tests.mostly_slow import mostly_slow
from tvmdbg_widgets.formats.rpc.grammar import grammar
from tvmdbg_widgets.widgets.run_model import model_of

DATA = Path(__file__).parents[2] / "data"
DUMP = [
    DATA / "graph/split_multi_v0.19/_tvmdbg_graph_dump.json",
    *sorted((DATA / "times/split_multi_v0.19").iterdir()),
]
ROUNDS, MOST_MB, WARM_UP = 50, 5, 8
SECONDS = 20.0
VIEWS = (tvmdbg.GraphView, tvmdbg.TensorInspector, tvmdbg.Flamechart, tvmdbg.MemoryView)
QUESTIONS = ("graph", "timeline", "findings", "health", "memory")


def shown(view: Any, page: Path | None) -> Any:
    """Show a view as a notebook does, draw it, save it, and close it."""
    view._repr_mimebundle_()
    view.figure()
    if page is not None:
        view.save_html(page)
    view.close()
    return weakref.ref(view)


def show_run(run: tvmdbg.DebugRun, folder: Path) -> list[Any]:
    """Ask, show and save a run as users do; return what must be gone then."""
    asked = run.debugger()
    for kind in QUESTIONS:
        asked.run._handle_custom_msg({"id": kind, "kind": kind}, [])
    run._repr_mimebundle_()
    found = [shown(asked, None)]
    run.findings()
    run.save_html(folder / "page.html")
    found += [weakref.ref(run.session), weakref.ref(model_of(run.facts))]
    return [*found, *map(weakref.ref, filter(None, (run, run.graph, run.tensors, run.timeline)))]


def use_run(run: tvmdbg.DebugRun, folder: Path) -> list[Any]:
    """Show, save and export a run in every way there is; return what must be gone then."""
    found = [shown(view(run), None) for view in VIEWS]
    run.session.selected = [0]
    run.figure("debugger").save(folder / "figure.png")
    run.embed()
    run.report().save(folder / "report.md")
    run.to_chrome_trace(folder / "trace.json")
    run.to_dot()
    run.to_model_explorer().save(folder / "model.json")
    plot = tvmdbg.plots.link(tvmdbg.plots.times(run), run)
    plot._repr_mimebundle_()
    plot.close()
    copy = folder / f"copy{len(list(folder.iterdir()))}"
    run.save(copy)
    run.extract([1, 2], folder / f"mini{copy.name}")
    return [*found, *map(weakref.ref, (plot, tvmdbg.open(copy))), *show_run(run, folder)]


def use_log(log: tvmdbg.TuningLog, folder: Path) -> list[Any]:
    """Do with a tuning log what users do; return what must be gone then."""
    page = folder / "page.html"
    view = log.view()
    view.log._handle_custom_msg({"id": "a", "kind": "tuning"}, [])
    found = [weakref.ref(view.log), shown(view, page)]
    log.figure().save(folder / "figure.svg")
    log.save_html(page)
    log.findings()
    log.task_table()
    log.to_dataframe()
    log.write(folder / "again.json")
    return [*found, weakref.ref(log), weakref.ref(log.trials)]


def sample(folder: Path) -> list[Any]:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    found = shown(tvmdbg.GraphView(run), folder / "page.html")
    run.save_html(folder / "page.html")
    return [found, weakref.ref(run), weakref.ref(run.tensors)]


def executorch(folder: Path) -> list[Any]:
    run = tvmdbg.open(DATA / "executorch/01_mlp_portable")
    run.inspector.to_dataframe()
    run.inspector.save_data_to_tsv(folder / "events.tsv")
    return [weakref.ref(run.inspector), weakref.ref(run.reference), *show_run(run, folder)]


def comparison(folder: Path) -> list[Any]:
    a, b = tvmdbg.open(DUMP), tvmdbg.open(DUMP)
    found = [shown(tvmdbg.ComparisonView(a, b), folder / "page.html")]
    times = tvmdbg.compare_times(a, b)
    found.append(shown(tvmdbg.Flamechart(times.run), None))
    colored = tvmdbg.GraphView(a)
    colored.color_by(times)
    found.append(shown(colored, None))
    compared = tvmdbg.compare(a, b)
    return [*found, *map(weakref.ref, (a, b, a.session, model_of(b.facts), times, compared))]


def tuning(kind: str) -> Callable[[Path], list[Any]]:
    def used(folder: Path) -> list[Any]:
        files = next(each for each in made_tunings() if each.kind == kind)
        with files.opened() as given:
            return use_log(tvmdbg.open_tuning(given), folder)

    return used


def followed(folder: Path) -> list[Any]:
    path = folder / "ansor.json"
    (line, *_) = next(each for each in made_tunings() if each.kind == "Ansor log").contents.values()
    path.write_bytes(line)
    log = tvmdbg.open_tuning(path)
    view = log.view().follow(0.01)
    with path.open("ab") as file:
        file.write(b"\n" + line)
    assert settled(lambda: len(view.tuning_log) > len(log))
    return [weakref.ref(log), weakref.ref(view.tuning_log), shown(view, folder / "page.html")]


def rpc(folder: Path) -> list[Any]:
    own = grammar("v0.8")
    frames = [frame(each.ip()) for each in segments(*conversation(own), own)]
    capture = folder / "rpc.pcap"
    capture.write_bytes(pcap(frames))
    log = tvmdbg.open_rpc(capture)
    log._repr_mimebundle_()
    log.figure().save(folder / "rpc.svg")
    log.to_dataframe()
    waits = log.run()
    chart = shown(log.flamechart(), folder / "page.html")
    return [weakref.ref(log), chart, *show_run(waits, folder)]


KINDS: dict[str, Callable[[Path], list[Any]]] = {
    "debugger": lambda folder: use_run(tvmdbg.open(DUMP), folder),
    "sample": sample,
    "executorch": executorch,
    "chrome": lambda folder: show_run(tvmdbg.open(DATA / "chrome/viztracer.json"), folder),
    "params": lambda folder: show_run(
        tvmdbg.open(min((DATA / "params/zoo").glob("*.params"))), folder
    ),
    "ansor": tuning("Ansor log"),
    "autotvm": tuning("AutoTVM log"),
    "metaschedule": tuning("MetaSchedule"),
    "followed": followed,
    "rpc": rpc,
    "comparison": comparison,
}


def held(folder: Path) -> dict[str, int]:
    """Count what a process may hold of what is closed."""
    from ipywidgets.widgets.widget import _instances

    files = []
    for each in Path("/proc/self/fd").glob("*"):
        with contextlib.suppress(OSError):
            files.append(each.readlink())
    ours = [each for each in files if each.is_relative_to(DATA) or each.is_relative_to(folder)]
    threads = [each for each in threading.enumerate() if each.name.startswith("tvmdbg")]
    return {"widgets": len(_instances), "threads": len(threads), "files": len(ours)}


def settled(ready: Callable[[], bool]) -> bool:
    """Collect until something is so: the last answers and scans end beside this thread."""
    end = time.monotonic() + SECONDS
    while True:
        gc.collect()
        if ready():
            return True
        if time.monotonic() > end:
            return False
        time.sleep(0.02)


@pytest.mark.parametrize("kind", mostly_slow(KINDS, *KINDS.keys() - {"sample"}))
def test_closed_objects_are_freed(kind: str, tmp_path: Path) -> None:
    gc.collect()
    before = held(tmp_path)
    gone = KINDS[kind](tmp_path)
    settled(lambda: not any(each() for each in gone))
    assert [each() for each in gone if each() is not None] == []
    assert settled(lambda: held(tmp_path) == before), held(tmp_path)


def test_run_is_freed_after_failed_view() -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    run.session.selected = [3]
    with contextlib.suppress(Exception):
        tvmdbg.GraphView(run, direction="nowhere")
    gone = weakref.ref(run)
    del run
    assert settled(lambda: gone() is None)


def test_closed_models_reopen_for_new_view_and_keep_state() -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    session, seen = run.session, []
    session.observe(lambda change: seen.append(change["new"]), names="selected")
    first, second = tvmdbg.GraphView(run), tvmdbg.Flamechart(run)
    ids = {model_of(run.facts).model_id, session.model_id}
    first.close()
    assert {model_of(run.facts).comm is None, session.comm is None} == {False}
    session.selected = [3]
    second.close()
    assert model_of(run.facts).comm is session.comm is None
    session.selected = [4]
    third = tvmdbg.TensorInspector(run)
    assert third.session is session
    assert (session.selected, seen) == ([4], [[3], [4]])
    assert not ids & {model_of(run.facts).model_id, session.model_id}
    third.session = tvmdbg.Session(run)
    assert session.comm is None
    assert third.session.comm is not None
    third.close()
    assert third.session.comm is None


@pytest.fixture
def usual_collections() -> Iterator[None]:
    """Garbage is collected as often as users have it: tests/conftest.py makes it rarer."""
    thresholds = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*thresholds)


def resident_mb() -> float:
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc here")
@pytest.mark.usefixtures("usual_collections")
@pytest.mark.parametrize("kind", KINDS)
def test_memory_does_not_grow(kind: str, tmp_path: Path) -> None:
    for _ in range(WARM_UP):
        KINDS[kind](tmp_path)
    before = resident_mb()
    for _ in range(ROUNDS):
        KINDS[kind](tmp_path)
    assert resident_mb() - before < MOST_MB

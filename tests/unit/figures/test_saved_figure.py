"""The figure that a view leaves in a notebook: it shows the answer, also one that comes later."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from IPython.core.formatters import DisplayFormatter

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets import engine as host
from tvmdbg_widgets.analysis.tensor_scan import TensorScan
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.widgets import outputs
from tvmdbg_widgets.widgets.outputs import Saved
from tvmdbg_widgets.widgets.run_model import WIDGET

FAULT = "First Inf in #38 conv2d"


class Published(list[tuple[dict[str, Any], dict[str, Any]]]):
    """Data of each output, and how it was published."""

    def show(self, view: Saved) -> None:
        view._ipython_display_()

    def wait_for(self, count: int) -> None:
        end = time.monotonic() + 60
        while len(self) < count and time.monotonic() < end:
            time.sleep(0.01)
        assert len(self) == count


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> Published:
    found = Published()
    # A busy machine looks at the values of a small run all the same before its figure is made.
    monkeypatch.setattr(outputs, "_PATIENCE", 60.0)
    monkeypatch.setattr(outputs, "_publish", lambda data, **how: found.append((data, how)))
    return found


@pytest.fixture
def released(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Until it is set, no scan goes on; views wait a moment for it."""
    go_on, look = threading.Event(), TensorScan._scan_batches

    def late(scan: TensorScan, tensors: Any) -> int:
        go_on.wait(60)
        return look(scan, tensors)

    monkeypatch.setattr(TensorScan, "_scan_batches", late)
    monkeypatch.setattr(outputs, "_PATIENCE", 0.05)
    yield go_on
    go_on.set()


def ended(run: tvmdbg.DebugRun) -> None:
    """Wait for the scan and for what it sets going."""
    run.facts.search.scan.wait(60)
    assert run.facts.search.scan.state == "done"
    for each in threading.enumerate():
        if each.name in ("tvmdbg-scan", "tvmdbg-figure"):
            each.join(60)


def test_the_view_is_shown_before_its_figure_is_made(
    published: Published, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = tvmdbg.GraphView(tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow))
    before: list[int] = []
    make = view._saved_figure

    def made() -> Figure:
        before.append(len(published))
        return make()

    monkeypatch.setattr(view, "_saved_figure", made)
    published.show(view)
    assert before == [1]
    assert [WIDGET in data for data, _ in published] == [True, False]


def test_figure_of_small_run_shows_scan_result(published: Published) -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)
    published.show(run.debugger())
    (live, _), (figure, how) = published
    assert set(live) == {WIDGET, "text/html"}
    assert FAULT in figure["text/plain"]
    assert "#38 conv2d + add + add + relu; float16" in figure["text/plain"]
    assert not how.get("update")
    ended(run)
    assert len(published) == 2


def test_the_figure_is_renewed_once_the_scan_is_over(
    published: Published, released: threading.Event
) -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)
    published.show(run.debugger())
    published.show(run.debugger())
    assert len(published) == 4
    assert not any(FAULT in data.get("text/plain", "") for data, _ in published)
    released.set()
    published.wait_for(5)
    (_, first), (_, second), (figure, how) = published[1], published[3], published[4]
    assert first == second
    assert how == {**first, "update": True}
    assert FAULT in figure["text/plain"]
    ended(run)
    assert len(published) == 5


def test_unchanged_or_closed_figure_is_not_updated(
    published: Published, released: threading.Event
) -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    view = tvmdbg.TensorInspector(run, entry=(3, 0))
    published.show(view)
    published.show(tvmdbg.MemoryView(run))
    closed = run.debugger()
    published.show(closed)
    closed.close()
    released.set()
    ended(run)
    assert len(published) == 6


def test_cancelled_scan_updates_no_figure(published: Published, released: threading.Event) -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)
    published.show(run.debugger())
    run.facts.search.scan.cancel()
    released.set()
    run.facts.search.scan.wait(60)
    assert run.facts.search.scan.state == "cancelled"
    assert len(published) == 2
    run.findings(progress=False)
    published.wait_for(3)


def test_failed_publish_is_ignored(
    published: Published, released: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)
    published.show(run.debugger())

    def gone(*_: object, **__: object) -> None:
        raise OSError("the kernel has gone")

    monkeypatch.setattr(outputs, "_publish", gone)
    problems: list[object] = []
    monkeypatch.setattr(threading, "excepthook", problems.append)
    released.set()
    ended(run)
    assert not problems


def test_closed_view_shows_how_to_make_another(published: Published) -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    for view, how in (
        (tvmdbg.Flamechart(run), "tvmdbg_widgets.Flamechart(run)"),
        (tvmdbg.ComparisonView(run, run), "tvmdbg_widgets.ComparisonView(a, b)"),
        (tvmdbg.plots.link(tvmdbg.plots.times(run), run), "tvmdbg_widgets.plots.link(figure, run)"),
    ):
        view.close()
        published.show(view)
        ((data, _),) = published
        name = type(view).__name__
        assert data == {"text/plain": f"This {name} is closed. Make another one: {how}"}
        published.clear()


def test_display_formatter_returns_all_formats(published: Published) -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    data, _ = DisplayFormatter().format(tvmdbg.MemoryView(run))
    assert {WIDGET, "text/plain", "text/html", "image/svg+xml"} == set(data)
    assert not published


@pytest.mark.parametrize(
    "failing",
    [
        RuntimeError("InternalError: out of memory"),
        host.EngineTimeError("it took longer than 10 s"),
        MemoryError("out of memory"),
    ],
)
def test_display_and_page_survive_failing_figure(
    failing: Exception, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fails(*_arguments: object, **_more: object) -> str:
        raise failing

    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    log = tvmdbg.open_tuning(tvmdbg.samples.ansor_starved)
    monkeypatch.setattr(host, "_engine", lambda: SimpleNamespace(call=fails))
    views = [
        tvmdbg.GraphView(run, search="conv", hidden=["kind=parameter"]),
        *(tvmdbg.TensorInspector(run), tvmdbg.Flamechart(run), tvmdbg.MemoryView(run)),
        *(tvmdbg.Debugger(run), tvmdbg.ComparisonView(run, run), tvmdbg.TuningView(log)),
    ]
    for number, view in enumerate(views):
        told = view._repr_mimebundle_()[0]["text/plain"]
        assert str(failing) in told
        assert len(told.splitlines()) > 1
        view.save_html(tmp_path / f"{number}.html")
    for name in ("graph", "tensor", "timeline", "memory", "debugger"):
        assert str(failing) in run.figure(name).text
    run.save_html(tmp_path / "run.html")
    log.save_html(tmp_path / "log.html")
    run.report()

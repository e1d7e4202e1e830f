"""A bar that is closed before its end is drawn red in a notebook, as after an error."""

import json
from pathlib import Path
from typing import Any

import pytest
import tqdm.std

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.answers import messages
from tvmdbg_widgets.export.page.stored_page import store
from tvmdbg_widgets.run import DebugRun

Ends = list[tuple[str, float, float]]


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> Ends:
    """What each bar was for, where it stood when it was closed, and where it was to end."""
    found: Ends = []
    close = tqdm.std.tqdm.close

    def told(bar: Any) -> None:
        if not bar.disable:
            found.append((bar.desc, bar.n, bar.total))
        close(bar)

    monkeypatch.setattr(tqdm.std.tqdm, "close", told)
    return found


@pytest.fixture
def run() -> DebugRun:
    return tvmdbg.open(tvmdbg.samples.resnet20_cifar)


def assert_full(ends: Ends, *names: str) -> None:
    assert {name.removesuffix(": ") for name, _, _ in ends} >= set(names)
    assert [each for each in ends if each[1] != each[2]] == []


def test_reading_a_trace_fills_the_progress_bar(tmp_path: Path, ends: Ends) -> None:
    event = {"name": "a", "ph": "X", "ts": 1, "dur": 2, "pid": 0, "tid": 0}
    events = json.dumps([{**event, "ts": at} for at in range(5)])
    for number, text in enumerate(
        (
            events,
            f"{events}\n\n",
            f'{{"traceEvents": {events}, "otherData": {{"title": "x"}}}}\n',
            events.rstrip("]"),
        )
    ):
        path = tmp_path / f"trace{number}.json"
        path.write_text(text)
        assert tvmdbg.open(path).timeline.num_slices == 5
    assert sum("reading events" in name for name, _, _ in ends) == 4
    assert_full(ends, "reading events")


@pytest.mark.parametrize("share", ["statistics", "pictures"])
def test_storing_a_page_fills_the_progress_bar(run: DebugRun, ends: Ends, share: Any) -> None:
    store(run.facts, budget=3_000_000, share=share)
    assert_full(ends, "storing")


def test_storing_a_page_without_tensors_fills_the_bar(run: DebugRun, ends: Ends) -> None:
    store(run.facts, budget=3_000_000, tensors=False)
    assert_full(ends, "storing")


def test_scanning_counting_and_writing_fill_their_bars(
    run: DebugRun, tmp_path: Path, ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "_CHEAP", 0)  # those below are counted without a bar
    for tensor in list(run.tensors.values())[-3:]:
        tvmdbg.TensorInspector(run, entry=(tensor.node, tensor.output)).figure()
    run.findings()
    run.save(tmp_path / "saved")
    run.to_chrome_trace(tmp_path / "trace.json")
    assert_full(ends, "scanning tensors", "counting", "saving", "writing events")

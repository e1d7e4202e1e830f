"""Nobody waits behind values that do not come, and what takes long can be called off."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from unit.widgets.test_question_scheduler import (
    COUNT,
    LIMIT,
    PICTURE,
    SHAPE,
    Pages,
    Reading,
    pages,
    reading,
    values,
)
from unit.widgets.test_widgets_answers_tensor import run_of

from tvmdbg_widgets.model.tensors.planes import ArrayValues
from tvmdbg_widgets.sources.byte_source import BytesSource

if TYPE_CHECKING:
    import numpy as np

__all__ = ["pages", "reading", "values"]  # fixtures


class Held:
    """A slow network: bytes of the first tensors do not come until they may."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.first, self.last = 0, 0
        self.reads = 0
        self.go_on = threading.Event()
        real = BytesSource._fill

        def fill(source: BytesSource, offset: int, view: memoryview) -> None:
            if self.first <= offset < self.last:
                self.reads += 1
                assert self.go_on.wait(LIMIT)
            real(source, offset, view)

        monkeypatch.setattr(BytesSource, "_fill", fill)
        monkeypatch.setattr(BytesSource, "far", True)


@pytest.fixture
def held(values: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Pages, Held]]:
    """A run whose tensors 0 and 1 cannot be read; 1 is small enough to be counted at once."""
    run = run_of(large=values, small=values[:100], quick=values[:50])
    source = Held(monkeypatch)
    source.first, source.last = run.tensors[0, 0].offset, run.tensors[2, 0].offset
    pages = Pages(run)
    yield pages, source
    source.go_on.set()
    pages.scheduler.close()


QUICK = {"kind": "values", "entry": [2, 0], "row": 9, "col": 9, "rows": 40, "cols": 9}


def test_quick_answers_do_not_wait_for_values_that_do_not_come(held: tuple[Pages, Held]) -> None:
    pages, source = held
    waiting = []
    for entry in ([0, 0], [1, 0]):
        for client in (f"a{entry}", f"b{entry}", f"c{entry}"):
            waiting += [
                pages.send(PICTURE, client, entry=entry, exact=False),
                pages.send(PICTURE, f"{client} all", entry=entry, exact=True),
                pages.send(COUNT, client, entry=entry),
                pages.send({**QUICK, "entry": entry}, client),
                pages.send({"kind": "percentiles", "percents": [50]}, client, entry=entry),
                pages.send({"kind": "data", "row": 0, "rows": 9}, client, entry=entry),
            ]
    end = time.monotonic() + LIMIT
    while source.reads < 12:
        assert time.monotonic() < end
        time.sleep(0.01)
    for question in (
        QUICK,
        {**PICTURE, "entry": [2, 0], "exact": False},
        {**PICTURE, "entry": [2, 0], "exact": True},
        {**COUNT, "entry": [2, 0], "exact": False},
    ):
        pages.ask(question)
    with pages.came:
        assert not set(waiting) & set(pages.answers)
    source.go_on.set()
    for name in waiting:
        pages.wait(name)


@pytest.mark.parametrize(
    "question",
    [{"kind": "data", "row": 0, "rows": SHAPE[0]}, {"kind": "percentiles", "percents": [50]}],
)
def test_saving_and_percentiles_are_cancelled_and_superseded(
    pages: Pages, reading: Reading, monkeypatch: pytest.MonkeyPatch, question: dict[str, Any]
) -> None:
    pages.counted()
    real = ArrayValues.window

    def window(values: ArrayValues, selection: Any) -> np.ndarray:
        reading.begun.set()
        assert reading.held.wait(LIMIT)
        return real(values, selection)

    monkeypatch.setattr(ArrayValues, "window", window)

    def begun(**fields: Any) -> str:
        reading.begun.clear()
        reading.held.clear()
        name = pages.send(question, entry=[0, 0], **fields)
        assert reading.begun.wait(LIMIT)
        return name

    old = begun()
    new = pages.send(question, entry=[1, 0])
    other = pages.send(question, "other", entry=[1, 0])
    reading.held.set()
    assert "superseded" in pages.wait(old)["error"]
    assert "result" in pages.wait(new)
    assert "result" in pages.wait(other)
    gone = begun()
    assert pages.ask({"kind": "cancel", "what": question["kind"]}, "other") is None
    assert pages.ask({"kind": "cancel", "what": question["kind"]}) is None
    reading.held.set()
    assert "superseded" in pages.wait(gone)["error"]
    assert pages.scheduler._newest == {}


@pytest.mark.parametrize("what", ["statistics", 7, ["data"], "x" * 300])
def test_other_kinds_cannot_be_cancelled(pages: Pages, what: object) -> None:
    assert (
        "what must be one of" in pages.wait(pages.send({"kind": "cancel", "what": what}))["error"]
    )

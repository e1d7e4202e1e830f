"""Questions about long timelines do not hold up others, and what takes long is made once."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from unit.timeline.slices_truth import timeline
from unit.widgets.test_question_scheduler import LIMIT, Pages

from tvmdbg_widgets.analysis.timeline.lod import Hits
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.timeline import timeline as model
from tvmdbg_widgets.run import DebugRun

COUNT = 20_000
FIND = {"kind": "find", "regex": False, "at": 0}


@pytest.fixture
def run() -> DebugRun:
    spans = [(10.0 * i, 8.0, i % 2) for i in range(COUNT)]
    return DebugRun(RunParts("long", timeline=timeline(spans)))


@pytest.fixture
def pages(run: DebugRun) -> Iterator[Pages]:
    found = Pages(run)
    yield found
    found.scheduler.close()


def test_rows_are_made_once_for_concurrent_questions(
    run: DebugRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    real = model.rows

    def rows(own: Any) -> Any:
        made.append(threading.current_thread().name)
        return real(own)

    monkeypatch.setattr(model, "rows", rows)
    found = Pages(run)
    asked = [found.send({"kind": kind}) for kind in ("summary", "timeline", "graph")]
    asked.append(found.send({"kind": "slices", "first": 0, "last": 5}))
    for name in asked:
        assert "error" not in found.wait(name)
    found.scheduler.close()
    assert len(made) == 1


def test_slow_search_is_superseded_and_blocks_no_other_question(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Event()

    def matching(
        _graph: Any, _own: Any, text: str, *, watch: Callable[[], None], **_more: Any
    ) -> Hits:
        while text == "slow":
            begun.set()
            watch()
        return Hits(np.array([3]), 8.0)

    monkeypatch.setattr("tvmdbg_widgets.answers.ranges.matching", matching)
    old = pages.send(FIND, text="slow")
    assert begun.wait(LIMIT)
    assert pages.ask({"kind": "window", "from": 50, "to": 60})
    other = pages.send(FIND, client="other view", text="slow")
    assert pages.ask(FIND, text="quick")["count"] == 1
    assert "superseded" in pages.wait(old)["error"]
    pages.scheduler.take({"kind": "cancel", "what": "find", "client": "other view", "id": "c"})
    assert "superseded" in pages.wait(other)["error"]


@pytest.mark.parametrize("kind", ["window", "area", "find"])
def test_cancel_message_is_accepted(pages: Pages, kind: str) -> None:
    assert pages.ask({"kind": "cancel", "what": kind}) is None

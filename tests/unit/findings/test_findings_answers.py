"""What a page is told of the findings, and the scan behind it."""

import json
import threading
import time
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.unit.findings.findings_dump import Op, plant
from tests.unit.widgets.test_widgets_models import Page
from tvmdbg_widgets.answers import question_scheduler
from tvmdbg_widgets.answers.answers import answer
from tvmdbg_widgets.model.statistics.batch import ArrayPasses
from tvmdbg_widgets.run import DebugRun
from tvmdbg_widgets.widgets.run_model import RunModel, model_of

FIELDS = [
    *("rule", "severity", "title", "evidence", "confidence", "why", "nodes", "entries", "next")
]


def ask(run: DebugRun, kind: str = "findings") -> dict[str, Any]:
    told: dict[str, Any] = answer(run.facts, {"kind": kind}).result
    json.dumps(told)
    return told


@pytest.fixture
def run() -> DebugRun:
    return tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)


def test_finished_scan_answer_lists_all_findings(run: DebugRun) -> None:
    found = run.findings(progress=False)
    told = ask(run)
    assert (told["state"], told["done"], told["total"]) == ("done", 74, 74)
    assert [each["title"] for each in told["findings"]] == [each.title for each in found]
    first = told["findings"][0]
    assert list(first) == FIELDS
    assert (first["severity"], first["nodes"][0], first["entries"][0]) == ("error", 38, [38, 0])


def test_long_lists_are_cut_and_counted() -> None:
    one = np.ones(4, np.float32)
    ops = [Op("x", one)] + [
        Op(f"a{node}", one * np.nan, "fused_exp", [(node, 0)]) for node in range(300)
    ]
    run = plant(*ops)
    run.findings(progress=False)
    first = ask(run)["findings"][0]
    assert len(first["nodes"]) == len(first["entries"]) == 200
    assert any("spread to 299 downstream outputs" in fact for fact in first["evidence"])


class Slow:
    """Makes each tensor take a while, and counts those begun."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun = 0
        real = ArrayPasses.tallied

        def slowly(*args: Any, **named: Any) -> Any:
            self.begun += 1
            time.sleep(0.05)
            return real(*args, **named)

        monkeypatch.setattr(ArrayPasses, "tallied", slowly)


def page(run: DebugRun, monkeypatch: pytest.MonkeyPatch) -> tuple[RunModel, Any]:
    made = Page(model_of(run.facts), monkeypatch)

    def asked(kind: str, name: str) -> dict[str, Any]:
        made.ask({"kind": kind, "id": name, "client": "view"})
        return made.wait(name)[0]["result"]

    return made.model, asked


def test_the_first_question_starts_the_scan_and_it_ends(
    run: DebugRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, asked = page(run, monkeypatch)
    assert asked("findings", "0")["state"] in {"scanning", "done"}
    assert run.findings(progress=False).complete, "waits for that scan"
    assert asked("findings", "1")["state"] == "done"


def test_a_view_cancels_the_scan_and_it_stays_cancelled(
    run: DebugRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    Slow(monkeypatch)
    _, asked = page(run, monkeypatch)
    asked("findings", "0")
    told = asked("cancelFindings", "1")
    assert told["state"] == "cancelled"
    assert told["done"] < told["total"]
    assert asked("findings", "2")["state"] == "cancelled"
    assert run.findings(progress=False).complete, "asked for again, it goes on"


def test_closing_the_model_stops_the_scan(run: DebugRun, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow(monkeypatch)
    model, asked = page(run, monkeypatch)
    asked("findings", "0")
    model.close()
    time.sleep(0.1)
    begun = slow.begun
    time.sleep(0.1)
    assert slow.begun == begun < 74


def test_closing_view_does_not_stop_scan_started_by_user(
    run: DebugRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    Slow(monkeypatch)
    model, asked = page(run, monkeypatch)
    got: list[Any] = []
    thread = threading.Thread(target=lambda: got.append(run.findings(progress=False)))
    thread.start()
    while run.facts.search.scan.state == "none":
        time.sleep(0.001)
    asked("findings", "0")
    model.close()
    thread.join(120)
    assert got[0].complete


def test_threadless_kernel_scans_during_questions(
    run: DebugRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(question_scheduler, "HAS_THREADS", False)
    monkeypatch.setattr(question_scheduler, "_SLICE", 0.0)
    _, asked = page(run, monkeypatch)
    states = [asked("findings", str(number))["state"] for number in range(74)]
    rounds = states.index("done")
    assert states == ["scanning"] * rounds + ["done"] * (74 - rounds)
    assert rounds > 10, "a large tensor at a time"

"""What a page of a log holds and costs, also of tuners without steps."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

import tvmdbg_widgets as tvmdbg
from tests.make import tuning_cases as make
from tests.make.tuning_story import story
from tvmdbg_widgets import open_tuning
from tvmdbg_widgets.analysis.tuning.schedules.replaying import Replay
from tvmdbg_widgets.answers import tuning
from tvmdbg_widgets.answers.schedules import tiles
from tvmdbg_widgets.answers.tensor import Reply

TASKS = 120


def log_of(tasks: int) -> tvmdbg.TuningLog:
    """A log of one trial for each of many tasks."""
    kept = [json.loads(line) for line in story("burst")]
    valid = [each for each in kept if each["r"][1] == 0]
    lines = []
    for number in range(tasks):
        line = json.loads(json.dumps(valid[number % len(valid)]))
        line["i"][0][0] = json.dumps([*json.loads(line["i"][0][0]), number])
        lines.append(json.dumps(line))
    return tvmdbg.open_tuning("\n".join(lines).encode())


def test_page_replays_schedules_once_and_skips_omitted_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = log_of(TASKS)
    assert len(log.tasks) == TASKS
    replays: list[None] = []
    answered: list[int] = []
    made, answer = Replay.__init__, tuning.schedule

    def counted(self: Replay, *args: Any, **how: Any) -> None:
        replays.append(None)
        made(self, *args, **how)

    def told(log: Any, trial: int) -> Reply:
        answered.append(trial)
        return answer(log, trial)

    monkeypatch.setattr(Replay, "__init__", counted)
    monkeypatch.setattr(tuning, "schedule", told)
    log.save_html(tmp_path / "all.html")
    assert len(answered) == TASKS + 1, "one more for the figure"
    assert len(replays) <= TASKS + 3, "one more for the figure's schedule"
    answered.clear()
    log.save_html(tmp_path / "few.html", budget=80_000)
    assert 0 < len(answered) < TASKS / 2
    few = (tmp_path / "few.html").read_text("utf-8")
    assert f"The schedules of {TASKS - len(answered) + 2} tasks were left out" in few


ANSOR = make.ansor(Random(1), version="v0.6", error=0, usual=True).line
OTHERS = {
    "autotvm 0.1": make.autotvm(Random(2), version=0.1).line,
    "autotvm 0.2": make.autotvm(Random(3), version=0.2).line,
    "metaschedule": make.metaschedule(Random(4), 0).line,
}


@pytest.mark.parametrize("tuner", OTHERS)
def test_records_without_steps_have_no_tiles_and_are_saved(tuner: str, tmp_path: Path) -> None:
    log = open_tuning(b"\n".join([ANSOR, OTHERS[tuner]]), progress=False)
    told = tiles(log.facts, 1).result
    assert told["info"] == {"axes": [], "note": "no trial of this task has transform steps"}
    assert {column["length"] for column in told["columns"]} == {0}
    for each in (log, log[1:]):
        assert each.save_html(tmp_path / "page.html").stat().st_size > 1000
    assert log.errors_by("threads", progress=False).trials.sum() == 2

"""Logs whose records have no transform steps."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.make import tuning_cases as make
from tvmdbg_widgets import open_tuning
from tvmdbg_widgets.answers.schedules import tiles

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

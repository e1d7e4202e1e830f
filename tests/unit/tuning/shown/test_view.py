"""TuningView in the kernel: its traits, answers, figure, and a log that grows."""

import gc
import json
import time
import weakref
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import traitlets
from unit.tuning import ansor_lines
from unit.widgets import wire

import tvmdbg_widgets as tvmdbg
from tests.make.tuning_story import story
from tvmdbg_widgets import engine as host
from tvmdbg_widgets.answers.tuning import TuningAnswers
from tvmdbg_widgets.tuning import TuningLog


@cache
def lines() -> tuple[str, ...]:
    return tuple(story("starved", rounds=7))


@cache
def records() -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines()]


@pytest.fixture(scope="module")
def log() -> TuningLog:
    return tvmdbg.open_tuning("".join(lines()).encode())


def columns(reply: Any) -> dict[str, Any]:
    return wire.unpack(reply.result["columns"], reply.buffers[0])


def test_tuning_answer_contains_every_trial(log: TuningLog) -> None:
    reply = TuningAnswers(log.facts).answer({"kind": "tuning"})
    found = columns(reply)
    results = [each["r"] for each in records()]
    assert found["error"].tolist() == [error for _, error, *_ in results]
    costs = [sum(costs) / len(costs) if not error else np.nan for costs, error, *_ in results]
    np.testing.assert_allclose(found["cost"], costs, rtol=1e-15)
    stamps = [stamp for *_, stamp in results]
    np.testing.assert_allclose(found["time"], np.array(stamps) - stamps[0])


def test_curves_record_every_improvement_of_a_task(log: TuningLog) -> None:
    reply = TuningAnswers(log.facts).answer({"kind": "tuning"})
    found = columns(reply)
    keys = list(dict.fromkeys(each["i"][0][0] for each in records()))
    for task, key in enumerate(keys):
        rows, best = [], np.inf
        for row, each in enumerate(records()):
            costs, error, *_ = each["r"]
            if each["i"][0][0] == key and not error and np.mean(costs) < best:
                rows.append(row)
                best = np.mean(costs)
        start, end = found["curveOffsets"][task : task + 2]
        assert found["curveRows"][start:end].tolist() == rows
        told = reply.result["info"]["tasks"][task]
        assert (told["bestTrial"], told["best"]) == (rows[-1], pytest.approx(best))
    assert found["totals"][-1] == pytest.approx(reply.result["info"]["total"])
    assert (np.diff(found["totals"]) < 0).all()


def test_errors_are_counted_among_the_requested_trials(log: TuningLog) -> None:
    def counted(**scope: Any) -> tuple[int, int]:
        found = TuningAnswers(log.facts).answer({"kind": "errors", "by": "round", **scope}).result
        rows = found["rows"]
        return sum(row["trials"] for row in rows), sum(sum(row["counts"]) for row in rows)

    keys = list(dict.fromkeys(each["i"][0][0] for each in records()))
    rows = [(row, keys.index(each["i"][0][0]), each["r"][1]) for row, each in enumerate(records())]
    for task, first, end, query in (
        *((None, None, None, ""), (1, None, None, ""), (None, 70, 200, "")),
        *((None, None, None, "error:6"), (1, 64, 256, "error:6"), (None, 10**6, 10**7, "")),
    ):
        told = [
            error
            for row, of, error in rows
            if task in (None, of)
            and (first is None or first <= row < (end or 0))
            and (not query or error == 6)
        ]
        trials = None if first is None else [first, end]
        found = counted(task=task, trials=trials, query=query)
        assert found == (len(told), sum(error != 0 for error in told))


def test_answers_are_json_for_every_kind_of_question(log: TuningLog) -> None:
    questions = [
        {"kind": "tuning"},
        {"kind": "schedule", "trial": 3},
        {"kind": "change", "a": 3, "b": 70},
        {"kind": "tiles", "task": 1},
        {"kind": "errors", "by": "threads"},
        {"kind": "errors", "by": "round", "task": 1, "trials": [64, 128], "query": "error:6"},
        {"kind": "select", "query": "error:6"},
    ]
    for question in questions:
        json.dumps(TuningAnswers(log.facts).answer(question).result, allow_nan=False)


@pytest.mark.parametrize(
    "question",
    [
        *({"kind": "tuning", "trial": "x"}, {"kind": "schedule"}),
        *({"kind": "schedule", "trial": -1}, {"kind": "schedule", "trial": 10**9}),
        *({"kind": "schedule", "trial": 1.5}, {"kind": "change", "a": 0}),
        *({"kind": "tiles", "task": 99}, {"kind": "errors"}, {"kind": "errors", "by": "task"}),
        {"kind": "errors", "by": "unroll", "task": 99},
        {"kind": "errors", "by": "unroll", "trials": [1]},
        {"kind": "errors", "by": "unroll", "trials": [-1, 5]},
        *({"kind": "errors", "by": "unroll", "query": "cost<"}, {"kind": "select", "query": 3}),
        *({"kind": "select", "query": "x" * 20_000}, {"kind": "select", "query": "cost<"}),
        *({"kind": "code", "view": "graph"}, {"kind": "nothing"}, {}, None, [1]),
    ],
)
def test_invalid_questions_are_refused(log: TuningLog, question: Any) -> None:
    if question == {"kind": "tuning", "trial": "x"}:
        TuningAnswers(log.facts).answer(question)  # what is not asked for is not looked at
        return
    with pytest.raises(ValueError):
        TuningAnswers(log.facts).answer(question)


def test_a_view_takes_its_state_as_arguments(log: TuningLog) -> None:
    view = log.view(task=2, along="time", trial_range=(64, 128), sort="errors", height=500)
    assert view.options == {
        "task": 2,
        "trial": None,
        "along": "time",
        "trial_range": [64, 128],
        "query": "",
        "pane": "schedule",
        "sort": "errors",
    }
    with pytest.raises(traitlets.TraitError, match="there is no task 99"):
        view.task = 99
    with pytest.raises(traitlets.TraitError, match="0 <= first < end"):
        view.trial_range = (5, 5)
    with pytest.raises(TypeError, match="has no argument 'color'"):
        log.view(color="red")
    with pytest.raises(TypeError, match="shows a tuning log, not str"):
        tvmdbg.TuningView("log")  # type: ignore[arg-type]


def test_page_sets_only_allowed_traits(log: TuningLog) -> None:
    view = log.view()
    view.set_state({"task": 1, "log": "anywidget:other", "_code": "evil"})
    assert view.task == 1
    assert view.tuning_log is log
    with pytest.raises(traitlets.TraitError):
        view.set_state({"pane": "<script>"})


def test_figure_describes_task_trial_loops_and_findings(log: TuningLog) -> None:
    figure = log.figure(task=1)
    told = figure.description
    assert (told["view"], told["task"], told["trial"]) == ("tuning", 1, log.best(1).row)
    assert told["loops"] == [line.text for line in log.schedule(told["trial"]).nest]
    assert "build-starvation" in told["findings"]
    assert figure.svg.startswith("<svg")
    assert len(figure.svg) < 100_000
    for row in told["tasks"]:
        assert f"task {row['task']}: " in figure.text
    assert log.figure(task=1).svg == figure.svg


@pytest.mark.spec_only
def test_failed_trial_shows_console_message() -> None:
    row = next(row for row, each in enumerate(records()) if each["r"][1])
    _, error, all_cost, stamp = records()[row]["r"]
    console = (
        f"No: 1\tGFLOPS: 0.00 / 0.00\tresults: MeasureResult(error_type:BuildTimeoutError, "
        f"error_msg:killed after {error} tries, all_cost:{all_cost:.2f}, Tstamp:{stamp:.2f})\n"
    )
    log = tvmdbg.open_tuning("".join(lines()).encode(), console.encode())
    (message,) = log.parts.messages
    facts = dict(
        TuningAnswers(log.facts).answer({"kind": "schedule", "trial": message.row}).result["facts"]
    )
    assert facts["said"] == f"killed after {error} tries"


def test_figure_shows_only_trials_of_query(log: TuningLog) -> None:
    failed = sum(error != 0 for _, error, *_ in (each["r"] for each in records()))
    figure = log.figure(query="error:6")
    assert f"{failed} of {len(records())} trials: error:6" in figure.svg
    rows = figure.description["tasks"]
    assert sum(int(row["trials"]) for row in rows) == failed
    assert {row["failed"] for row in rows if row["trials"] != "0"} == {"100.0 %"}


def test_figure_says_why_its_query_finds_nothing(log: TuningLog) -> None:
    figure = log.figure(query="cost<")
    assert "was not searched: " in figure.svg
    assert sum(int(row["trials"]) for row in figure.description["tasks"]) == len(records())


def test_figure_without_engine_is_text(
    log: TuningLog, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(host, "BUNDLE", tmp_path / "engine.js")
    monkeypatch.setattr(host, "_threads", type("Threads", (), {})())
    figure = log.figure()
    assert "trials" in figure.text
    assert "engine.js" in figure.text
    assert figure.svg.startswith("<svg")


def test_figure_shortens_long_loop_nest() -> None:
    record = json.loads(ansor_lines.line())
    record["i"][1][1] *= 300  # each splits what the one before left
    log = tvmdbg.open_tuning(json.dumps(record).encode())
    assert len(log.schedule(0).nest) == 303
    figure = log.figure()
    assert "and 203 more lines" in figure.text
    assert len(figure.svg) < 100_000


def test_markup_in_names_stays_text() -> None:
    bad = "<script>alert(1)</script>"
    line = lines()[0].replace("matmul_add", bad)
    log = tvmdbg.open_tuning(line.encode())
    assert bad in log.tasks[0].name
    for text in (log.figure().svg, log.schedule(0)._repr_html_()):
        assert "<script" not in text


def test_a_view_grows_with_its_file(tmp_path: Path) -> None:
    path = tmp_path / "tuning.json"
    path.write_text("".join(lines()[:100]), "utf-8")
    view = tvmdbg.open_tuning(path).view().follow(0.05)
    with path.open("a", encoding="utf-8") as file:
        file.write("".join(lines()[100:164]))
    end = time.monotonic() + 20
    while len(view.tuning_log) < 164 and time.monotonic() < end:
        time.sleep(0.02)
    assert len(view.tuning_log) == 164
    assert view.log.content >= 1
    view.task = len(view.tuning_log.tasks) - 1
    view.close()


def test_closed_view_releases_its_log() -> None:
    log = tvmdbg.open_tuning(lines()[0].encode())
    view = log.view()
    gone = weakref.ref(log)
    view.close()
    del log, view
    gc.collect()
    assert gone() is None


def test_a_linked_view_uses_the_session_of_the_run(log: TuningLog) -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    assert log.view(run).session is run.session


def test_log_without_a_valid_trial_opens_on_its_findings(log: TuningLog) -> None:
    failed = [line for line, each in zip(lines(), records(), strict=True) if each["r"][1]]
    view = tvmdbg.TuningView(tvmdbg.open_tuning("".join(failed).encode()))
    assert view.pane == "findings"
    assert tvmdbg.TuningView(log).pane == "schedule"
    assert tvmdbg.TuningView(log, pane="errors").pane == "errors"

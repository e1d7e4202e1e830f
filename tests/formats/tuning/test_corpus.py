"""Every real log: how many records, tasks and errors it has, and that none is refused."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import corpus_path
from tvmdbg_widgets import TuningLog, open_tuning
from tvmdbg_widgets.formats.tuning.record import read_record
from tvmdbg_widgets.model.tuning.steps import PragmaStep

PRINTED = "printed_states"
OTHERS = {".md", ".txt"}
#: Steps with the same code have so many fields behind it.
ARITIES = {
    **dict.fromkeys(("AN", "CA", "RF", "PR", "CHR"), 3),
    **dict.fromkeys(("FU", "RE", "CHW"), 2),
    **dict.fromkeys(("CI", "CR"), 1),
    "FSP": 4,
    **dict.fromkeys(("SP", "FFSP"), 5),
}


def logs() -> list[Path]:
    corpus = corpus_path()
    below = [] if corpus is None else sorted((corpus / "tuning").rglob("*"))
    files = [path for path in below if path.is_file() and path.suffix not in OTHERS]
    return [path for path in files if PRINTED not in path.parts]


@pytest.fixture(scope="module")
def opened(corpus: Path) -> dict[Path, TuningLog]:
    return {path: open_tuning(path) for path in logs()}


def test_every_record_is_read(opened: dict[Path, TuningLog]) -> None:
    counts: Counter[str] = Counter()
    files: Counter[str] = Counter()
    errors: dict[str, Counter[int]] = {}
    for path, log in opened.items():
        assert (log.parts.num_refused, log.parts.cut) == (0, False), path
        tuner = log.parts.tuner or "workloads"
        counts[tuner] += len(log.trials)
        files[tuner] += 1
        errors.setdefault(tuner, Counter()).update(log.trials.error.tolist())
    assert files == {"ansor": 29, "autotvm": 8, "metaschedule": 3, "workloads": 2}
    assert counts == {"ansor": 7989, "autotvm": 1498, "metaschedule": 317, "workloads": 0}
    assert errors["ansor"] == {0: 5312, 6: 1676, 4: 951, 7: 50}
    assert (errors["autotvm"], errors["metaschedule"]) == ({0: 1338, 6: 160}, {0: 315, -1: 2})


def test_columns_match_a_plain_json_reader(opened: dict[Path, TuningLog]) -> None:
    """Against a reader of ten lines that knows nothing of ours."""
    for path, log in opened.items():
        if log.parts.tuner != "ansor":
            continue
        trials = log.trials
        lines = [line for line in path.read_bytes().split(b"\n") if line[:1] == b"{"]
        for row, line in enumerate(lines):
            record = json.loads(line)
            costs, error, all_cost, timestamp = record["r"]
            begin, end = trials.run_offsets[row : row + 2]
            assert trials.run_costs[begin:end].tolist() == ([] if error else costs)
            mean = np.nan if error else np.mean(costs)
            assert trials.cost[row] == pytest.approx(mean, rel=1e-14, nan_ok=True)
            assert trials.error[row] == error
            assert (trials.all_cost[row], trials.timestamp[row]) == (all_cost, timestamp)
            assert trials.version[row] == record["v"]
            task = log.tasks[trials.task[row]]
            assert [task.workload_key, task.target.text] == record["i"][0][:2]
        assert len(trials) == len(lines)


def test_steps_of_every_record_have_their_fields(opened: dict[Path, TuningLog]) -> None:
    codes: Counter[str] = Counter()
    for log in opened.values():
        for row in range(len(log)) if log.parts.tuner == "ansor" else ():
            record = read_record(log.parts, row)
            written = json.loads(record.line)["i"][1][1]
            assert [each.encode() for each in record.steps] == written
            assert all(len(each) == ARITIES[each[0]] + 1 for each in written)
            codes.update(each[0] for each in written)
            texts = [each for each in record.steps if isinstance(each, PragmaStep)]
            unroll = max((each.auto_unroll or 0 for each in texts), default=-1)
            assert log.trials.unroll[row] == unroll
    assert set(codes) == set(ARITIES)


def test_databases_name_their_blocks(corpus: Path) -> None:
    below = corpus / "tuning"
    names = {task.workload.name for task in open_tuning(below / "ms_web_llm").tasks}
    assert {"T_take", "T_reshape, T_squeeze"} <= names
    dangling = open_tuning(below / "ms_web_stable_diffusion").tasks
    assert [task.workload.name for task in dangling] == [
        f"workload {i} (not in the files)" for i in range(len(dangling))
    ]
    assert len(dangling) == 292
    own = open_tuning(below / "ms_tvm_0.25_handmade")
    assert [task.workload.name for task in own.tasks] == ["C", "C"]
    assert own.trials.error.tolist().count(-1) == 2

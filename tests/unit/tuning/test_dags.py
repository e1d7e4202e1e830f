import json
import math
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from unit.tuning import ansor_lines
from unit.tuning.printed_states import cases, dag_rows, read_steps

from tvmdbg_widgets.analysis.tuning import facts as finding
from tvmdbg_widgets.analysis.tuning.facts import texts_by_hash, with_recorded_extents
from tvmdbg_widgets.analysis.tuning.schedules.replaying import replay
from tvmdbg_widgets.analysis.tuning.schedules.schedule import infer_bounds, why_refused
from tvmdbg_widgets.formats.tuning.dag_text import key_hash, parse_dag
from tvmdbg_widgets.model.tuning.parts import Target, Task, Workload
from tvmdbg_widgets.model.tuning.steps import ComputeAt
from tvmdbg_widgets.model.tuning.trials import ComputeDag, DagSource
from tvmdbg_widgets.tuning import open_tuning

TEXT = next(row["dag"] for row in dag_rows() if "bn_relu" in row["workload"])
SHAPES = [[1, 3, 14, 14], [8, 3, 3, 3], [8, 1, 1], [8, 1, 1], [8, 1, 1], [1, 8, 7, 7]]


def task(key: Any, target: str = "llvm", fields: int = 6, tuner: Any = "ansor") -> Task:
    text = json.dumps(key)
    return Task(0, tuner, Workload.of(text, key), Target.parse(target), fields=fields)


def dag_of(known: Any, wanted: Task) -> ComputeDag | None:
    return find_dag(known, wanted)[0]


def find_dag(known: Any, wanted: Task) -> tuple[ComputeDag | None, tuple[str, ...]]:
    known = SimpleNamespace(**vars(known), tasks=(wanted,))
    return finding.LogFacts(known)._dag_and_problem(0)


def parts(dags: dict[str, str] | None = None, stamps: Any = ()) -> Any:
    rows = np.arange(len(stamps))
    trials = SimpleNamespace(
        timestamp=np.array(stamps, np.float64), of_task=lambda task: rows[: 0 if task else None]
    )
    return SimpleNamespace(dags=dags or {}, trials=trials)


@pytest.mark.parametrize(
    "args",
    [SHAPES, [size for shape in SHAPES for size in shape], []],
    ids=["nested", "flat", "none"],
)
def test_a_text_is_known_by_its_hash(args: list[Any]) -> None:
    digest = key_hash(TEXT)
    found = dag_of(parts({digest: TEXT}), task([digest, *args]))
    assert (found.source, found.text) == (DagSource.TEXT, TEXT)
    positions = [axis.extent for axis in found.operations[3].axes]
    assert positions == ([1, 8, 7, 7] if args else [1, 8, None, None])


CONVOLUTION = next(row for row in dag_rows() if row["workload"].startswith('["conv2d_layer"'))
OF_CONVOLUTION = [each for each in cases("policy") if each["workload"] == CONVOLUTION["workload"]]


@pytest.mark.parametrize("case", OF_CONVOLUTION, ids=lambda case: case["case"])
def test_splits_supply_extents_missing_from_dag_text(case: dict[str, Any]) -> None:
    log = open_tuning(
        case["record"].encode(), dag={case["workload"]: CONVOLUTION["dag"]}, progress=False
    )
    schedule = log.schedule(0)
    assert schedule.print() == case["printed_state"]
    assert schedule.print(inferred=True) == case["printed_inferred"]


def test_only_splits_of_whole_axes_supply_extents() -> None:
    dag = parse_dag(CONVOLUTION["dag"])
    rows, columns = dag.operations[3].axes[2:]
    assert (rows.extent, columns.extent) == (None, None)

    def told(*items: list[Any]) -> list[int | None]:
        found = with_recorded_extents(dag, read_steps(list(items)))
        return [axis.extent for axis in found.operations[3].axes[2:]]

    assert told(["SP", 3, 2, 14, [2], 1], ["SP", 3, 4, 15, [3], 1]) == [14, 15]
    assert told(["SP", 3, 2, 14, [2], 1], ["SP", 3, 3, 99, [3], 1]) == [14, None]
    assert told(["FU", 3, [2, 3]], ["SP", 3, 2, 196, [2], 1]) == [None, None]
    assert told(["CA", 3, 5, 0], ["SP", 3, 2, 7, [2], 1]) == [None, None]
    assert told(["CHW", 3, "local"], ["SP", 3, 2, 14, [2], 1]) == [14, None]
    assert told(["CHR", 3, "shared", [5]], ["SP", 4, 2, 14, [2], 1]) == [None, None]
    assert told(["SP", 3, 2, 0, [2], 1], ["SP", 99, 0, 14, [2], 1]) == [None, None]


def test_dag_text_under_another_name_is_found() -> None:
    assert dag_of(parts({"some.txt": TEXT}), task([key_hash(TEXT)])) is not None


def test_dag_text_with_another_hash_is_not_used() -> None:
    digest = key_hash(TEXT + "X(i) = Data[i, i, i, i]\n")
    assert dag_of(parts({digest: TEXT}), task([digest, *SHAPES])) is None


def test_text_named_by_hash_wins_over_same_hash_texts() -> None:
    digest, other = key_hash(TEXT), TEXT.replace("PLACEHOLDER [1, 3", "PLACEHOLDER [2, 3", 1)
    assert other != TEXT
    assert key_hash(other) == digest
    for texts in ({"a.txt": other, digest: TEXT}, {digest: TEXT, "a.txt": other}):
        assert texts_by_hash(texts)[digest] == TEXT
    assert texts_by_hash({"a.txt": other, "b.txt": TEXT})[digest] == other


def test_a_text_is_hashed_once_for_all_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    hashes_of = finding.hashes_of
    monkeypatch.setattr(finding, "hashes_of", lambda text: asked.append(text) or hashes_of(text))
    keys = [json.dumps([f"{at:032x}", 4]) for at in range(20)]
    given = {json.dumps([f"other{at}"]): f"{TEXT}T{at}(i) = Data[i]\n" for at in range(30)}
    log = open_tuning(ansor_lines.log_of(map(ansor_lines.line, keys)), dag=given, progress=False)
    assert [log.dag(task) for task in log.tasks] == [None] * 20
    assert len(asked) == 30


def test_a_dump_is_known_by_the_whole_key() -> None:
    given = task(["0" * 32, *SHAPES])
    assert dag_of(parts({given.workload_key: TEXT}), given).source is DagSource.DUMP
    assert dag_of(parts({given.workload_key: TEXT}), task(["0" * 32])) is None


def test_unusable_dag_text_is_reported() -> None:
    given = task(["matmul_add", 4, 4, 4, "float32"])
    found, problems = find_dag(parts({given.workload_key: "no DAG"}), given)
    assert found.source is DagSource.ASSUMED
    assert len(problems) == 1


def test_other_tuners_and_unknown_keys_have_no_dag() -> None:
    assert dag_of(parts(), task(["matmul_add", 4, 4, 4, "float32"], tuner="autotvm")) is None
    assert dag_of(parts(), task("no list")) is None
    assert dag_of(parts(), task(["get_expr", "conv", [1, 2]])) is None


@pytest.mark.parametrize(
    ("target", "fields", "stamp", "name"),
    [
        ("llvm -keys=cpu -link-params=0", 6, 1_700_000_000, "compute"),
        ("llvm -keys=cpu", 6, 1_700_000_000, "conv2d_nchw"),
        ("llvm -keys=cpu", 6, 1_640_000_000, "compute"),
        ("llvm -keys=cpu", 6, math.nan, "conv2d_nchw"),
        ("cuda -keys=cuda,gpu", 5, 1_700_000_000, "compute"),
        ("cuda -keys=cuda,gpu", 6, 1_700_000_000, "compute"),
        ("cuda -keys=cuda,gpu -arch=sm_86", 6, 1_700_000_000, "conv2d_nchw"),
    ],
)
def test_names_of_convolutions_follow_the_release(
    target: str, fields: int, stamp: float, name: str
) -> None:
    key = ["conv2d_layer", 1, 7, 7, 8, 8, 3, 3, [1, 1], [1, 1]]
    found = dag_of(parts(stamps=[stamp]), task(key, target, fields))
    assert found.operations[3].name == name


STEP = 19


def test_bounds_are_inferred_for_known_workloads(corpus: Path) -> None:
    """Of every log the first record and every nineteenth; all loops of their nests are bounded."""
    seen: Counter[str] = Counter()
    for path in sorted((corpus / "tuning").rglob("*.*")):
        lines = path.read_bytes().split(b"\n") if path.suffix in (".json", ".log") else []
        ansor = [line for line in lines if line.startswith(b'{"i"') and b"v0." in line[-12:]]
        for line in ansor[::STEP]:
            given, state = json.loads(line)["i"]
            key = json.loads(given[0])
            known = dag_of(parts(), task(key, given[1], len(given)))
            if known is None:
                continue
            replayed = replay(known, read_steps(state[1]))
            assert not why_refused(replayed)
            for stage in infer_bounds(replayed).stages:
                if stage.compute_at is not ComputeAt.INLINED:
                    assert all(each.extent or each.symbol for each in stage.iterators)
            seen[key[0]] += 1
    assert seen["conv2d_layer"] > 50
    assert seen["matmul_layer"] > 70
    assert seen.keys() >= {"matmul_add", "matmul_auto_scheduler_test", "relu_layer", "sparse_dense"}

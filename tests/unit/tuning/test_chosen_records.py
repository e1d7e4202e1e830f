"""What TVM applies and distills: against its own rules, followed record by record."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tests.conftest import corpus_path
from tests.unit.tuning.ansor_lines import CPU, ROCM, T4, Chosen, line, log_of

RTX = "cuda -keys=cuda,gpu -model=2080ti"
PLAIN = "cuda -keys=cuda,gpu"
BARE = "cuda"
UNKNOWN = "cuda -keys=cuda,gpu -model=unknown"
TARGETS = (CPU, T4, RTX, PLAIN, BARE, UNKNOWN, ROCM, "opencl -device=mali")
KEYS = ('["work", 1]', '["work", 2]', '["work", [2]]', '["other", [4, 4], "float32"]', "no json")

LINES = st.builds(
    line,
    st.sampled_from(KEYS),
    st.sampled_from(TARGETS),
    st.lists(st.sampled_from([1e-3, 2e-3, 3e-3, 5e-4]), min_size=1, max_size=3),
    st.sampled_from([0, 0, 0, 4, 6]),
    split=st.integers(1, 4),
)


def opened(lines: list[bytes]) -> tvmdbg.TuningLog:
    return tvmdbg.open_tuning(log_of(lines), progress=False)


@settings(max_examples=100)
@given(st.lists(LINES, min_size=1, max_size=25))
def test_random_logs_match_tvm_selection_rules(lines: list[bytes]) -> None:
    log, truth = opened(lines), Chosen(lines)
    assert [each.line for each in log.distill()] == [lines[row] for row in truth.distilled()]
    for key in KEYS:
        for target in TARGETS:
            record = log.applied(key, target).record
            row = None if record is None else record.row
            assert row == truth.applied(key, target), (key, target)
    for record in log.best():
        costs = [truth.mean(row) for row, each in enumerate(log) if _valid(each, record.task.index)]
        assert record.cost == min(costs)


def _valid(record: object, task: int) -> bool:
    return record.task.index == task and record.error == 0  # type: ignore[attr-defined]


def _ansor_logs() -> list[Path]:
    folder = corpus_path()
    paths = [] if folder is None else sorted((folder / "tuning").glob("*/*.[jl]*"))
    return [path for path in paths if _lines(path)[0].startswith(b'{"i": [["[')]


def _lines(path: Path) -> list[bytes]:
    return [each for each in path.read_bytes().split(b"\n") if each and each[:1] not in b"# "]


@pytest.mark.parametrize("path", _ansor_logs(), ids=lambda path: path.name[-40:])
def test_real_logs_match_tvm_selection_rules(path: Path) -> None:
    lines = _lines(path)
    log, truth = tvmdbg.open_tuning(path, progress=False), Chosen(lines)
    assert [each.line for each in log.distill()] == [lines[row] for row in truth.distilled()]
    for task in log.tasks:
        record = log.applied(task).record
        row = None if record is None else record.row
        assert row == truth.applied(task.workload_key, task.target.text)


def test_model_precedes_target_keys_in_lookup_order() -> None:
    log = opened(
        [
            line(target=T4, costs=[3e-3]),
            line(target=RTX, costs=[2e-3]),
            line(target=ROCM, costs=[1e-3]),
        ]
    )
    applied = log.applied(0)
    assert [(each.record.row, each.found_by) for each in applied.candidates] == [
        (0, "model t4"),
        (1, "key cuda"),
        (2, "key gpu"),
    ]
    assert applied.record.row == 0
    told = f"""Applied: row 0
  ApplyHistoryBest looks up model t4, then key cuda, then key gpu: the first that has the workload \
counts.
  Model t4 finds row 0, 3.000 ms: the only valid trial.
  Only key cuda would find row 1, 2.000 ms.
  Only key gpu would find row 2, 1.000 ms.
  The log has this workload for 3 targets: {T4}; {RTX}; {ROCM}.
  task.apply_best(log) looks at no target: it takes row 2, 1.000 ms.
  load_best_record(log, key, target) looks at the kind cuda alone: it takes row 1, 2.000 ms."""
    assert repr(applied) == told


def test_other_target_uses_record_found_by_its_keys() -> None:
    log = opened([line(target=ROCM), line(target=CPU, costs=[1e-4])])
    applied = log.applied('["work", 1]', "metal")
    assert applied.record.row == 0
    assert f"The row was measured for another target: {ROCM}." in applied.why
    nothing = log.applied('["work", 1]', "ext_dev")
    assert nothing.record is None
    assert "There is nothing there: TVM uses its default schedule" in " ".join(nothing.why)
    tag = log.applied('["work", 1]', "nvidia/geforce-rtx-2080-ti")
    assert tag.record is None
    assert tag.why[0].startswith("Keys of a target 'nvidia/geforce-rtx-2080-ti' are not known")


def test_ties_and_failed_trials_are_explained() -> None:
    lines = [line(error=6), line(costs=[1e-3]), line(costs=[5e-4, 1.5e-3], split=4), line(error=4)]
    applied = opened(lines).applied(0)
    assert applied.record.row == 1
    assert applied.why[1:] == (
        "Key cpu finds row 1, 1.000 ms: the lowest mean of 2 valid trials.",
        "1 later trial took as long: TVM keeps the first.",
    )
    assert opened([line(error=6)]).applied(0).record is None


@pytest.mark.parametrize(
    ("wanted", "row", "factor"),
    [
        ('["work", 8, [4], "float32"]', 0, 2.0),  # 2 ms; the other one would take 4 ms
        ('["work", 4, [4], "float32"]', 0, 1.0),
        ('["work", 6, [4], "float32"]', 1, 3.0),
        ('["work", 5, [4], "float32"]', None, 0),
        ('["work", 8, [4], "int8"]', None, 0),
        ('["work", 8, [4]]', None, 0),
    ],
)
def test_compatible_workloads_are_scaled_by_size(
    wanted: str, row: int | None, factor: float
) -> None:
    log = opened(
        [line('["work", 4, [4], "float32"]', costs=[1e-3]), line('["work", 2, [4], "float32"]')]
    )
    applied = log.applied(wanted, CPU, include_compatible=True)
    if row is None:
        assert applied.record is None
        return
    assert (applied.record.row, applied.candidates[0].factor) == (row, factor)
    if factor > 1:
        assert log.applied(wanted, CPU).record is None
        assert "compatible workload" in applied.why[1]


@pytest.mark.parametrize(
    "key",
    [
        *(f'["work", {"[" * 900}7{"]" * 900}]', f'["work", 1{"0" * 390}]'),
        *('["work", {"a": [1]}, null, 1e400]', '["work", 0, -2, 1.5]', "[]", "\x00"),
    ],
)
def test_unusual_workload_keys_are_found(key: str) -> None:
    log = opened([line(key), line('["work", 1]')])
    assert (len(log.distill()), log.best(key)) == (2, log[0])
    applied = log.applied(key, CPU, include_compatible=True)
    assert applied.record == log[0]
    assert "\x00" not in repr(applied) + repr(log.tasks)


def test_compatible_record_of_model_precedes_exact_record_of_key() -> None:
    log = opened([line('["work", 1]', RTX), line('["work", 2]', T4)])
    applied = log.applied('["work", 2]', RTX, include_compatible=True)
    assert [(each.record.row, each.factor) for each in applied.candidates] == [
        (0, 2.0),
        (1, 1.0),
        (1, 1.0),
    ]


def test_a_hash_without_shapes_is_not_found_by_later_releases() -> None:
    log = opened([line('["05ea4bc95e2f8e4aa5fb9a5d4b8e1b1a"]')])
    assert log.applied(0).why[-1].startswith("The workload key has no shapes")


def test_the_k_best_are_different_schedules() -> None:
    lines = [
        *(line(costs=[3e-3], split=1), line(costs=[1e-3], split=2), line(costs=[2e-3], split=2)),
        *(line(costs=[4e-3], split=4), line(error=6, split=8), line('["other", 1]', costs=[1.0])),
    ]
    log = opened(lines)
    assert [each.line for each in log.distill(2)] == [lines[row] for row in (1, 0, 5)]
    assert [each.line for each in log.distill(9)] == [lines[row] for row in (1, 0, 3, 5)]
    with pytest.raises(ValueError, match="1 or more"):
        log.distill(0)
    assert len(opened([line(error=6)]).distill()) == 0


def test_metaschedule_database_ignores_target(corpus: Path) -> None:
    log = tvmdbg.open_tuning(corpus / "tuning/ms_tvm_0.25_handmade", progress=False)
    for task in log.tasks:
        valid = [each for each in log if each.task == task and not each.error]
        applied = log.applied(task, "cuda")
        assert applied.record.row == min(valid, key=lambda each: each.cost).row
        assert applied.why[0].startswith("MetaSchedule's database looks up the workload alone")
    assert len(log.distill()) == len(log.best())


def test_autotvm_lookup_order(corpus: Path) -> None:
    log = tvmdbg.open_tuning(corpus / "tuning/tophub_autotvm/mali_v0.06.log", progress=False)
    applied = log.applied(0, "opencl -device=mali -model=rk3399")
    assert applied.candidates[0].found_by == "model rk3399"
    assert [each.found_by for each in applied.candidates[1:]] == [
        "key mali",
        "key opencl",
        "key gpu",
    ]

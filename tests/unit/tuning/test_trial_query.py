"""Queries over trials: against what is found trial by trial, as slowly as it is said."""

import contextlib
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.tuning.hand_made import Row, failed, parts_of
from tvmdbg_widgets.analysis.query import QueryError, parse
from tvmdbg_widgets.analysis.tuning.selection import select
from tvmdbg_widgets.analysis.tuning.trial_queries import TRIALS
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError
from tvmdbg_widgets.model.tuning.parts import Target, TuningParts, Workload
from tvmdbg_widgets.sources.byte_source import BytesSource

#: Half of the rows have an odd version and lie in the second file.
ROWS = [
    *(Row(0, 3e-3, all_cost=1.5, unroll=16), Row(1, (2e-3, 4e-3), all_cost=9.0, unroll=512)),
    *(failed(0, 6), Row(0, 1e-3, unroll=0), Row(0, 2e-3, unroll=64, schedule=0)),
    *(failed(1, 4, 10.5), failed(2, 7), Row(1, 7e-4, timestamp=1_600_000_100.0)),
    Row(1, (7e-4, 7e-4, 7e-4), timestamp=1_600_000_101.0),
    Row(0, 1.5e-3, all_cost=math.nan, timestamp=math.nan),
    failed(0, -1, math.nan, timestamp=math.nan),
    Row(1, (7e-4, 7e-4, 7e-4), schedule=8, timestamp=1_600_000_101.0),
]
TARGETS = ("llvm -keys=cpu -mcpu=core-avx2", "cuda -keys=cuda,gpu -model=t4", "")
KEYS = ('["conv2d_layer", 1, 64, [3, 3]]', '["05ea4bc95e2f8e4aa5fb9a5d4b8e1b1a", [64, 16]]', "odd")


def hand_made() -> TuningParts:
    parts = parts_of(ROWS)
    odd = np.arange(len(ROWS)) % 2
    trials = replace(
        parts.trials, version=StringColumn(["v0.6", ""], odd), source=(odd == 1).astype(np.int16)
    )
    tasks = tuple(
        replace(
            task,
            target=Target.parse(TARGETS[task.index]),
            workload=Workload.of(KEYS[task.index], None if task.index == 2 else _json(task.index)),
        )
        for task in parts.tasks
    )
    sources = (BytesSource(b"", "first.json"), BytesSource(b"", "second.json"))
    return replace(parts, trials=trials, tasks=tasks, sources=sources)


def _json(index: int) -> Any:
    return [["conv2d_layer", 1, 64, [3, 3]], ["05ea4bc95e2f8e4aa5fb9a5d4b8e1b1a", [64, 16]]][index]


PARTS = hand_made()


def truth(tree: list[Any]) -> set[int]:
    """Rows that a tree (``Query.plain()``) finds, one by one."""
    everything = set(range(len(ROWS)))
    match tree:
        case ["id", row]:
            return everything & {row}
        case ["not", part]:
            return everything - truth(part)
        case ["and", *parts]:
            return everything.intersection(*map(truth, parts))
        case ["or", *parts]:
            return set().union(*map(truth, parts))
        case ["word", mode, text]:
            return {row for row in everything if _any(mode, text, _words(row))}
        case ["text", field, mode, text, differs]:
            return {
                row
                for row in everything
                if any(values := _texts(row, field)) and _any(mode, text, values) != differs
            }
        case ["compare", field, by, value]:
            return {row for row in everything if _compare(row, field, by, value)}
    raise AssertionError(tree)


def _any(mode: str, text: str, values: list[str]) -> bool:
    globbed = "".join({"*": ".*", "?": "."}.get(each, re.escape(each)) for each in text)
    return any(
        {
            "has": lambda value: text in value,
            "is": lambda value: text == value,
            "glob": lambda value: re.fullmatch(globbed, value, re.DOTALL),
            "regex": lambda value: re.search(text, value, re.IGNORECASE),
        }[mode](value.lower())
        for value in values
    )


def _words(row: int) -> list[str]:
    target = _texts(row, "target")
    return [*_texts(row, "name"), *target, *(_texts(row, "error") if ROWS[row].error else [])]


def _texts(row: int, field: str) -> list[str]:
    task = PARTS.tasks[ROWS[row].task]
    error = MeasureError(ROWS[row].error)
    texts = {
        "task": [task.name, task.workload.name, KEYS[task.index]],
        "target": [TARGETS[task.index]],
        "kind": [TARGETS[task.index].split(" ")[0]],
        "model": [TARGETS[task.index].partition("-model=")[2]],
        "error": [error.label, error.name],
        "version": ["v0.6" if row % 2 == 0 else ""],
        "file": ["first.json" if row % 2 == 0 else "second.json"],
        "tuner": ["ansor"],
        "is": _statuses(row),
    }
    return texts["task" if field == "name" else field]


def _mean(row: int) -> float:
    cost = ROWS[row].cost
    return math.nan if cost is None else float(np.mean(cost))


def _before(row: int) -> list[float]:
    """Valid costs of the same task before a row."""
    same = [each for each in range(row) if ROWS[each].task == ROWS[row].task]
    return [_mean(each) for each in same if ROWS[each].error == 0]


def _statuses(row: int) -> list[str]:
    if ROWS[row].error:
        return ["failed"]
    found = ["valid"]
    same = [each for each in range(len(ROWS)) if ROWS[each].task == ROWS[row].task]
    valid = [each for each in same if ROWS[each].error == 0]
    if row == min(valid, key=_mean):
        found.append("best")
    if all(_mean(row) < cost for cost in _before(row)):
        found.append("improved")
    if row in (4, 11):
        found.append("repeated")
    if row == 11:
        found.append("duplicate")
    return found


def _compare(row: int, field: str, by: str, value: float) -> bool:
    each, repeats = ROWS[row], ROWS[row].cost
    costs = repeats if isinstance(repeats, tuple) else () if repeats is None else (repeats,)
    best = min([*_before(row), _mean(row)] if not each.error else _before(row), default=math.nan)
    first = 1_600_000_000.0
    stamp = first + row if each.timestamp is None else each.timestamp
    is_spread = len(costs) > 1
    held = {
        "task": each.task,
        "error": each.error,
        "cost": 1e9 * _mean(row),
        "best": 1e9 * best,
        "all_cost": 1e9 * each.all_cost,
        "time": 1e9 * (stamp - first),
        "timestamp": stamp,
        "row": row,
        "trial": sum(ROWS[other].task == each.task for other in range(row)),
        "unroll": math.nan if each.unroll < 0 else each.unroll,
        "repeats": len(costs) or math.nan,
        "spread": (max(costs) - min(costs)) / _mean(row) if is_spread else math.nan,
    }[field]
    if math.isnan(held):
        return False
    same = math.isclose(held, value, rel_tol=1e-12)
    return {
        "<": held < value and not same,
        "<=": held < value or same,
        ">": held > value and not same,
        ">=": held > value or same,
        "=": same,
        "!=": not same,
    }[by]


ATOMS = st.sampled_from(
    [
        *("conv", "05ea4bc9", "05ea4bc95e2f8e4aa5fb9a5d4b8e1b1a", "timeout", "error", "avx2"),
        *("gpu", "odd", "*layer*", "/^odd$/", "#3", "#99", "7", "failed", '"[64, 16]"', "v0.6"),
        *("task:0", "task:1", "task:9", "task=2", "task!=0", "task<2", "task:conv", "name:64"),
        *("name=odd", "task=odd", "target:gpu", "kind=cuda", "kind!=cuda", "model:t4"),
        *("model!=t4", "version:v0", "version!=v0.6", "file:first", "tuner:ansor", "tuner=tvm"),
        *("error:6", "error=6", "error!=0", "error>=4", "error:timeout", "error:build_timeout"),
        *("error:NoError", "error!=RuntimeDeviceError", "error:-1", "error:9", "error<0"),
        *(
            *("is:failed", "is:valid", "is:best", "is:improved", "is:repeated", "is:duplicate"),
            *("is!=best", "is:*ed"),
        ),
        *("is:duplicate", "is:repeated -is:duplicate"),
        *("cost<2ms", "cost<=2ms", "cost=0.7ms", "cost=700us", "cost!=1 ms", "cost>0", "cost:3ms"),
        *("best<1.5ms", "best>=1ms", "best=0.7ms", "all_cost>2s", "all_cost=10.5s", "time<5s"),
        *("time>1min", "time>=0", "time<1h", "timestamp>1600000005", "row<4", "row:10"),
        *("trial:0", "trial>2", "unroll:16", "unroll>=64", "unroll:0", "repeats:1", "repeats>2"),
        *("spread>1%", "spread:0%", "spread<50%", "spread=0"),
    ]
)
QUERIES = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from([" ", " and ", " or ", "|"]), inner).map("".join),
        st.tuples(st.sampled_from(["not ", "-"]), inner).map(lambda pair: f"{pair[0]}({pair[1]})"),
    ),
    max_leaves=5,
)


@settings(max_examples=100)
@given(QUERIES)
def test_random_queries_match_trial_by_trial_search(text: str) -> None:
    tree = parse(text, TRIALS)
    assert tree is not None
    assert set(select(PARTS, text)) == truth(tree), text


PIECES = st.sampled_from(
    [
        *TRIALS.fields,
        *":=<>!()|#*?/\"'- ",
        *("<=", "->", "1", "6.5e3", "ms", "%", "attr.x", "🙂", "not"),
    ]
)


@settings(max_examples=100)
@given(st.lists(PIECES, max_size=12).map("".join))
def test_any_text_finds_rows_or_is_refused(text: str) -> None:
    with contextlib.suppress(QueryError):
        assert set(select(PARTS, text)) <= set(range(len(ROWS)))


def test_random_queries_cover_all_fields_except_round() -> None:
    """Of the fields only the round is left to its own test: its truth is the scheduler's."""
    trees = [parse(atom, TRIALS) for atom in ATOMS.elements]  # type: ignore[attr-defined]
    asked = {str(tree[1]) for tree in trees if tree is not None}
    assert set(TRIALS.fields) - asked <= {"round"}


def test_a_round_is_64_trials_of_a_task() -> None:
    parts = parts_of([Row(task) for task in (0, 1) for _ in range(128)])
    assert list(select(parts, "round:2")) == list(range(128, 192))


def test_unknown_values_match_no_comparison_and_are_counted() -> None:
    found = select(PARTS, "cost<1s model:t4")
    assert found.unknown == {"cost": 4, "model": 7}
    assert found.caption == (
        "4 of 12 trials: cost<1s model:t4; cost unknown for 4 trials; model unknown for 7 trials"
    )
    assert select(parts_of([failed()]), "cost>0").caption.endswith("; cost unknown for all")
    assert set(select(PARTS, "not cost<1s")) >= {2, 5, 6, 10}


def test_selection_lists_rows_and_prints_first_ones() -> None:
    found = select(PARTS, "task:0")
    assert (found, found.rows.tolist()) == ((0, 2, 3, 4, 9, 10), list(found))
    lines = repr(found).splitlines()
    assert lines[0] == "6 of 12 trials: task:0"
    assert lines[1].split() == ["0", "0", "conv2d_layer", "1", "64", "3×3", "3.000", "ms"]
    assert lines[2].endswith("6 BuildTimeoutError")
    assert "<caption>6 of 12 trials: task:0</caption>" in found._repr_html_()
    assert select(PARTS, "") == ()
    assert repr(select(PARTS, "nothing of it")) == "0 of 12 trials: nothing of it"
    assert repr(select(parts_of([Row()] * 20), "row>=0")).endswith("… and 8 more")


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("cots<1ms", 0, "unknown field 'cots' at 0; did you mean cost?"),
        ("cost<2", 6, "expected a unit (ns, us, ms or s) at 6"),
        ("time>2d", 6, "expected ns, us, ms, s, min or h at 6, found 'd'"),
        ("name<2", 4, "expected ':', '=' or '!=' after name at 4"),
        ("task<conv", 5, "expected a number at 5, found 'c'"),
        ("error:6 -> task:1", 8, "expected no '->' at 8"),
        ("shape:1,2 cost>0", 0, "unknown field 'shape' at 0"),
        ("attr.x:y", 0, "unknown field 'attr.x' at 0"),
        ("eror:6", 0, "unknown field 'eror' at 0; did you mean error?"),
        ("task:1 -rwo:12", 8, "unknown field 'rwo' at 8; did you mean row?"),
        ("weights:3", 0, "unknown field 'weights' at 0; put a text in quotes; fields are task"),
        ("task:1 is:bst", 10, "no word of 'is' is 'bst' at 10; did you mean best?"),
        ("is:x", 3, "no word of 'is' is 'x' at 3; known are valid, failed, best"),
        ("error:timout", 6, "no word of 'error' is 'timout' at 6; "),
        ("error:7x", 6, "no word of 'error' is '7x' at 6; known are NoError, "),
        ("(error:6", 0, "expected a ')' for the '(' at 0"),
    ],
)
def test_query_error_shows_position_and_reason(text: str, position: int, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        select(PARTS, text)
    assert caught.value.position == position
    assert caught.value.message.startswith(message)


def test_a_query_is_a_text() -> None:
    with pytest.raises(TypeError, match="a query is a str such as 'error:6 task:3', not list"):
        select(PARTS, ["error:6"])  # type: ignore[arg-type]

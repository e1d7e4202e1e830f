from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.tuning.dags_with_bodies import dag_with_bodies
from unit.tuning.printed_states import COPIED, cases, dag, read_steps, steps_of

from tvmdbg_widgets.analysis.tuning.bounds import infer_bounds, why_refused
from tvmdbg_widgets.analysis.tuning.replay import print_state, replay
from tvmdbg_widgets.formats.tuning.dag_text import parse_dag

if TYPE_CHECKING:
    from pathlib import Path

    from tvmdbg_widgets.model.tuning.state import State

CASES = [
    pytest.param(case, id=f"{name}: {case['case']}")
    for name in COPIED
    for case in cases(name)
    if "printed_state" in case
]
BOUNDED = [each for each in CASES if each.values[0]["printed_inferred"] is not None]
REFUSED = [each for each in CASES if each.values[0]["printed_inferred"] is None]


def state_of(case: dict[str, Any]) -> State:
    return replay(
        dag_with_bodies(case["workload"], case.get("conv_name", "compute")), steps_of(case)
    )


@pytest.mark.parametrize("case", BOUNDED)
def test_bounds_are_printed_as_tvm_prints_them(case: dict[str, Any]) -> None:
    state = infer_bounds(state_of(case))
    assert print_state(state) == case["printed_inferred"]
    everything = case["printed_inferred_all"] or case["printed_inferred"]
    assert print_state(state, hide_ones=False) == everything


@pytest.mark.parametrize("case", REFUSED)
def test_what_tvm_refuses_keeps_its_bounds(case: dict[str, Any]) -> None:
    state = state_of(case)
    assert case["infer_error"]
    assert infer_bounds(state) is state
    assert why_refused(state)


@pytest.mark.parametrize("file", ["records_known", "records_nnfusion"])
def test_bounds_of_real_records(corpus: Path, file: str) -> None:
    folder = corpus / "tuning"
    for text in (folder / "printed_states" / f"{file}.jsonl").read_text().splitlines():
        case = json.loads(text)
        line = (folder / case["source"]).read_bytes().split(b"\n")[int(case["line"]) - 1]
        steps = read_steps(json.loads(line)["i"][1][1])
        known = dag_with_bodies(case["workload"], case.get("conv_name") or "compute")
        state = infer_bounds(replay(known, steps))
        assert print_state(state) == case["printed_inferred"]
        everything = case["printed_inferred_all"] or case["printed_inferred"]
        assert print_state(state, hide_ones=False) == everything


def test_without_bodies_only_outputs_are_known() -> None:
    for case in cases("policy"):
        state = replay(dag(case["workload"]), steps_of(case))
        everything = case["printed_inferred_all"] or case["printed_inferred"]
        found = print_state(infer_bounds(state), hide_ones=False)
        for ours, true in zip(found.splitlines(), everything.splitlines(), strict=True):
            assert ours == true or ours.endswith("(None)") or why_refused(state)


def test_an_unknown_extent_stays_unknown() -> None:
    known = dag_with_bodies('["matmul_add", 64, 96, 48, "float32"]')
    operations = list(known.operations)
    i, j = operations[4].axes
    operations[4] = replace(operations[4], axes=(replace(i, extent=None), j))
    steps = read_steps([["SP", 4, 0, 0, [8], 1], ["CA", 2, 4, 0]])
    state = replay(replace(known, operations=tuple(operations)), steps)
    text = print_state(infer_bounds(state), hide_ones=False)
    assert "for i.0 (None)" in text
    assert "for i.1 (None)" in text
    assert "for j (0,48)" in text
    assert "for k (0,96)" in text


NEST = """\
A = PLACEHOLDER [{wide}, {high}]
P(x, y) = A[x, y]
C(i, j) += P[((i*{s}) + (r*{d})), (j + {o})]
"""


@st.composite
def nests(draw: st.DrawFn) -> tuple[str, list[list[Any]], int]:
    stride, dilation, offset = draw(st.tuples(*[st.integers(1, 3)] * 2, st.integers(0, 2)))
    i, j, r = draw(st.tuples(*[st.integers(1, 7)] * 3))
    wide = (i - 1) * stride + (r - 1) * dilation + 1
    text = NEST.format(wide=wide, high=j + offset, s=stride, d=dilation, o=offset)
    steps: list[list[Any]] = []
    loops = 3
    for _ in range(draw(st.integers(0, 4))):
        if draw(st.booleans()) or loops < 2:
            lengths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=2))
            inward = draw(st.integers(0, 1))
            steps.append(["SP", 2, draw(st.integers(0, loops - 1)), 0, lengths, inward])
            loops += len(lengths)
        else:
            first = draw(st.integers(0, loops - 2))
            steps.append(["FU", 2, [first, first + 1]])
            loops -= 1
    if draw(st.booleans()):
        steps.append(["RE", 2, draw(st.permutations(range(loops)))])
    place = draw(st.integers(0, loops - 1))
    return text, [*steps, ["CA", 1, 2, place]], place


@given(nests(), st.integers(1, 7), st.integers(1, 7), st.integers(1, 7))
def test_regions_cover_what_is_read_in_every_iteration(
    nest: tuple[str, list[list[Any]], int], i: int, j: int, r: int
) -> None:
    """Every iteration is run by the meaning of splits and fusions, not by the rules of bounds."""
    text, items, place = nest
    known = parse_dag(text)
    operations = list(known.operations)
    consumer = operations[2]
    named = [
        replace(axis, extent=extent) for axis, extent in zip(consumer.axes, (i, j), strict=True)
    ]
    reduced = [replace(consumer.reduce_axes[0], extent=r)]
    operations[2] = replace(consumer, axes=tuple(named), reduce_axes=tuple(reduced))
    indices = operations[2].bodies[0].parts[0].parts
    sizes = [1 + _value(index, {"i": i - 1, "j": j - 1, "r": r - 1}) for index in indices]
    operations[0] = replace(operations[0], shape=tuple(sizes))
    axes = zip(operations[1].axes, sizes, strict=True)
    operations[1] = replace(
        operations[1], axes=tuple(replace(axis, extent=size) for axis, size in axes)
    )
    state = infer_bounds(replay(replace(known, operations=tuple(operations)), read_steps(items)))
    found = [each.extent for each in state.stages[1].iterators]
    loops = [each.extent or 0 for each in state.stages[2].iterators]
    if None in found:  # where a part of a fused loop is no whole number of rows
        assert any(item[0] == "FU" for item in items)
        return
    boxes: dict[tuple[int, ...], list[set[int]]] = {}
    for run in product(*map(range, loops)):
        axis = _axes_of(run, items[:-1], [i, j, r])
        if axis is None:
            continue
        touched = boxes.setdefault(run[: place + 1], [set(), set()])
        values = dict(zip("ijr", axis, strict=True))
        for dimension, index in enumerate(indices):
            touched[dimension].add(_value(index, values))
    for dimension in range(2):
        widest = max(max(box[dimension]) - min(box[dimension]) + 1 for box in boxes.values())
        assert widest <= found[dimension] <= max(widest, sizes[dimension])


def _value(index: Any, values: dict[str, int]) -> int:
    match type(index).__name__:
        case "Number":
            return int(index.value)
        case "Variable":
            return values[index.name]
    a, b = _value(index.a, values), _value(index.b, values)
    return a + b if index.op == "+" else a * b


def _axes_of(run: tuple[int, ...], items: list[list[Any]], extents: list[int]) -> list[int] | None:
    """Return the axes' values in one iteration, None where the iteration is cut off."""
    sizes = [list(extents)]
    for item in items:
        sizes.append(_sizes_after(item, sizes[-1]))
    values = list(run)
    for item, before in zip(reversed(items), reversed(sizes[:-1]), strict=True):
        values = _values_before(item, before, values)
        if any(value >= size for value, size in zip(values, before, strict=True)):
            return None
    return values


def _parts(item: list[Any], size: int) -> list[int]:
    parts, rest = [], size
    for length in reversed(item[4]) if item[5] else item[4]:
        parts.append(min(length, rest))
        rest = -(-rest // length)
    parts.append(rest)
    return parts[::-1] if item[5] else parts


def _sizes_after(item: list[Any], sizes: list[int]) -> list[int]:
    if item[0] == "SP":
        return [*sizes[: item[2]], *_parts(item, sizes[item[2]]), *sizes[item[2] + 1 :]]
    if item[0] == "FU":
        first = item[2][0]
        return [*sizes[:first], sizes[first] * sizes[first + 1], *sizes[first + 2 :]]
    return [sizes[each] for each in item[2]]


def _values_before(item: list[Any], before: list[int], values: list[int]) -> list[int]:
    if item[0] == "SP":
        parts = _parts(item, before[item[2]])
        taken = values[item[2] : item[2] + len(parts)]
        whole = 0
        for value, part in zip(taken, parts, strict=True):
            whole = whole * part + value
        return [*values[: item[2]], whole, *values[item[2] + len(parts) :]]
    if item[0] == "FU":
        first = item[2][0]
        inner = before[first + 1]
        return [*values[:first], *divmod(values[first], inner), *values[first + 1 :]]
    old = [0] * len(values)
    for value, place in zip(values, item[2], strict=True):
        old[place] = value
    return old


FOLDED = 60


def test_inlining_without_end_is_left_alone() -> None:
    chain = "".join(f"P{at + 1}(x) = (P{at}[(x + x)] + P{at}[(x - x)])\n" for at in range(FOLDED))
    text = f"A = PLACEHOLDER [4]\nP0(x) = A[x]\n{chain}C(i) = P{FOLDED}[i]\n"
    steps = [["CI", at + 2] for at in range(FOLDED)]
    state = replay(parse_dag(text), read_steps([*steps, ["CA", 1, FOLDED + 2, 0]]))
    assert infer_bounds(state).stages[1].iterators[0].extent is None

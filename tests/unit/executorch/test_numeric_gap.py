"""The numeric gap: the Inspector's recorded rows and refusals, and what is right instead."""

import dataclasses
import math
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as drawn

from tests.executorch_cases import answers
from tests.formats.executorch.case_files import arrays_of
from tests.unit.executorch.gap_cases import COMPARED, Block, Event, blocks_of, gaps_of, record_of
from tvmdbg_widgets.analysis.executorch.gap_rows import GapRow, NumericGap, numeric_gap
from tvmdbg_widgets.analysis.executorch.metrics import METRICS, broadcast_problem, metric
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.executorch.etrecord import ETRecord

MLP, TWO_OUTPUTS, QUANTIZED = "01_mlp_portable", "03d_xnnpack_two_outputs", "08_conv_xnnpack_quant"
TRANSFORMER, LISTS, LAST = "04_transformer_portable", "10_multi_output_list", "12_channels_last"
GRAPHS = {"gap.auto": None, "gap.edge_dialect_exported_program": "edge_dialect_exported_program"}
EVERY_TABLE = [(name, *key) for name in COMPARED for key in gaps_of(name)]


def aot_values(name: str, prefix: str = "gap.auto", distance: str = "MSE") -> dict[int, Any]:
    """What torch computed, by the last handle of each recorded row."""
    rows = gaps_of(name)[prefix, distance]["rows"]
    arrays = arrays_of(name)
    return {
        row["runtime_debug_handle"][-1]: arrays[f"{prefix}.{at}.aot_intermediate_output"]
        for at, row in enumerate(rows)
    }


def gap(name: str, reference: Any = None, distance: Any = "MSE", **options: Any) -> NumericGap:
    blocks = blocks_of(name, compat=options.get("compat", False))
    return numeric_gap(blocks, record_of(name), distance, reference=reference, **options)


def row_of(found: NumericGap, *handles: int) -> GapRow:
    (row,) = (row for row in found.rows if row.aot_debug_handle == handles)
    return row


def handles_of(found: NumericGap) -> list[Any]:
    return [row.aot_debug_handle for row in found.rows]


@pytest.mark.parametrize(("name", "prefix", "distance"), EVERY_TABLE)
def test_every_row_matches_inspector(name: str, prefix: str, distance: str) -> None:
    reference = aot_values(name, prefix, distance)
    found = gap(name, reference, distance, reference_graph=GRAPHS[prefix], compat=True)
    told = gaps_of(name)[prefix, distance]
    frame = found.to_dataframe()
    assert list(frame.columns) == told["columns"]
    assert frame["aot_ops"].tolist() == [row["aot_ops"] for row in told["rows"]]
    for at, (row, expected) in enumerate(zip(found.rows, told["rows"], strict=True)):
        ours = dataclasses.asdict(row)
        for column in ("aot_intermediate_output", "runtime_intermediate_output"):
            np.testing.assert_array_equal(ours[column], arrays_of(name)[f"{prefix}.{at}.{column}"])
        assert row.gap == pytest.approx([float(each) for each in expected["gap"]], rel=1e-12)
        for column in ("aot_debug_handle", "runtime_debug_handle"):
            assert list(ours[column]) == expected[column]
        for column in ("aot_ops", "runtime_ops", "stacktraces"):
            assert ours[column] == expected[column]


@pytest.mark.parametrize("distance", ["MSE", "L1", "SNR"])
@pytest.mark.parametrize("name", [TWO_OUTPUTS, TRANSFORMER])
def test_size_mismatch_error_matches_inspector(name: str, distance: str) -> None:
    told = gaps_of(name)["gap.auto", distance]["__error__"]
    # Zeros in the shapes that torch has for the last exported node of each handle.
    zeros = {
        node["debug_handle"]: np.zeros(node["val"]["shape"], np.float32)
        for node in answers(name)["inspector"]["etrecord"]["edge_nodes"]
        if node["debug_handle"] and isinstance(node["val"], dict) and "getitem" not in node["name"]
    }
    with pytest.raises(ValueError) as caught:
        gap(name, zeros, distance, compat=True)
    assert f"builtins.ValueError: {caught.value}" == told


def test_other_errors_match_inspector() -> None:
    values = aot_values(MLP)
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute"):
        numeric_gap([], None, "MSE", reference=values, compat=True)
    with pytest.raises(IndexError, match="list index out of range"):
        gap("05_multirun", values, compat=True)
    for options, told in (
        ({"reference": values, "distance": "COSINE"}, "^Unsupported distance metric 'COSINE'$"),
        ({"reference": values, "reference_graph": "nope"}, "Reference graph 'nope/forward' not fo"),
        ({"reference": {}}, "^Missing etrecord or missing representative inputs"),
        ({}, "with torch: give reference="),
    ):
        with pytest.raises(ValueError, match=told):
            gap(MLP, compat=True, **options)


def test_a_number_is_no_distance() -> None:
    with pytest.raises(TypeError, match="a distance is a name or a callable, not 5"):
        numeric_gap(blocks_of(MLP), record_of(MLP), 5, reference={})  # type: ignore[arg-type]


def test_handles_not_traceable_to_exported_program_are_rejected() -> None:
    record = dataclasses.replace(record_of(MLP), export_graph_id=1)
    given: Any = {"reference": aot_values(MLP), "compat": True}

    def names(graph: str | None, *, disable: bool = False) -> list[Any]:
        given.update(reference_graph=graph, disable_debug_handle_validation=disable)
        rows = numeric_gap(blocks_of(MLP, compat=True), record, "MSE", **given).rows
        return [row.aot_ops for row in rows]

    assert names(None)[1] == ["aten_gelu_default"]
    with pytest.raises(ValueError, match="Cannot use 'exported_program': Debug handle back"):
        names("exported_program")
    assert names("exported_program", disable=True) == [[]] * 4


def test_compat_mode_leaves_out_lists_and_pairs_a_handle_once() -> None:
    values: Any = {1: [np.zeros((2, 2))] * 2, 3: np.zeros((2, 5))}
    assert handles_of(gap(LISTS, values, compat=True)) == [(3,)]
    # Two events of handles 1 and 2 overlap with a reference of both.
    block = Block([Event("a", 1, [np.zeros(1)]), Event("b", 2, [np.zeros(1)])])
    both: Any = {(1, 2): np.zeros(1)}
    with pytest.raises(ValueError, match=r"^Expected only one runtime debug handle, but found 2"):
        numeric_gap([block], record_of(MLP), "MSE", reference=both, compat=True)
    # Of a handle that ends the list twice, the runtime's earlier output stays.
    block = Block([Event("a", [1, 3, 3], [np.zeros(2), np.ones(2)], num_outputs=2)])
    last = {3: np.full(2, 3.0)}
    (row,) = numeric_gap([block], record_of(MLP), "L1", reference=last, compat=True).rows
    assert row.gap == [6]


@pytest.mark.parametrize("name", ["06a_demo_generated_ids", "06b_demo_manual_ids"])
def test_the_last_part_of_a_decomposed_operator_counts(name: str) -> None:
    values = aot_values(name)
    assert row_of(gap(name, values, compat=True), 5).gap[0] > 1e-3
    right = gap(name, values)
    assert (handles_of(right), list(right.skipped)) == ([(1,), (3,), (4,), (5,), (6,)], [])
    assert max(row.gap[0] for row in right.rows) < 1e-14
    (both,) = gap(name, {(2, 3): values[3]}).rows
    assert (both.aot_debug_handle, both.aot_ops) == ((2, 3), ["mul", "add"])


def test_channels_last() -> None:
    values = aot_values(LAST)
    assert row_of(gap(LAST, values, compat=True), 1).gap[0] > 0.3
    assert row_of(gap(LAST, values), 1).gap[0] < 1e-14
    assert row_of(gap(LAST, values, "snr"), 2).gap[0] > 100


def test_a_delegate_with_two_outputs() -> None:
    eager = arrays_of(TWO_OUTPUTS, "io.npz")
    values = {3: eager["eager.out0"], 5: eager["eager.out1"], 2: eager["eager.out0"]}
    found = gap(TWO_OUTPUTS, values)
    assert [row.gap[0] < 1e-12 for row in found.rows] == [True, True]
    assert [row.aot_ops for row in found.rows] == [["relu_1"], ["sigmoid"]]
    assert {row.runtime_debug_handle for row in found.rows} == {(1, 2, 3, 4, 5)}
    (skipped,) = found.skipped
    assert skipped.handles == (2,)
    assert "inside a delegate" in skipped.reason


def test_views_removed_by_memory_planning_are_compared() -> None:
    """Handle 17 ends in a view of the value logged last, handle 5 is but a view."""
    events = blocks_of(TRANSFORMER)[1].events
    logged = {event.instruction_id: event.debug_data for event in events if event.op_types}
    values = {17: logged[18][0].reshape(1, 6, 16), 5: logged[4][0][0].reshape(1, 6, 2, 8)}
    values |= {3: logged[3][0].reshape(1, 6, 48), 4: logged[4][0]}
    found = gap(TRANSFORMER, {**values, 26: arrays_of(TRANSFORMER, "io.npz")["eager.out0"]})
    assert (handles_of(found), list(found.skipped)) == ([(3,), (4,), (5,), (17,), (26,)], [])
    assert [row.gap for row in found.rows[:4]] == [[0], [0, 0, 0], [0], [0]]
    assert 0 < found.rows[4].gap[0] < 1e-12
    assert found.rows[4].runtime_ops == ["native_call_view_copy.out"]


def test_several_outputs_item_by_item() -> None:
    given = arrays_of(LISTS, "io.npz")["run0.in0"]
    parts = [given[:, :2], given[:, 2:]]
    best = parts[1].argmax(axis=1)[:, None]
    values = {1: parts, 2: [np.take_along_axis(parts[1], best, 1), best]}
    found = gap(LISTS, {**values, "aten_gt_scalar": given > 0}, "L1")
    assert [row.gap for row in found.rows] == [[0, 0], [0, 0], [0]]
    assert not found.skipped


def test_an_operator_that_is_not_the_last_of_its_handle() -> None:
    """Of handle 11, the mean is a kernel of its own and the rest is inside a delegate."""
    values = {11: np.zeros((1, 8)), "aten_mean_dim": np.zeros((1, 8)), 12: np.zeros((1, 5))}
    found = gap(QUANTIZED, values, "L1")
    assert [row.runtime_ops for row in found.rows] == [["native_call_mean.out"], ["DELEGATE_CALL"]]
    assert [each.key for each in found.skipped] == [11]
    # Two runs are compared by their nodes.
    found = gap(QUANTIZED, blocks_of(QUANTIZED))
    assert ([row.gap[0] for row in found.rows], list(found.skipped)) == ([0, 0, 0], [])


@pytest.mark.parametrize("name", [MLP, "03b_mixed_xnnpack", TWO_OUTPUTS, LAST])
def test_etrecord_reference_outputs_are_default_reference(name: str) -> None:
    found, outputs = gap(name), arrays_of(name)
    assert found.rows
    for at, row in enumerate(found.rows):
        expected = outputs[f"etrecord.ref_out.forward.0.{at}"]
        np.testing.assert_array_equal(row.aot_intermediate_output, expected)
        assert row.gap[0] < 1e-12


def test_references_by_name_and_from_a_file(tmp_path: Path) -> None:
    values = aot_values(MLP)
    keys = ("linear", "act", "(3,)", "aten__softmax_default", "none of these")
    names = dict(zip(keys, [values[at] for at in (1, 2, 3, 4, 4)], strict=True))
    path = tmp_path / "reference.npz"
    np.savez(path, **names)
    for reference in (names, path, str(path)):
        found = gap(MLP, reference)
        assert handles_of(found) == [(1,), (2,), (3,), (4,)]
        assert max(row.gap[0] for row in found.rows) < 1e-13
        assert [each.key for each in found.skipped] == ["none of these"]
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(FormatError, match=r"reference\.npz"):
        gap(MLP, path)
    np.savez(path, a=np.array([{}], object))
    with pytest.raises(FormatError):
        gap(MLP, path)


def test_missing_or_mismatched_values_are_skipped() -> None:
    values, blocks = aot_values(MLP), blocks_of(MLP)
    for event in blocks[1].events:
        event.debug_data = [None for _ in event.debug_data]
    found = numeric_gap(blocks, record_of(MLP), "MSE", reference=values)
    assert (list(found.rows), len(found.skipped)) == ([], len(values))
    assert all("debug buffer" in each.reason for each in found.skipped)
    wrong = gap(MLP, {1: np.zeros(3), 2: [np.zeros(3)] * 2, 3: np.zeros(8, "c8")})
    reasons = ["do not agree", "2 values are given for 1 output", "complex64 have no distance"]
    for reason, each in zip(reasons, wrong.skipped, strict=True):
        assert reason in each.reason


def test_missing_input_is_named_in_error() -> None:
    silent = dataclasses.replace(record_of(MLP), reference_outputs=None)
    nothing: Any = {"reference": {}}
    cases: Any = [(None, {}, "an ETRecord is needed"), (silent, {}, "give reference=")]
    for record, options, told in [*cases, (ETRecord("a"), nothing, "no program")]:
        with pytest.raises(ValueError, match=told):
            numeric_gap([], record, "mse", **options)
    with pytest.raises(TypeError, match="a reference has values"):
        gap(MLP, [1, 2])


def test_callable_metric_and_worst_first_order() -> None:
    values = aot_values(MLP)

    def largest(a: Any, b: Any) -> float:
        return float(np.abs(a - b).max())

    found = gap(MLP, values, largest)
    gaps = [row.gap[0] for row in found.worst_first]
    assert gaps == sorted(gaps, reverse=True)
    ratios = [row.gap[0] for row in gap(MLP, values, "SNR").worst_first]
    assert ratios == sorted(ratios)
    assert str(found).splitlines()[0] == "largest of 4 values"
    assert "<td>" in found._repr_html_()
    exact = {3: np.zeros((2, 4)), 4: np.full((2, 4), np.inf)}
    first = gap(MLP, exact, "cosine").worst_first[0]
    assert (first.aot_debug_handle, math.isnan(first.gap[0])) == ((4,), True)
    assert gap(MLP, {}).to_dataframe().empty


# Distances ---------------------------------------------------------------------------------------

ONES, ZEROS, EMPTY = np.ones(3), np.zeros(3), np.zeros(0)
FROM, TO = np.array([3.0, 4.0]), np.array([3.0, 2.0])
NAN, INF = np.array([math.nan], np.float32), np.array([math.inf])
LARGEST = np.finfo(np.float64).max


@pytest.mark.parametrize(
    ("name", "a", "b", "told"),
    [
        ("mse", FROM, TO, 2),
        ("l1", FROM, TO, 2),
        ("snr", FROM, TO, 10 * math.log10(12.5 / 2)),
        ("psnr", FROM, TO, 10 * math.log10(16 / 2)),
        ("cosine", FROM, TO, 17 / (5 * math.sqrt(13))),
        ("ulp", FROM, TO, 2**52),
        ("l1", True, 3, 2),
        ("cosine", ZEROS, ONES, 0),
        ("mse", EMPTY, EMPTY, math.nan),
        ("ulp", EMPTY, EMPTY, 0),
        # Recorded of torch: nan_to_num of a whole tensor, only where it has a NaN.
        ("l1", np.array([math.nan, 1.0]), np.array([2.0, 1.0]), 2),
        ("l1", np.array([math.nan, math.inf]), np.zeros(2), LARGEST),
        ("l1", INF, np.zeros(1), math.inf),
        ("l1", INF, INF, math.nan),
        # Of the runtime's dtype.
        ("ulp", np.ones(2), np.array([1.0, 1.0078125], ml_dtypes.bfloat16), 1),
        ("ulp", NAN, NAN, 0),
        ("ulp", np.ones(1), NAN, math.inf),
        ("ulp", np.array([3]), np.array([-3]), 6),
    ],
)
def test_metrics_match_values_computed_by_hand(name: str, a: Any, b: Any, told: float) -> None:
    assert metric(f" {name} ").of(a, b) == pytest.approx(told, rel=1e-14, nan_ok=True)


def test_equal_values_names_and_types() -> None:
    for values, ratio in ((ONES, math.inf), (ZEROS, math.nan)):
        found = [each.of(values, values) for each in METRICS]
        assert found == pytest.approx([0, 0, ratio, 1, ratio, 0], nan_ok=True)
    # Names and types that are unknown.
    with pytest.raises(ValueError, match=r"^Unsupported distance metric 'COSINE'$"):
        metric("COSINE", compat=True)
    with pytest.raises(ValueError, match=r"metric 'nope'; known: 'MSE', 'L1', 'SNR', 'COSINE'"):
        metric("nope")
    assert metric(max).name == "max"
    with pytest.raises(TypeError, match="complex64"):
        metric("mse").of(np.ones(1, np.complex64), np.ones(1))


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        ((2, 3), (2, 6), "a (3) must match the size of tensor b (6) at non-singleton dimension 1"),
        ((5,), (2, 3, 4), "a (5) must match the size of tensor b (4) at non-singleton dimension 2"),
        ((2, 3, 1, 5), (4, 5), ""),
        ((), (4, 5), ""),
    ],
)
def test_broadcast_errors_match_torch(a: tuple[int, ...], b: tuple[int, ...], told: str) -> None:
    assert broadcast_problem(np.zeros(a), np.zeros(b)) == (told and f"The size of tensor {told}")


FLOATS = drawn.arrays(np.float32, 4, elements=st.floats(width=32))


@given(FLOATS, FLOATS)
def test_any_floats_have_a_distance(a: Any, b: Any) -> None:
    for each in METRICS:
        assert isinstance(each.of(a, b), float)

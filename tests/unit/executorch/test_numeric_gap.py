"""The numeric gap: the Inspector's recorded rows and refusals, and what is right instead."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.executorch_cases import answers
from tests.unit.executorch.gap_cases import (
    COMPARED,
    Block,
    Event,
    arrays_of,
    blocks_of,
    gaps_of,
    record_of,
)
from tvmdbg_widgets.analysis.executorch.gap_rows import GapRow, NumericGap, numeric_gap
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.executorch.etrecord import ETRecord

GRAPHS = {"gap.auto": None, "gap.edge_dialect_exported_program": "edge_dialect_exported_program"}
EVERY_TABLE = [(name, *key) for name in COMPARED for key in gaps_of(name)]
VALUES = ("aot_intermediate_output", "runtime_intermediate_output")


def aot_values(name: str, prefix: str = "gap.auto", metric: str = "MSE") -> dict[int, Any]:
    """What torch computed, by the last handle of each recorded row."""
    rows = gaps_of(name)[prefix, metric]["rows"]
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


@pytest.mark.parametrize(("name", "prefix", "metric"), EVERY_TABLE)
def test_every_row_matches_inspector(name: str, prefix: str, metric: str) -> None:
    reference = aot_values(name, prefix, metric)
    found = gap(name, reference, metric, reference_graph=GRAPHS[prefix], compat=True)
    told = gaps_of(name)[prefix, metric]
    frame = found.to_dataframe()
    assert list(frame.columns) == told["columns"]
    assert len(found.rows) == len(told["rows"])
    for at, (row, expected) in enumerate(zip(found.rows, told["rows"], strict=True)):
        ours = dataclasses.asdict(row)
        for column in VALUES:
            theirs = arrays_of(name)[f"{prefix}.{at}.{column}"]
            np.testing.assert_array_equal(ours[column], theirs)
        assert row.gap == pytest.approx([float(each) for each in expected["gap"]], rel=1e-12)
        for column in ("aot_debug_handle", "runtime_debug_handle"):
            assert list(ours[column]) == expected[column]
        for column in ("aot_ops", "runtime_ops", "stacktraces"):
            assert ours[column] == expected[column]


def zeros_of(name: str) -> dict[int, Any]:
    """Zeros in the shapes that torch has for the last exported node of each handle."""
    edge = answers(name)["inspector"]["etrecord"]["edge_nodes"]
    return {
        node["debug_handle"]: np.zeros(node["val"]["shape"], np.float32)
        for node in edge
        if node["debug_handle"] and isinstance(node["val"], dict) and "getitem" not in node["name"]
    }


@pytest.mark.parametrize("metric", ["MSE", "L1", "SNR"])
@pytest.mark.parametrize("name", ["03d_xnnpack_two_outputs", "04_transformer_portable"])
def test_size_mismatch_error_matches_inspector(name: str, metric: str) -> None:
    told = gaps_of(name)["gap.auto", metric]["__error__"]
    with pytest.raises(ValueError) as caught:
        gap(name, zeros_of(name), metric, compat=True)
    assert f"builtins.ValueError: {caught.value}" == told


def test_other_errors_match_inspector() -> None:
    values = aot_values("01_mlp_portable")
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute"):
        numeric_gap([], None, "MSE", reference=values, compat=True)
    with pytest.raises(IndexError, match="list index out of range"):
        gap("05_multirun", values, compat=True)
    with pytest.raises(ValueError, match=r"^Unsupported distance metric 'COSINE'$"):
        gap("01_mlp_portable", values, "COSINE", compat=True)
    with pytest.raises(ValueError, match="Reference graph 'nope/forward' not found"):
        gap("01_mlp_portable", values, reference_graph="nope", compat=True)
    with pytest.raises(ValueError, match=r"^Missing etrecord or missing representative inputs"):
        gap("01_mlp_portable", {}, compat=True)
    with pytest.raises(ValueError, match="with torch: give reference="):
        gap("01_mlp_portable", compat=True)


def test_handles_not_traceable_to_exported_program_are_rejected() -> None:
    record = dataclasses.replace(record_of("01_mlp_portable"), export_graph_id=1)
    blocks, values = blocks_of("01_mlp_portable", compat=True), aot_values("01_mlp_portable")

    def found(graph: str | None, *, disable: bool = False) -> NumericGap:
        return numeric_gap(
            blocks,
            record,
            "MSE",
            reference=values,
            reference_graph=graph,
            disable_debug_handle_validation=disable,
            compat=True,
        )

    assert found(None).rows[1].aot_ops == ["aten_gelu_default"]
    with pytest.raises(ValueError, match="Cannot use 'exported_program': Debug handle back"):
        found("exported_program")
    assert [row.aot_ops for row in found("exported_program", disable=True).rows] == [[]] * 4


def test_compat_mode_leaves_out_lists() -> None:
    values = {1: [np.zeros((2, 2))] * 2, 3: np.zeros((2, 5))}
    assert [
        row.aot_debug_handle for row in gap("10_multi_output_list", values, compat=True).rows
    ] == [(3,)]


def test_compat_mode_requires_one_event_per_reference_value() -> None:
    """Two events of handles 1 and 2 overlap with a reference of both."""
    block = Block([Event("a", 1, [np.zeros(1)]), Event("b", 2, [np.zeros(1)])])
    with pytest.raises(ValueError, match=r"^Expected only one runtime debug handle, but found 2"):
        numeric_gap(
            [block],
            record_of("01_mlp_portable"),
            "MSE",
            reference={(1, 2): np.zeros(1)},
            compat=True,
        )


def test_compat_mode_pairs_repeated_handle_once() -> None:
    """Of a handle that ends the list twice, the runtime's earlier output stays."""
    first, second = np.zeros(2), np.ones(2)
    block = Block([Event("a", [1, 3, 3], [first, second], num_outputs=2)])
    record, values = record_of("01_mlp_portable"), {3: np.full(2, 3.0)}
    (row,) = numeric_gap([block], record, "L1", reference=values, compat=True).rows
    assert row.gap == [6]


@pytest.mark.parametrize("name", ["06a_demo_generated_ids", "06b_demo_manual_ids"])
def test_the_last_part_of_a_decomposed_operator_counts(name: str) -> None:
    values = aot_values(name)
    assert row_of(gap(name, values, compat=True), 5).gap[0] > 1e-3
    right = gap(name, values)
    assert [row.aot_debug_handle for row in right.rows] == [(1,), (3,), (4,), (5,), (6,)]
    assert max(row.gap[0] for row in right.rows) < 1e-14
    assert not right.skipped
    (both,) = gap(name, {(2, 3): values[3]}).rows
    assert (both.aot_debug_handle, both.aot_ops) == ((2, 3), ["mul", "add"])


def test_channels_last() -> None:
    values = aot_values("12_channels_last")
    assert row_of(gap("12_channels_last", values, compat=True), 1).gap[0] > 0.3
    assert row_of(gap("12_channels_last", values), 1).gap[0] < 1e-14
    assert row_of(gap("12_channels_last", values, "snr"), 2).gap[0] > 100


def test_a_delegate_with_two_outputs() -> None:
    eager = arrays_of("03d_xnnpack_two_outputs", "io.npz")
    values = {3: eager["eager.out0"], 5: eager["eager.out1"], 2: eager["eager.out0"]}
    found = gap("03d_xnnpack_two_outputs", values)
    assert [row.gap[0] < 1e-12 for row in found.rows] == [True, True]
    assert [row.aot_ops for row in found.rows] == [["relu_1"], ["sigmoid"]]
    assert {row.runtime_debug_handle for row in found.rows} == {(1, 2, 3, 4, 5)}
    (skipped,) = found.skipped
    assert skipped.handles == (2,)
    assert "inside a delegate" in skipped.reason


def test_views_removed_by_memory_planning_are_compared() -> None:
    """Handle 17 ends in a view of the value logged last, handle 5 is but a view."""
    blocks = blocks_of("04_transformer_portable")
    logged = {
        event.instruction_id: event.debug_data for event in blocks[1].events if event.op_types
    }
    values = {
        17: logged[18][0].reshape(1, 6, 16),
        5: logged[4][0][0].reshape(1, 6, 2, 8),
        3: logged[3][0].reshape(1, 6, 48),
        4: logged[4][0],
        26: arrays_of("04_transformer_portable", "io.npz")["eager.out0"],
    }
    found = gap("04_transformer_portable", values)
    assert not found.skipped
    assert [row.aot_debug_handle for row in found.rows] == [(3,), (4,), (5,), (17,), (26,)]
    assert [row.gap for row in found.rows[:4]] == [[0], [0, 0, 0], [0], [0]]
    assert 0 < found.rows[4].gap[0] < 1e-12
    assert found.rows[4].runtime_ops == ["native_call_view_copy.out"]


def test_several_outputs_item_by_item() -> None:
    arrays = arrays_of("10_multi_output_list", "io.npz")
    given = arrays["run0.in0"]
    parts = [given[:, :2], given[:, 2:]]
    best = parts[1].argmax(axis=1)[:, None]
    values = {
        1: parts,
        2: [np.take_along_axis(parts[1], best, 1), best],
        "aten_gt_scalar": given > 0,
    }
    found = gap("10_multi_output_list", values, "L1")
    assert [row.gap for row in found.rows] == [[0, 0], [0, 0], [0]]
    assert not found.skipped


def test_an_operator_that_is_not_the_last_of_its_handle() -> None:
    """Of handle 11, the mean is a kernel of its own and the rest is inside a delegate."""
    values = {11: np.zeros((1, 8)), "aten_mean_dim": np.zeros((1, 8)), 12: np.zeros((1, 5))}
    found = gap("08_conv_xnnpack_quant", values, "L1")
    assert [row.runtime_ops for row in found.rows] == [["native_call_mean.out"], ["DELEGATE_CALL"]]
    assert [each.key for each in found.skipped] == [11]


@pytest.mark.parametrize(
    "name", ["01_mlp_portable", "03b_mixed_xnnpack", "03d_xnnpack_two_outputs", "12_channels_last"]
)
def test_etrecord_reference_outputs_are_default_reference(name: str) -> None:
    found = gap(name)
    outputs = arrays_of(name)
    assert found.rows
    for at, row in enumerate(found.rows):
        expected = outputs[f"etrecord.ref_out.forward.0.{at}"]
        np.testing.assert_array_equal(row.aot_intermediate_output, expected)
        assert row.gap[0] < 1e-12


def test_two_runs_are_compared_by_their_nodes() -> None:
    blocks = blocks_of("08_conv_xnnpack_quant")
    found = gap("08_conv_xnnpack_quant", blocks)
    assert [row.gap[0] for row in found.rows] == [0, 0, 0]
    assert [each.handles for each in found.skipped] == []


def test_references_by_name_and_from_a_file(tmp_path: Path) -> None:
    values = aot_values("01_mlp_portable")
    names = {
        "linear": values[1],
        "act": values[2],
        "(3,)": values[3],
        "aten__softmax_default": values[4],
        "none of these": values[4],
    }
    path = tmp_path / "reference.npz"
    np.savez(path, **names)
    for reference in (names, path, str(path)):
        found = gap("01_mlp_portable", reference)
        assert [row.aot_debug_handle for row in found.rows] == [(1,), (2,), (3,), (4,)]
        assert max(row.gap[0] for row in found.rows) < 1e-13
        assert [each.key for each in found.skipped] == ["none of these"]
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(FormatError, match=r"reference\.npz"):
        gap("01_mlp_portable", path)
    np.savez(path, a=np.array([{}], object))
    with pytest.raises(FormatError):
        gap("01_mlp_portable", path)


def test_missing_or_mismatched_values_are_skipped() -> None:
    values = aot_values("01_mlp_portable")
    blocks = blocks_of("01_mlp_portable")
    for event in blocks[1].events:
        event.debug_data = [None for _ in event.debug_data]
    record = record_of("01_mlp_portable")
    found = numeric_gap(blocks, record, "MSE", reference=values)
    assert not found.rows
    assert all("debug buffer" in each.reason for each in found.skipped)
    assert len(found.skipped) == len(values)
    wrong = gap("01_mlp_portable", {1: np.zeros(3), 2: [np.zeros(3)] * 2, 3: np.zeros(8, "c8")})
    reasons = ["do not agree", "2 values are given for 1 output", "complex64 have no distance"]
    told = [each.reason for each in wrong.skipped]
    assert all(reason in text for reason, text in zip(reasons, told, strict=True))


def test_missing_input_is_named_in_error() -> None:
    with pytest.raises(ValueError, match="an ETRecord is needed"):
        numeric_gap([], None, "MSE")
    with pytest.raises(ValueError, match="give reference="):
        numeric_gap(
            [], dataclasses.replace(record_of("01_mlp_portable"), reference_outputs=None), "l1"
        )
    with pytest.raises(ValueError, match="no program"):
        numeric_gap([], ETRecord("a"), "MSE", reference={})
    with pytest.raises(TypeError, match="a reference has values"):
        gap("01_mlp_portable", [1, 2])


def test_callable_metric_and_worst_first_order() -> None:
    values = aot_values("01_mlp_portable")

    def largest(a: Any, b: Any) -> float:
        return float(np.abs(a - b).max())

    found = gap("01_mlp_portable", values, largest)
    gaps = [row.gap[0] for row in found.worst_first]
    assert gaps == sorted(gaps, reverse=True)
    ratios = [row.gap[0] for row in gap("01_mlp_portable", values, "SNR").worst_first]
    assert ratios == sorted(ratios)
    assert str(found).splitlines()[0] == "largest of 4 values"
    assert "<td>" in found._repr_html_()
    exact = {3: np.zeros((2, 4)), 4: np.full((2, 4), np.inf)}
    first = gap("01_mlp_portable", exact, "cosine").worst_first[0]
    assert first.aot_debug_handle == (4,)
    assert math.isnan(first.gap[0])


def test_table_matches_inspector() -> None:
    told = pd.DataFrame(gaps_of("01_mlp_portable")["gap.auto", "MSE"]["rows"])
    frame = gap("01_mlp_portable", aot_values("01_mlp_portable")).to_dataframe()
    assert set(frame.columns) == set(told.columns)
    assert frame["aot_ops"].tolist() == told["aot_ops"].tolist()
    assert gap("01_mlp_portable", {}).to_dataframe().empty

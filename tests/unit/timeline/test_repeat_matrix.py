"""Operators by repeats, and the repeats folded."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from unit.timeline.times_truth import parts, timeline

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.analysis.timeline.repeat_matrix import (
    RepeatMatrix,
    repeat_matrix,
    why_no_repeats,
)
from tvmdbg_widgets.model.timeline.warm_up import warm_up


def of(ns: list[list[float]]) -> RepeatMatrix:
    column = np.array(ns)
    offsets = np.arange(0, column.size + 1, column.shape[1])
    names = [f"op {i}" for i in range(len(ns))]
    found = warm_up(offsets, column.ravel())
    return RepeatMatrix("t", np.arange(len(ns)), names, column, found)


def test_repeat_matrix_matches_debugger_times(corpus: Path) -> None:
    folder = corpus / "tvm" / "resnet20_cifar"
    seconds = json.loads((folder / "time_list.json").read_text())
    run = tvmdbg.open(folder)
    matrix = run.repeats()
    measured = [i for i, each in enumerate(seconds) if len(each) and max(each) > 0]
    rows = {node: row for row, node in enumerate(matrix.nodes.tolist())}
    for node in measured:
        expected = np.array(seconds[node]) * 1e9
        np.testing.assert_allclose(matrix.ns[rows[node]], expected, atol=0.51)
        np.testing.assert_allclose(
            matrix.relative[rows[node]], expected / np.median(expected), rtol=1e-3
        )
    totals = np.sum([np.array(seconds[node]) * 1e9 for node in measured], axis=0)
    np.testing.assert_allclose(matrix.totals, totals, atol=0.51 * len(measured))
    assert (matrix.nodes.tolist(), matrix.warm_up.cut) == (sorted(matrix.nodes.tolist()), 0)
    assert matrix.steady() is matrix
    assert "5 repeats" in repr(matrix)
    folded = matrix.folded()
    np.testing.assert_allclose(folded.p50, np.median(matrix.ns, axis=1))
    np.testing.assert_allclose(folded.start_ns[1:], np.cumsum(folded.p50)[:-1])
    assert folded.total_ns == pytest.approx(folded.p50.sum())
    assert "medians back to back" in folded.said


def test_missing_repeats_and_zero_medians_have_nan_ratio() -> None:
    matrix = of([[4, 2, 2, 2], [3, np.nan, 1, 1], [0, 0, 0, 0]])
    np.testing.assert_array_equal(matrix.relative[0], [2, 1, 1, 1])
    np.testing.assert_array_equal(matrix.relative[1], [3, np.nan, 1, 1])
    assert np.isnan(matrix.relative[2]).all()
    assert matrix.totals.tolist() == [4, 2, 2, 2]
    frame = matrix.to_dataframe()
    assert frame["repeat_0_ns"].tolist() == [4, 3, 0]
    folded = matrix.folded()
    assert (folded.p50.tolist(), folded.start_ns.tolist()) == ([2, 1, 0], [0, 2, 3])
    assert len(folded.to_dataframe()) == 3


def test_warm_up_is_shown_and_removed_only_by_steady() -> None:
    matrix = of([[30, 10, 10, 10, 11], [60, 20, 20, 20, 20]])
    assert (matrix.warm_up.cut, matrix.repeats, matrix.steady().repeats) == (1, 5, 4)
    assert matrix.steady().ns[:, 0].tolist() == [10, 20]
    assert matrix.steady().totals.tolist() == [30, 30, 30, 31]
    assert "the first of 5 repeats takes 3.00 times" in repr(matrix)
    assert matrix.folded().p50.tolist() == [10, 20]


def test_run_without_repeats_raises_error_with_reason(corpus: Path) -> None:
    with pytest.raises(ValueError, match="no trace"):
        repeat_matrix(parts(None))
    run = parts(timeline([(0, 1, 0, 0), (2, 0, 0, 0), (2, 3, 0, 1)]))
    assert "occurs once" in why_no_repeats(run)
    with pytest.raises(ValueError, match=r"time_list\.json"):
        repeat_matrix(run)
    with pytest.raises(ValueError, match="measured once"):
        tvmdbg.open(corpus / "tvm" / "resnet20_cifar_v0.6").repeats()


def test_trace_rows_group_slices_by_name() -> None:
    found = repeat_matrix(
        parts(timeline([(0, 3, 0, 1), (5, 2, 0, 1), (9, 0, 0, 1), (4, 1, 0, 0), (12, 4, 1, 1)]))
    )
    assert found.of_slices
    assert (list(found.names), found.nodes.tolist()) == (["f1", "f0"], [-1, -1])
    np.testing.assert_array_equal(found.ns, [[30, 20, 40], [10, np.nan, np.nan]])
    assert len(found.totals) == 0
    assert "2 names with up to 3 slices each" in repr(found)
    assert "f1: 30.00 ns (22.00 ns … 38.00 ns)" in repr(found.folded())


def test_report_without_calls_raises_error_naming_time_list(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm/edge_cases/v0.19/reports")
    assert run.timeline.num_slices == 0
    with pytest.raises(ValueError, match=r"No times are in .*time_list\.json"):
        run.repeats()

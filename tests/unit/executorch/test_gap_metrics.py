"""Distances, against those that the Inspector computed and those that numpy tells by hand."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as drawn

from tests.unit.executorch.gap_cases import COMPARED, arrays_of, gaps_of
from tvmdbg_widgets.analysis.executorch.metrics import METRICS, broadcast_problem, metric

EVERY_GAP = [
    (name, prefix, kind, number)
    for name in COMPARED
    for (prefix, kind), table in gaps_of(name).items()
    for number in range(len(table["rows"]))
]


@pytest.mark.parametrize(("name", "prefix", "kind", "number"), EVERY_GAP)
def test_every_recorded_gap(name: str, prefix: str, kind: str, number: int) -> None:
    arrays = arrays_of(name)
    a = arrays[f"{prefix}.{number}.aot_intermediate_output"]
    b = arrays[f"{prefix}.{number}.runtime_intermediate_output"]
    (told,) = gaps_of(name)[prefix, kind]["rows"][number]["gap"]
    assert metric(kind.lower()).of(a, b) == pytest.approx(float(told), rel=1e-12, nan_ok=True)


def of(name: str, a: Any, b: Any) -> float:
    return metric(f" {name} ").of(a, b)


def test_metrics_match_values_computed_by_hand() -> None:
    a, b = np.array([3.0, 4.0]), np.array([3.0, 2.0])
    assert of("mse", a, b) == 2
    assert of("l1", a, b) == 2
    assert of("snr", a, b) == pytest.approx(10 * math.log10(12.5 / 2))
    assert of("psnr", a, b) == pytest.approx(10 * math.log10(16 / 2))
    assert of("cosine", a, b) == pytest.approx(17 / (5 * math.sqrt(13)))
    assert of("ulp", a, b) == 2**52
    assert of("l1", True, 3) == 2


def test_equal_values() -> None:
    ones, zeros, empty = np.ones(3), np.zeros(3), np.zeros(0)
    assert [of(each.name, ones, ones) for each in METRICS] == pytest.approx(
        [0, 0, math.inf, 1, math.inf, 0]
    )
    told = [of(each.name, zeros, zeros) for each in METRICS]
    assert told == pytest.approx([0, 0, math.nan, 1, math.nan, 0], nan_ok=True)
    assert of("cosine", zeros, ones) == 0
    assert math.isnan(of("mse", empty, empty))
    assert of("ulp", empty, empty) == 0


def test_nan_is_zero_and_makes_infinities_finite() -> None:
    """Recorded of torch: ``nan_to_num`` of a whole tensor, only where it has a NaN."""
    assert of("l1", np.array([math.nan, 1.0]), np.array([2.0, 1.0])) == 2
    largest = np.finfo(np.float64).max
    assert of("l1", np.array([math.nan, math.inf]), np.array([0.0, 0.0])) == largest
    assert of("l1", np.array([math.inf]), np.array([0.0])) == math.inf
    assert math.isnan(of("l1", np.array([math.inf]), np.array([math.inf])))


def test_ulp_metric_uses_runtime_dtype() -> None:
    bfloat16 = np.array([1.0, 1.0078125], ml_dtypes.bfloat16)
    assert of("ulp", np.array([1.0, 1.0]), bfloat16) == 1
    nan = np.array([math.nan], np.float32)
    assert of("ulp", nan, nan) == 0
    assert of("ulp", np.ones(1), nan) == math.inf
    assert of("ulp", np.array([3]), np.array([-3])) == 6


def test_metric_names_and_unsupported_types() -> None:
    with pytest.raises(ValueError, match=r"^Unsupported distance metric 'COSINE'$"):
        metric("COSINE", compat=True)
    with pytest.raises(ValueError, match=r"metric 'nope'; known: 'MSE', 'L1', 'SNR', 'COSINE'"):
        metric("nope")
    assert metric(max).name == "max"
    with pytest.raises(TypeError, match="complex64"):
        of("mse", np.ones(1, np.complex64), np.ones(1))


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        (
            (2, 3),
            (2, 6),
            (
                "The size of tensor a (3) must match the size of tensor b (6) at non-singleton "
                "dimension 1"
            ),
        ),
        (
            (5,),
            (2, 3, 4),
            (
                "The size of tensor a (5) must match the size of tensor b (4) at non-singleton "
                "dimension 2"
            ),
        ),
        ((2, 3, 1, 5), (4, 5), ""),
        ((), (4, 5), ""),
    ],
)
def test_broadcast_errors_match_torch(a: tuple[int, ...], b: tuple[int, ...], told: str) -> None:
    assert broadcast_problem(np.zeros(a), np.zeros(b)) == told


@given(
    drawn.arrays(np.float32, 4, elements=st.floats(width=32)),
    drawn.arrays(np.float32, 4, elements=st.floats(width=32)),
)
def test_any_floats_have_a_distance(a: Any, b: Any) -> None:
    for each in METRICS:
        assert isinstance(each.of(a, b), float)

"""Student's t and the confidence interval of the mean."""

import math
import statistics

import numpy as np
import pytest

from tvmdbg_widgets.model.timeline.node_sets import node_statistics, student_t

#: Two-sided 95 % quantiles as published to 14 digits.
_PUBLISHED = {
    1: 12.7062047361747,
    2: 4.30265272974946,
    3: 3.18244630528371,
    4: 2.77644510519779,
    5: 2.57058183563631,
    10: 2.22813885198627,
    30: 2.04227245630124,
    100: 1.98397151852355,
    1000: 1.96233908082641,
}


@pytest.mark.parametrize(("degrees", "expected"), _PUBLISHED.items())
def test_quantiles_match_published_tables(degrees: int, expected: float) -> None:
    assert student_t(degrees) == pytest.approx(expected, rel=2e-8)


def test_quantile_of_many_degrees_approaches_normal_quantile() -> None:
    assert student_t(10**9) == pytest.approx(1.959963984540054, abs=1e-8)
    assert student_t(1000) > student_t(1001) > student_t(1002)
    assert student_t(1000) - student_t(1001) == pytest.approx(
        student_t(1001) - student_t(1002), rel=0.01
    )


def test_confidence_interval_of_mean_matches_textbook_formula() -> None:
    own = [12.0, 15.0, 11.0, 14.0, 13.0, 17.0]
    offsets = np.array([0, 6, 7, 7, 9])
    repeats = np.array([*own, 5.0, 4.0, np.nan])
    result = node_statistics(offsets, repeats, np.full(4, 7.0))
    half = 2.57058183563631 * statistics.stdev(own) / math.sqrt(6)
    assert result.low[0] == pytest.approx(statistics.mean(own) - half, rel=1e-12)
    assert result.high[0] == pytest.approx(statistics.mean(own) + half, rel=1e-12)
    assert np.isnan(result.low[1:]).all()
    assert np.isnan(result.high[1:]).all()
    assert "95 % CI 11.40 ns … 15.93 ns" in repr(result[0])
    assert "within" not in repr(result[1]) + repr(result[2]) + repr(result[3])
    assert result.to_dataframe()["low_ns"][0] == result[0].low

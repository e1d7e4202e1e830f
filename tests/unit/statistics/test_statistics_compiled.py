"""The compiled pass counts what numpy counts, and sums as well."""

import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.statistics.statistics_truth import check, decoded, some_bytes, values_of
from tvmdbg_widgets.model.statistics import batch, result, statistics
from tvmdbg_widgets.model.statistics.result import FloatTally

pytest.importorskip("numba")


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    assert result.kernel(np.dtype(np.float32), wait=True) is not None
    assert result.kernel(np.dtype(np.float64)) is not None


@given(st.sampled_from(["float32", "float64"]), st.data(), st.integers(1, 400))
@settings(max_examples=60)
def test_compiled_tally_matches_every_field(name: str, data: st.DataObject, size: int) -> None:
    array = decoded(data.draw(some_bytes(name)), name)
    tally = FloatTally(array.dtype, fast=True)
    plain = FloatTally(array.dtype)
    for begin in range(0, len(array), size):
        with np.errstate(invalid="ignore"):
            for each in (tally, plain):
                chunk = array[begin : begin + size]
                each.add(chunk, lambda index, begin=begin: begin + index)
    check(array, tally.finish())
    assert (tally.prefixes == plain.prefixes).all()
    assert (tally.apart == plain.apart).all()


@pytest.mark.parametrize("name", ["float32", "float64"])
@pytest.mark.parametrize("offset", [0.0, 1e6, -3e-3])
def test_compiled_sums_match_plain_sums_of_many_values(
    name: str, offset: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    array = (np.random.default_rng(0).standard_normal(400_001) * 1e-2 + offset).astype(name)
    array[:5000] += 10
    values = values_of(array.tobytes(), name)
    plain = statistics(values)
    monkeypatch.setattr(batch, "_FAST", 1)
    found = statistics(values)
    magnitude = float(np.abs(array.astype(float)).mean())
    assert abs(found.mean - plain.mean) <= 1e-12 * magnitude
    assert found.std == pytest.approx(plain.std, rel=1e-12)
    assert (found.distribution.counts == plain.distribution.counts).all()


def test_nothing_is_compiled_for_small_arrays() -> None:
    code = (
        "import sys, numpy as np\n"
        "from tvmdbg_widgets.model.statistics import statistics\n"
        "statistics(lambda: [np.ones(10**6, np.float32)])\n"
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_first_answer_does_not_wait_for_the_compiler() -> None:
    code = (
        "import sys, time, numpy as np\n"
        "from tvmdbg_widgets.model.statistics import result as compiled\n"
        "begin = time.monotonic()\n"
        "assert compiled.kernel(np.dtype('f4')) is None\n"
        "assert time.monotonic() - begin < 2\n"
    )
    begin = time.monotonic()
    subprocess.run([sys.executable, "-c", code], check=True)
    assert time.monotonic() - begin < 120, "and the compiler does not keep a process from ending"

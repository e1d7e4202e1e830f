"""Small arrays counted together: every field as a pass over each alone gives it."""

from __future__ import annotations

import math
import pickle
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.unit.statistics_truth import FLOATS, NAMES, decoded, values_of
from tvmdbg_widgets.model.dtypes import DataType
from tvmdbg_widgets.model.statistics import Statistics, batch, batch_moments, statistics
from tvmdbg_widgets.model.statistics.batch import Batch

FIELDS = [field.name for field in fields(Statistics)]


def plain(value: Any) -> Any:
    """Return a fact of statistics so that equal ones compare equal: NaN, signs and types too."""
    if isinstance(value, np.generic):
        return value.dtype.name, value.tobytes()
    if isinstance(value, float):
        return value.hex()
    if hasattr(value, "edges"):
        return value.counts.tolist(), value.edges.tobytes(), value.exact
    if hasattr(value, "keys"):
        ends = plain(value.minimum), plain(value.maximum)
        return value.keys.tolist(), value.counts.tolist(), value.bins, ends
    return value


def facts(found: Statistics) -> dict[str, Any]:
    return {name: plain(getattr(found, name)) for name in FIELDS}


def alone(stored: bytes, name: str, reading: str = "bytes") -> dict[str, Any]:
    return facts(statistics(values_of(stored, name, reading)))


SPECIAL = {
    "float32": ["0", "-0.0", "nan", "inf", "-inf", "1e-45", "-1e-39", "1.1754944e-38", "1"],
    "float64": ["0", "-0.0", "nan", "inf", "-inf", "5e-324", "-1e-310", "1e308", "-1e308", "0.1"],
}


@st.composite
def rows(draw: st.DrawFn, name: str) -> list[bytes]:
    """Draw the bytes of several arrays of one length: any bits, or close to each other."""
    width = DataType.parse(name).itemsize
    count = draw(st.sampled_from([0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 33, 130]))
    kind = draw(st.sampled_from(["bits", "few", "near", "cancel"]))
    size = draw(st.integers(1, 6))
    if kind == "bits":
        return [draw(st.binary(min_size=count * width, max_size=count * width))] * size
    random = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    if kind == "few":
        some = [random.bytes(width) for _ in range(3)]
        if name in SPECIAL:
            some += [np.array(each, name).tobytes() for each in SPECIAL[name]]
        return [b"".join(some[i] for i in random.integers(0, len(some), count)) for _ in range(size)]
    centre = draw(st.sampled_from([0.0, 1.0, -1000.25, 3e4]))
    spread = draw(st.sampled_from([0.0, 1e-3, 1.0, 50.0]))
    values = random.standard_normal((size, count)) * spread + centre
    if kind == "cancel":
        values[:, 1::2] = -values[:, 0::2][:, : values[:, 1::2].shape[1]]
    if name in ("bool", *FLOATS) or name.startswith(("int", "uint")):
        numpy_type = values_of(b"", name).numpy_dtype
        with np.errstate(all="ignore"):
            stored = values.astype(np.int64 if "int" in name else np.float64).astype(numpy_type)
        return [row.tobytes() for row in stored]
    return [random.bytes(count * width) for _ in range(size)]


@given(st.sampled_from(NAMES), st.data())
@settings(max_examples=300, deadline=None)
def test_every_field_is_that_of_the_array_alone(name: str, data: st.DataObject) -> None:
    stored = data.draw(rows(name))
    together = Batch(values_of(stored[0], name).alike(stored))
    for row, each in enumerate(stored):
        assert facts(together.rows()[row]) == alone(each, name)

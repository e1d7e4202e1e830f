"""Columns on their way to the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from make import wire as golden
from unit.widgets import wire

from tvmdbg_widgets.engine import pack
from tvmdbg_widgets.model.base.columns import StringColumn

KINDS = (np.uint8, np.uint16, np.uint32, np.int32, np.float32, np.float64, np.bool_)


@st.composite
def columns(draw: st.DrawFn) -> np.ndarray[Any, Any] | StringColumn:
    if draw(st.booleans()):
        texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
        return StringColumn.from_strings(draw(st.lists(texts, max_size=12)))
    dtype = np.dtype(draw(st.sampled_from(KINDS)))
    length = draw(st.integers(0, 20))
    data = draw(st.binary(min_size=length * dtype.itemsize, max_size=length * dtype.itemsize))
    if dtype == np.bool_:
        return np.frombuffer(data, np.uint8) > 127
    return np.frombuffer(data, dtype)


@given(st.dictionaries(st.text(max_size=4), columns(), max_size=8), st.booleans())
def test_packed_columns_round_trip_exactly(given_columns: dict[str, Any], strided: bool) -> None:
    if strided:
        given_columns = {
            name: column if isinstance(column, StringColumn) else np.repeat(column, 2)[::2]
            for name, column in given_columns.items()
        }
    headers, buffer = pack(given_columns)
    found = wire.unpack(headers, buffer)
    assert list(found) == list(given_columns)
    for name, column in given_columns.items():
        if isinstance(column, StringColumn):
            assert found[name] == [column[i] for i in range(len(column))]
        else:
            assert found[name].tobytes() == column.tobytes()


@pytest.mark.parametrize("dtype", ["int64", "uint64", "float16", "complex64", "U3", "O", "int8"])
def test_pack_refuses_unsupported_dtypes(dtype: str) -> None:
    with pytest.raises(TypeError, match="'odd'"):
        pack({"odd": np.zeros(2, dtype)})


def test_recorded_columns_match_current_output(data: Path) -> None:
    assert (data / "wire/columns.json").read_bytes() == golden.written()

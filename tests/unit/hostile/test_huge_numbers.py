"""Products of sizes that a file claims are whole numbers of any length: nothing overflows."""

import contextlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph_json import graph_json, null, operator
from tvmdbg_widgets import DebugRun, FormatError
from tvmdbg_widgets import open as open_run
from tvmdbg_widgets.analysis.tuning.step_words import flop_count
from tvmdbg_widgets.analysis.work import work
from tvmdbg_widgets.formats.tuning.dag_text import parse_dag
from tvmdbg_widgets.model.base import numbers
from tvmdbg_widgets.model.executorch.scalar_types import TorchTensor
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.sources.archives import read_numpy_array
from tvmdbg_widgets.sources.byte_source import BytesSource

SIZES = st.sampled_from([0, 1, 7, 10**9, 2**31 - 1, 2**53, 2**62])
HUGE = st.lists(SIZES, max_size=64).map(math.prod) | st.integers(0, 10**5000)
TEXTS: list[Callable[[Any], str]] = [
    *(numbers.duration_text, numbers.exact_ns, numbers.percent, numbers.speed_text),
    *(numbers.integer, numbers.bytes_text, numbers.significant),
    lambda value: numbers.fixed(value, 1),
    lambda value: numbers.counted(value, "byte"),
    lambda value: numbers.agree(value, "is"),
    lambda value: numbers.rate_text(value, "FLOP/s"),
]
FUNCTIONS = (
    *("nn_dense", "nn_conv2d", "nn_conv2d_add_nn_relu", "nn_max_pool2d", "nn_softmax", "sum"),
    *("add", "mean", "reshape", "take", "nn_batch_matmul", "layout_transform_exp"),
)


@pytest.mark.parametrize("text", TEXTS)
@given(HUGE)
def test_numbers_of_any_size_are_written(text: Callable[[Any], str], value: int) -> None:
    assert text(value)


def test_numbers_beyond_float_range_are_shortened() -> None:
    assert numbers.counted(10**400, "byte") == "more than 10^308 bytes"
    assert numbers.bytes_text(10**400) == "more than 10^308 B"
    assert numbers.counted(10**300, "byte").startswith("1,000,000,")


@settings(max_examples=25)
@given(st.sampled_from(FUNCTIONS), st.lists(st.lists(SIZES, max_size=64), min_size=3, max_size=3))
def test_work_of_graph_with_huge_shapes_is_never_infinite(
    name: str, shapes: list[list[int]]
) -> None:
    add = operator("f", f"tvmgen_default_fused_{name}", [0, 1])
    run = open_run(graph_json([null("x"), null("w"), add], shapes=shapes))
    assert isinstance(run, DebugRun)
    found = work(run.graph)
    assert not np.isinf(found.flops).any()
    assert not np.isinf(found.bytes).any()
    assert str(found)
    assert str(run.table())
    assert str(run.memory_plan())
    assert str(run.findings())


@given(st.lists(st.sampled_from([1, 10**9, 2**31 - 1]), min_size=1, max_size=40))
def test_huge_dag_extents_do_not_overflow_flop_count(extents: list[int]) -> None:
    axes = ", ".join(f"i{axis}" for axis in range(len(extents)))
    text = f"A = PLACEHOLDER {extents}\nB({axes}) = (A[{axes}]*2f)\nC({axes}) += B[{axes}]\n"
    found = flop_count(parse_dag(text, shapes=[extents, extents]))
    assert found is None or found >= math.prod(extents) * (1 - 1e-9)
    if math.prod(extents) > 10**308:
        assert found is None


@given(st.lists(SIZES, max_size=40))
def test_tensors_with_huge_shapes_are_read_or_refused(shape: list[int]) -> None:
    source = BytesSource(bytes(8), "small")
    with contextlib.suppress(ValueError):
        found = TorchTensor(DataType.parse("int64"), tuple(shape), (1,) * len(shape), 0, source)
        assert found.numpy().shape == tuple(shape)
    sizes = ", ".join(map(str, shape))
    told = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({sizes},), }}".encode()
    header = b"\x93NUMPY\x01\x00" + len(told).to_bytes(2, "little") + told
    with contextlib.suppress(FormatError):
        assert read_numpy_array(BytesSource(header, "small.npy")).size == 0


@pytest.mark.parametrize("digits", [18, 30, 310, 4_000, 5_000])
@pytest.mark.parametrize("column", ["raw", "avg (ms)", "start_time"])
def test_inspector_table_with_huge_times_is_read_or_refused(digits: int, column: str) -> None:
    row = {"event_block_name": "Execute", "event_name": "Method::execute", "raw": "[1.5]"}
    row |= {"avg (ms)": "1.5", "start_time": "[5]", "is_delegated_op": "False"}
    row[column] = f"[{'9' * digits}]" if column != "avg (ms)" else "9" * digits
    text = "\t".join(row) + "\n" + "\t".join(row.values()) + "\n"
    with contextlib.suppress(FormatError):
        run = open_run(text.encode())
        assert isinstance(run, DebugRun)
        repr(run.table())

"""Values of the debug buffer, against the arrays that ExecuTorch's Inspector made of them."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.executorch_cases import CASES, answers, case_dir
from tvmdbg_widgets.formats.executorch.debug_buffer import (
    DebugBufferFile,
    covers,
    inflated,
    needed_size,
)
from tvmdbg_widgets.formats.executorch.etdump import read_etdump
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.executorch.etdump import DebugTensor, DebugValue, ETDump, ValueType
from tvmdbg_widgets.sources.byte_source import BytesSource
from tvmdbg_widgets.sources.file_source import FileSource

INSPECTED = tuple(name for name in CASES if "blocks" in answers(name)["inspector"])
WITH_BUFFER = tuple(name for name in INSPECTED if (case_dir(name) / "debug_buffer.bin").exists())
#: flatc rounds it on its way to the Inspector.
ROUNDED = 1e-300


def dump_of(name: str) -> ETDump:
    return read_etdump(FileSource(case_dir(name) / "etdump.etdp"))


def buffer_of(name: str) -> DebugBufferFile:
    return DebugBufferFile(FileSource(case_dir(name) / "debug_buffer.bin"))


def values_of(dump: ETDump, run: int, event: dict[str, Any]) -> list[DebugValue]:
    """Values that a run logged for an event of the Inspector, found by instruction and name."""
    identifier = event["delegate_debug_identifier"]
    found = []
    for at in dump.events_of(run):
        value = dump.values.get(at)
        if value is None or value.output or dump.instruction_id[at] != event["instruction_id"]:
            continue
        number, text = int(dump.delegate_id_int[at]), dump.delegate_id_str[at]
        if identifier == (number if number != -1 else text or None):
            found.append(value)
    return found


def recorded(told: Any, arrays: Any) -> Any:
    if isinstance(told, list):
        return [recorded(each, arrays) for each in told]
    return arrays[told["npz"]] if "npz" in told else told["value"]


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if not isinstance(theirs, np.ndarray):
        return type(ours) is type(theirs) and ours in (theirs, ROUNDED)
    assert isinstance(ours, np.ndarray)
    bits = ours.dtype == theirs.dtype and ours.shape == theirs.shape
    return bits and ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("name", INSPECTED)
def test_every_value_matches_the_inspector_bit_for_bit(name: str) -> None:
    dump = dump_of(name)
    buffer = buffer_of(name) if name in WITH_BUFFER else None
    arrays = np.load(case_dir(name) / "inspector_tensors.npz") if buffer else {}
    runs = iter(range(dump.num_runs))
    for block in answers(name)["inspector"]["blocks"]:
        run = next(at for at in runs if dump.run_names[at] == block["name"])
        for event in block["events"]:
            told = event["debug_data"]
            if not told:
                continue
            found = [inflated(each, buffer, compat=True) for each in values_of(dump, run, event)]
            assert same(found, recorded(told, arrays)), event["name"]
        outputs = [dump.values[at] for at in dump.events_of(run) if at in dump.values]
        outputs = [each for each in outputs if each.output]
        if block["run_output"]:
            found = [inflated(each, buffer, compat=True) for each in outputs]
            assert same(found, recorded(block["run_output"], arrays))


@pytest.mark.parametrize("name", WITH_BUFFER)
def test_c_order_tensors_are_equal_with_and_without_compat(name: str) -> None:
    dump, buffer = dump_of(name), buffer_of(name)
    for value in dump.values.values():
        tensor = value.value
        if isinstance(tensor, DebugTensor) and tensor.strides == c_order(tensor.sizes):
            assert same(inflated(value, buffer), inflated(value, buffer, compat=True))


def c_order(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(max(1, size) for size in sizes[at + 1 :]) for at in range(len(sizes)))


def test_channels_last_values_are_right_unlike_the_inspectors() -> None:
    dump, buffer = dump_of("12_channels_last"), buffer_of("12_channels_last")
    eager = np.load(case_dir("12_channels_last") / "io.npz")
    expected = eager[next(name for name in eager.files if "eager" in name)]
    (output,) = (value for value in dump.values.values() if value.output)
    right, wrong = inflated(output, buffer), inflated(output, buffer, compat=True)
    assert isinstance(right, np.ndarray)
    assert isinstance(wrong, np.ndarray)
    np.testing.assert_allclose(right, expected, rtol=0, atol=1e-6)
    assert np.abs(wrong - expected).max() > 0.1
    assert isinstance(output.value, DebugTensor)
    record = buffer.record(output.value, "out")
    assert "strides" in record.notes[0]
    np.testing.assert_array_equal(record.window((0, slice(1, 3), ..., 2)), right[0, 1:3, ..., 2])
    np.testing.assert_array_equal(np.concatenate(list(record.chunks(20))), right.reshape(-1))


def test_values_without_a_buffer_are_unknown_or_inspector_zeros() -> None:
    dump = dump_of("09a_all_values")
    (block,) = answers("09a_all_values")["variants"]["no_etrecord_no_buffer"]
    for event in block["events"]:
        (value,) = values_of(dump, 0, event)
        assert same([inflated(value, None, compat=True)], zeros(event["debug_data"]))
        if isinstance(value.value, DebugTensor):
            assert inflated(value, None) is None
        elif isinstance(value.value, tuple):
            assert inflated(value, None) == [None] * len(value.value)


def zeros(told: Any) -> Any:
    if isinstance(told, list):
        return [zeros(each) for each in told]
    if "npz" not in told:
        return told["value"]
    return np.zeros(told["shape"], told["dtype"].removeprefix("torch."))


FLOATS = DebugTensor(6, (4, 4), (4, 1), 0)


def of(data: bytes) -> DebugBufferFile:
    return DebugBufferFile(BytesSource(data, "buffer.bin"))


@pytest.mark.parametrize(
    ("tensor", "size", "error", "text"),
    [
        (FLOATS, 32, RuntimeError, "shape '[4, 4]' is invalid for input of size 8"),
        (FLOATS, 0, ValueError, "both buffer length (0) and count (-1) must not be 0"),
        (
            FLOATS,
            5,
            ValueError,
            "buffer length (5 bytes) after offset (0 bytes) must be a multiple of element size (4)",
        ),
        (
            DebugTensor(15, (2,), (1,), 0),
            64,
            RuntimeError,
            "Unsupported scalar type in get_scalar_type_size : 15",
        ),
    ],
)
def test_inspector_errors_are_reproduced(
    tensor: DebugTensor, size: int, error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as caught:
        inflated(DebugValue(ValueType.TENSOR, tensor), of(bytes(size)), compat=True)
    assert str(caught.value) == text


def test_missing_members_raise_the_inspector_errors() -> None:
    for kind, text in ((1, "Expected Int value, `None` provided"), (5, "Tensor cannot be None")):
        with pytest.raises(ValueError, match=text):
            inflated(DebugValue(kind, None), None, compat=True)
    assert inflated(DebugValue(0, None), None, compat=True) is None
    assert inflated(DebugValue(1, None), None) is None


@pytest.mark.parametrize(
    ("tensor", "field"),
    [
        (DebugTensor(6, (4, 4), (4, 1), 4), "Tensor.offset"),
        (DebugTensor(6, (4, 4), (4, 1), -1), "Tensor.offset"),
        (DebugTensor(6, (2, 2), (4, 1), 0), "Tensor.strides"),
        (DebugTensor(6, (2, 2), (2, -1), 0), "Tensor.strides"),
        (DebugTensor(6, (2, 2), (1,), 0), "Tensor.strides"),
        (DebugTensor(6, (-1, 2), (2, 1), 0), "Tensor.sizes"),
        (DebugTensor(6, (1 << 40, 1 << 40, 0), (), -1), "Tensor.sizes"),
        (DebugTensor(6, (1,) * 17, (), 0), "Tensor.sizes"),
        (DebugTensor(16, (2,), (1,), 0), "Tensor.scalar_type"),
        (DebugTensor(99, (2,), (1,), 0), "Tensor.scalar_type"),
    ],
)
def test_impossible_tensor_metadata_is_refused(tensor: DebugTensor, field: str) -> None:
    with pytest.raises(FormatError) as caught:
        of(bytes(64)).record(tensor, "a")
    assert caught.value.field == field


def test_debug_buffer_of_another_run_is_reported() -> None:
    dump, other = dump_of("02_conv_portable"), buffer_of("01_mlp_portable")
    assert not covers(dump, other.source.size)
    assert covers(dump, buffer_of("02_conv_portable").source.size)
    assert not covers(dump_of("05_multirun"), 1 << 20)
    (issue,) = other.issues(dump)
    assert issue.rule == "debug-buffer-short"
    last = max(dump.values.values(), key=lambda value: offset_of(value.value))
    with pytest.raises(FormatError, match="belong to another run"):
        inflated(last, other)
    (issue,) = buffer_of("02_conv_portable").issues(dump_of("01_mlp_portable"))
    assert issue.rule == "debug-buffer-other"


def offset_of(value: object) -> int:
    return value.offset if isinstance(value, DebugTensor) else -1


def test_an_unused_end_is_noted() -> None:
    dump = dump_of("01_mlp_portable")
    data = (case_dir("01_mlp_portable") / "debug_buffer.bin").read_bytes()[: needed_size(dump)]
    assert not of(data).issues(dump)
    (issue,) = of(data + bytes(1 << 20)).issues(dump)
    assert issue.rule == "debug-buffer-unused"


def test_types_that_the_inspector_does_not_know_are_read() -> None:
    values = np.arange(-2, 4, dtype=ml_dtypes.bfloat16).reshape(2, 3)
    read = inflated(
        DebugValue(ValueType.TENSOR, DebugTensor(15, (2, 3), (3, 1), 0)), of(values.tobytes())
    )
    assert same(read, values)


@given(
    st.lists(st.integers(0, 4), max_size=5).flatmap(
        lambda sizes: st.tuples(st.just(tuple(sizes)), st.permutations(range(len(sizes))))
    ),
    st.integers(0, 9),
)
def test_any_dense_order_is_read(shape: tuple[tuple[int, ...], list[int]], offset: int) -> None:
    sizes, order = shape
    values = np.arange(math.prod(sizes), dtype="<i2").reshape(sizes)
    stored: npt.NDArray[Any] = np.ascontiguousarray(values.transpose(order))
    strides = [0] * len(sizes)
    for axis, place in enumerate(order):
        strides[place] = math.prod(stored.shape[axis + 1 :])
    tensor = DebugTensor(2, sizes, tuple(strides), offset)
    record = of(bytes(offset) + stored.tobytes()).record(tensor, "a")
    assert same(record.numpy(), values)


NUMBERS = st.integers(-3, 6) | st.sampled_from([-(1 << 63), (1 << 63) - 1, 1 << 40])


@given(
    st.integers(-1, 31),
    st.lists(NUMBERS, max_size=4),
    st.lists(NUMBERS, max_size=4),
    NUMBERS,
    st.integers(0, 80),
    st.booleans(),
)
def test_only_expected_errors_are_raised(  # noqa: PLR0917 (as drawn)
    kind: int, sizes: list[int], strides: list[int], offset: int, size: int, compat: bool
) -> None:
    tensor = DebugTensor(kind, tuple(sizes), tuple(strides), offset)
    refusals = (ValueError, RuntimeError) if compat else (FormatError,)
    with contextlib.suppress(*refusals):
        inflated(DebugValue(ValueType.TENSOR, tensor), of(bytes(size)), compat=compat)

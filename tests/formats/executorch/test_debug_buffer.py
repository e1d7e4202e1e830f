"""Values of the debug buffer, against the arrays that ExecuTorch's Inspector made of them."""

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
from tests.formats.executorch.case_files import arrays_of, buffer_of, dump_of, recorded
from tests.formats.executorch.case_files import values_of as values_of_event
from tvmdbg_widgets.formats.executorch import debug_buffer
from tvmdbg_widgets.formats.executorch.debug_buffer import DebugBufferFile, inflated
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.executorch.etdump import DebugTensor, DebugValue, ValueType
from tvmdbg_widgets.sources.byte_source import BytesSource

INSPECTED = tuple(name for name in CASES if "blocks" in answers(name)["inspector"])
WITH_BUFFER = tuple(name for name in INSPECTED if (case_dir(name) / "debug_buffer.bin").exists())
#: flatc rounds it on its way to the Inspector.
ROUNDED = 1e-300


def of(data: bytes) -> DebugBufferFile:
    return DebugBufferFile(BytesSource(data, "buffer.bin"))


def tensor(*held: Any, buffer: DebugBufferFile, compat: bool = False) -> Any:
    value = DebugValue(ValueType.TENSOR, DebugTensor(*held))
    return inflated(value, buffer, compat=compat)


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if not isinstance(theirs, np.ndarray):
        return type(ours) is type(theirs) and ours in (theirs, ROUNDED)
    bits = ours.dtype == theirs.dtype and ours.shape == theirs.shape
    return bits and ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("name", INSPECTED)
def test_every_value_matches_the_inspector_bit_for_bit(name: str) -> None:
    dump = dump_of(name)
    buffer = buffer_of(name) if name in WITH_BUFFER else None
    arrays = arrays_of(name) if buffer else {}
    runs = iter(range(dump.num_runs))
    for block in answers(name)["inspector"]["blocks"]:
        run = next(at for at in runs if dump.run_names[at] == block["name"])
        logged = [dump.values[at] for at in dump.events_of(run) if at in dump.values]
        pairs = [(each["debug_data"], values_of_event(dump, run, each)) for each in block["events"]]
        pairs.append((block["run_output"], [each for each in logged if each.output]))
        for told, values in pairs:
            found = [inflated(each, buffer, compat=True) for each in values]
            assert not told or same(found, recorded(told, arrays)), told
    for value in dump.values.values() if buffer else ():
        held = value.value
        if isinstance(held, DebugTensor) and held.strides == c_order(held.sizes):
            assert same(inflated(value, buffer), inflated(value, buffer, compat=True))


def c_order(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(max(1, size) for size in sizes[at + 1 :]) for at in range(len(sizes)))


def test_channels_last_values_are_right_unlike_the_inspectors() -> None:
    dump, buffer = dump_of("12_channels_last"), buffer_of("12_channels_last")
    eager = arrays_of("12_channels_last", "io.npz")
    expected = eager[next(name for name in eager if "eager" in name)]
    (output,) = (value for value in dump.values.values() if value.output)
    right, wrong = (np.asarray(inflated(output, buffer, compat=each)) for each in (False, True))
    np.testing.assert_allclose(right, expected, rtol=0, atol=1e-6)
    assert np.abs(wrong - expected).max() > 0.1
    record = buffer.record(output.value, "out")
    assert "strides" in record.notes[0]
    np.testing.assert_array_equal(record.window((0, slice(1, 3), ..., 2)), right[0, 1:3, ..., 2])
    np.testing.assert_array_equal(np.concatenate(list(record.chunks(20))), right.reshape(-1))


def test_values_without_a_buffer_are_unknown_or_inspector_zeros() -> None:
    dump = dump_of("09a_all_values")
    (block,) = answers("09a_all_values")["variants"]["no_etrecord_no_buffer"]
    for event in block["events"]:
        (value,) = values_of_event(dump, 0, event)
        assert same([inflated(value, None, compat=True)], recorded(event["debug_data"], None))
        if isinstance(value.value, DebugTensor):
            assert inflated(value, None) is None
        elif isinstance(value.value, tuple):
            assert inflated(value, None) == [None] * len(value.value)


LEFT = "buffer length (5 bytes) after offset (0 bytes) must be a multiple of element size (4)"


@pytest.mark.parametrize(
    ("kind", "shape", "size", "error", "text"),
    [
        (6, (4, 4), 32, RuntimeError, "shape '[4, 4]' is invalid for input of size 8"),
        (6, (4, 4), 0, ValueError, "both buffer length (0) and count (-1) must not be 0"),
        (6, (4, 4), 5, ValueError, LEFT),
        (15, (2,), 64, RuntimeError, "Unsupported scalar type in get_scalar_type_size : 15"),
    ],
)
def test_inspector_errors_are_reproduced(
    kind: int, shape: tuple[int, ...], size: int, error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as caught:
        tensor(kind, shape, c_order(shape), 0, buffer=of(bytes(size)), compat=True)
    assert str(caught.value) == text


def test_missing_members_raise_the_inspector_errors() -> None:
    for kind, text in ((1, "Expected Int value, `None` provided"), (5, "Tensor cannot be None")):
        with pytest.raises(ValueError, match=text):
            inflated(DebugValue(kind, None), None, compat=True)
    assert inflated(DebugValue(0, None), None, compat=True) is None
    assert inflated(DebugValue(1, None), None) is None


@pytest.mark.parametrize(
    ("field", "kind", "sizes", "strides", "offset"),
    [
        ("offset", 6, (4, 4), (4, 1), 4),
        ("offset", 6, (4, 4), (4, 1), -1),
        ("strides", 6, (2, 2), (4, 1), 0),
        ("strides", 6, (2, 2), (2, -1), 0),
        ("strides", 6, (2, 2), (1,), 0),
        ("sizes", 6, (-1, 2), (2, 1), 0),
        ("sizes", 6, (1 << 40, 1 << 40, 0), (), -1),
        ("sizes", 6, (1,) * 17, (), 0),
        ("scalar_type", 16, (2,), (1,), 0),
        ("scalar_type", 99, (2,), (1,), 0),
    ],
)
def test_impossible_tensor_metadata_is_refused(
    field: str, kind: int, sizes: tuple[int, ...], strides: tuple[int, ...], offset: int
) -> None:
    with pytest.raises(FormatError) as caught:
        of(bytes(64)).record(DebugTensor(kind, sizes, strides, offset), "a")
    assert caught.value.field == f"Tensor.{field}"


def test_debug_buffer_of_another_run_or_with_an_unused_end_is_reported() -> None:
    mlp, conv = dump_of("01_mlp_portable"), dump_of("02_conv_portable")
    other, own = buffer_of("01_mlp_portable"), buffer_of("02_conv_portable")
    unlogged = dump_of("05_multirun")
    pairs = ((conv, other), (conv, own), (unlogged, own))
    chosen = [debug_buffer.choose_buffer(dump, [buffer.source]) for dump, buffer in pairs]
    assert chosen == [None, own.source, None]
    data = bytes(other.source.read(0, debug_buffer.needed_size(mlp)))
    rules = {
        "short": (other, conv),
        "other": (own, mlp),
        "unused": (of(data + bytes(1 << 20)), mlp),
    }
    for rule, (buffer, dump) in rules.items():
        (issue,) = buffer.issues(dump)
        assert issue.rule == f"debug-buffer-{rule}"
    assert not of(data).issues(mlp)
    last = max(conv.values.values(), key=lambda value: getattr(value.value, "offset", -1))
    with pytest.raises(FormatError, match="belong to another run"):
        inflated(last, other)


def test_types_that_the_inspector_does_not_know_are_read() -> None:
    values = np.arange(-2, 4, dtype=ml_dtypes.bfloat16).reshape(2, 3)
    assert same(tensor(15, (2, 3), (3, 1), 0, buffer=of(values.tobytes())), values)


SHAPES = st.lists(st.integers(0, 4), max_size=5).flatmap(
    lambda sizes: st.tuples(st.just(tuple(sizes)), st.permutations(range(len(sizes))))
)


@given(SHAPES, st.integers(0, 9))
def test_any_dense_order_is_read(shape: tuple[tuple[int, ...], list[int]], offset: int) -> None:
    sizes, order = shape
    values = np.arange(math.prod(sizes), dtype="<i2").reshape(sizes)
    stored: npt.NDArray[Any] = np.ascontiguousarray(values.transpose(order))
    strides = [0] * len(sizes)
    for axis, place in enumerate(order):
        strides[place] = math.prod(stored.shape[axis + 1 :])
    record = of(bytes(offset) + stored.tobytes()).record(
        DebugTensor(2, sizes, tuple(strides), offset), "a"
    )
    assert same(record.numpy(), values)


NUMBERS = st.integers(-3, 6) | st.sampled_from([-(1 << 63), (1 << 63) - 1, 1 << 40])
LISTS = st.lists(NUMBERS, max_size=4).map(tuple)


@given(st.tuples(st.integers(-1, 31), LISTS, LISTS, NUMBERS), st.integers(0, 80), st.booleans())
def test_only_expected_errors_are_raised(held: tuple[Any, ...], size: int, compat: bool) -> None:
    refusals = (ValueError, RuntimeError) if compat else (FormatError,)
    with contextlib.suppress(*refusals):
        tensor(*held, buffer=of(bytes(size)), compat=compat)

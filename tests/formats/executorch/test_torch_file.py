import os
import pickle
import struct
import tracemalloc
from typing import Any

import numpy as np
import pytest
from formats.executorch.etrecord_files import RECORDS, members, record, zipped

from tvmdbg_widgets.formats.executorch import torch_file
from tvmdbg_widgets.formats.executorch.torch_file import Global, read_torch_file
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.executorch.scalar_types import TorchTensor
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.sources.byte_source import BytesSource

FLOATS = np.arange(12, dtype="<f4").tobytes()


def text(value: str) -> bytes:
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def number(value: int) -> bytes:
    return b"J" + struct.pack("<i", value)


def numbers(values: tuple[int, ...]) -> bytes:
    return b"(" + b"".join(map(number, values)) + b"t"


def storage(kind: str = "torch\nFloatStorage", count: int = 12, key: str = "0") -> bytes:
    name = f"c{kind}\n".encode()
    return b"(" + text("storage") + name + text(key) + text("cpu") + number(count) + b"tQ"


def tensor(
    shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0, of: bytes | None = None
) -> bytes:
    view = number(offset) + numbers(shape) + numbers(strides)
    call = b"ctorch._utils\n_rebuild_tensor_v2\n("
    return call + (of or storage()) + view + b"\x89ccollections\nOrderedDict\n)RtR"


def saved(value: bytes, data: bytes = FLOATS, order: bytes = b"little") -> bytes:
    content = {"data.pkl": b"\x80\x02" + value + b".", "byteorder": order, "data/0": data}
    return zipped({f"archive/{name}": held for name, held in content.items()})


def read(data: bytes) -> Any:
    return read_torch_file(BytesSource(data, "saved.pt"))


@pytest.mark.parametrize("case", RECORDS)
def test_state_dict_matches_the_program(case: str) -> None:
    """Every file of torch can be read, and a state dict has what the program says of it."""
    found = {name: read(data) for name, data in members(case).items() if data[:2] == b"PK"}
    programs: Any = record(case).edge_programs["forward"], record(case).exported_program
    for program in programs:
        state = found[f"{program.name}_state_dict"]
        told = {node.qualified_name: node.outputs[0] for node in program.nodes if node.outputs}
        for name in state.keys() & told.keys():
            tensor = state[name]
            assert (tensor.dtype, tensor.shape) == (told[name].dtype, told[name].sizes)
            assert np.asarray(tensor).shape == tensor.shape
        weights = {node.qualified_name for node in program.nodes if node.kind == "parameter"}
        assert weights <= state.keys()


def test_views() -> None:
    whole = np.arange(12, dtype=np.float32)
    views: Any = [((3, 4), (4, 1), 0), ((4, 3), (1, 4), 0), ((2, 2), (4, 2), 3)]
    views += [((5, 2), (0, 1), 10), ((), (), 11), ((0, 7), (7, 1), 0)]
    for shape, strides, offset in views:
        found = read(saved(tensor(shape, strides, offset)))
        steps = tuple(4 * stride for stride in strides)
        expected = np.lib.stride_tricks.as_strided(whole[offset:], shape, steps)
        np.testing.assert_array_equal(np.asarray(found), expected)
        assert not found.numpy().flags.writeable
        source = found.source()
        assert source.read(0, source.size) == expected.tobytes()


def test_constructor_refuses_oversized_shapes_and_ignores_unused_strides() -> None:
    source = BytesSource(FLOATS)
    kind, handle = DataType.parse("float32"), DataType.parse("handle")
    oversized = r"sizes|unfolds"
    wrong: Any = [(kind, (0, 2**62, 2**62), (1, 1, 1), oversized)]
    wrong += [(kind, (2**40, 2**40), (0, 0), oversized), (kind, (13,), (1,), "reaches")]
    for *given, told in [*wrong, (handle, (1,), (1,), "cannot be read")]:
        with pytest.raises(ValueError, match=told):
            TorchTensor(*given, 0, source)
    for shape, strides in [((1, 3), (2**62, 1)), ((0, 5), (1, 2**70)), ((1, 1), (2**70, 1))]:
        found = TorchTensor(kind, shape, strides, 0, source)
        assert found.numpy().shape == shape
        assert found.source().read(0, found.nbytes) == FLOATS[: found.nbytes]


@pytest.mark.spec_only
def test_big_endian_parameters_and_plain_values() -> None:
    data = np.arange(12, dtype=">f4").tobytes()
    found = read(saved(tensor((12,), (1,)), data, b"big"))
    np.testing.assert_array_equal(np.asarray(found), np.arange(12))
    assert found.source().read(0, 48) == FLOATS
    # Parameters and plain values.
    call = b"ctorch._utils\n_rebuild_parameter\n(" + tensor((2,), (1,)) + b"\x88)tR"
    assert read(saved(call)).shape == (2,)
    value = ["a", (1, 2.5, -3, 2**40, None, True), {"b": [], 3: {}}, ()]
    assert read(zipped({"x/data.pkl": pickle.dumps(value, 2)})) == value


def test_untyped_storage_is_read_with_its_dtype() -> None:
    of = storage("torch.storage\nUntypedStorage", 48)
    view = number(0) + numbers((24,)) + numbers((1,)) + b"\x89)ctorch\nuint16\ntR"
    found = read(saved(b"ctorch._utils\n_rebuild_tensor_v3\n(" + of + view))
    assert found.dtype == DataType.parse("uint16")
    np.testing.assert_array_equal(np.asarray(found), np.frombuffer(FLOATS, "<u2"))


@pytest.mark.parametrize(
    ("shape", "strides", "offset"),
    [
        ((13,), (1,), 0),
        ((12,), (1,), 1),
        ((2, 2), (10, 2), 0),
        ((2,), (-1,), 1),
        ((-1,), (1,), 0),
        ((1,), (1,), -1),
        ((2, 2), (1,), 0),
        ((1 << 30, 1 << 30), (0, 0), 0),
        ((1,) * 40, (1,) * 40, 0),
        ((2**31 - 1,), (2**31 - 1,), 2**31 - 1),
    ],
)
def test_views_beyond_the_storage_are_refused(
    shape: tuple[int, ...], strides: tuple[int, ...], offset: int
) -> None:
    with pytest.raises(FormatError, match="within its storage"):
        read(saved(tensor(shape, strides, offset)))


class Run:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("exit 1",)


HOSTILE = {
    "global": b"cos\nsystem\n" + text("exit 1") + b"\x85R",
    "own class": pickle.dumps(Run(), 2)[2:-1],
    "protocol 4": pickle.dumps(Run(), 4)[2:-1],
    "torch function": b"ctorch\nload\n" + text("x") + b"\x85R",
    "reduce of a class": b"ctorch\nFloatStorage\n)R",
    "reduce of text": text("os.system") + b")R",
    "no arguments": b"ctorch._utils\n_rebuild_tensor_v2\n)R",
    "arguments of a kind": b"ctorch._utils\n_rebuild_tensor_v2\n" + text("x") + b"R",
    "full dict": b"ccollections\nOrderedDict\n]\x85R",
    "build": b"}}b",
    "instance": b"(ios\nsystem\n",
    "object": b"cos\nsystem\n)\x81",
    "extension": b"\x82\x01",
    "huge long": b"\x8b" + struct.pack("<i", 2**31 - 1),
    "long": b"\x8a\xff" + b"\xff" * 255,
    "huge text": b"X" + struct.pack("<I", 2**32 - 1),
    "long name": b"c" + b"a" * 5000,
    "no text": b"X\x01\0\0\0\xff",
    "list in itself": b"]q\0h\0a",
    "dict in itself": b"}q\0" + text("a") + b"h\0s",
    "deep": b"]" * 100 + b"a" * 99,
    "shared": b"]q\0" + b"".join(b"](" + b"h%c" % i * 30 + b"eq%c" % (i + 1) for i in range(9)),
    "memo": b"h\7",
    "empty stack": b"a",
    "no mark": b"t",
    "below the mark": b"](a",
    "list as key": b"}]Ns",
    "odd items": b"}(Nu",
    "append to a dict": b"}Na",
    "set in a list": b"]NNs",
    "persistent text": text("storage") + b"Q",
    "persistent of others": storage("collections\nOrderedDict"),
    "no such storage": storage(key="../../etc/passwd"),
    "storage too short": storage(count=13),
    "negative count": storage(count=-1),
    "nothing": b"",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pickles(name: str) -> None:
    with pytest.raises(FormatError):
        read(saved(HOSTILE[name]))


def test_other_pickles_are_refused() -> None:
    with pytest.raises(FormatError, match=r"os system.*nothing in a pickle is run"):
        read(saved(HOSTILE["global"]))
    double = zipped({"a/data.pkl": b".", "b/data.pkl": b"."})
    for data in (b"", pickle.dumps([1]), zipped({}), double):
        with pytest.raises(FormatError):
            read(data)


@pytest.mark.parametrize("shape", [(2,), (1,) * 300_000])
def test_shared_arguments_are_not_copied(shape: tuple[int, ...]) -> None:
    tensors = torch_file._PickledTensors("saved.pt", {"0": BytesSource(FLOATS)}, big_endian=False)
    of = tensors.storage(("storage", Global("torch FloatStorage"), "0", "cpu", 12))
    arguments = (of, 0, shape, (1,) * len(shape), *[None] * 300_000)
    tracemalloc.start()
    try:
        found = tensors.tensor(arguments).shape
    except FormatError:
        found = None
    finally:
        taken = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert found == (shape if len(shape) == 1 else None)
    assert taken < 100_000


def test_nested_shared_tuples_are_refused() -> None:
    """Each level holds the one before twice: 30 levels are a thousand million values."""
    pairs = b"".join(b"h%ch%c\x86q%c" % (level, level, level + 1) for level in range(30))
    with pytest.raises(FormatError, match=r"at most 64 levels and 1\d,\d{3} values"):
        read(saved(b"](" + text("x") + b"q\0" + pairs + b"e"))

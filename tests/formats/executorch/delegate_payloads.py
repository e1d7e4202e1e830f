"""Payloads of delegates to test on: real ones with flatc's decode, and what is made by hand."""

import struct

from tests.formats.flatbuffer_files import Table, Thing, Things, file, number, numbers, text
from tvmdbg_widgets.formats.executorch.delegates.vulkan import read_vulkan
from tvmdbg_widgets.formats.executorch.delegates.xnnpack import read_xnnpack
from tvmdbg_widgets.model.executorch.delegate_graph import DelegateGraph
from tvmdbg_widgets.model.executorch.program import FileSpan
from tvmdbg_widgets.sources.byte_source import BytesSource

NONE = 0xFFFFFFFF
#: Bytes in front of payloads made by hand: offsets must count from the start of the file.
BEFORE = 24


def read(payload: bytes | bytearray, *, vulkan: bool = False) -> DelegateGraph:
    """Read a payload that lies within a file."""
    source = BytesSource(bytes(BEFORE) + bytes(payload) + bytes(8), "model.pte")
    read_one, backend = (
        (read_vulkan, "VulkanBackend") if vulkan else (read_xnnpack, "XnnpackBackend")
    )
    return read_one(source, FileSpan(BEFORE, len(payload)), backend, file="model.pte")


def with_header(
    flatbuffer: bytes | bytearray, constants: bytes = b"", magic: bytes = b"XH00", **changed: int
) -> bytes:
    size = len(flatbuffer)
    padded = bytes(flatbuffer) + bytes(-size % 16)
    fields = {
        "length": 30,
        "start": 32,
        "size": size,
        "at": 32 + len(padded),
        "held": len(constants),
    }
    header = struct.pack("<4x4sHIIIQ2x", magic, *(fields | changed).values())
    return header + padded + constants


def value(
    id_: int, *dims: int, constant: int = 0, external: int = NONE, **changed: bytes | Thing
) -> Table:
    """Return a tensor of float32; `changed` has fields by ``f0``, ``f1``, …"""
    fields: dict[int, bytes | Thing] = {
        0: number("h", 1),
        1: number("I", len(dims)),
        2: numbers("I", *dims),
        3: number("I", constant),
        4: number("I", external),
        6: number("I", id_),
    }
    fields |= {int(name[1:]): held for name, held in changed.items()}
    return Table({0: number("B", 1), 1: Table(fields)})


def quantized(inner: Table, kind: int, params: Table) -> Table:
    tensor = inner.fields[1]
    return Table({0: number("B", 2), 1: Table({0: tensor, 1: number("B", kind), 2: params})})


def node(type_: int, *ids: int, handle: int = 1) -> Table:
    """Return a node whose table starts with these ids."""
    held = Table({at: number("I", id_) for at, id_ in enumerate(ids)})
    return Table({0: number("B", type_), 1: held, 2: number("I", handle)})


def graph(
    nodes: list[Table],
    values: list[Table],
    inputs: tuple[int, ...] = (0,),
    outputs: tuple[int, ...] = (1,),
    identifier: bytes = b"XN01",
    **more: bytes | Thing,
) -> bytearray:
    """Return a flatbuffer; `more` has fields of the graph by ``f6``, …"""
    fields: dict[int, bytes | Thing] = {
        0: text("0"),
        1: Things(list(nodes)),
        2: Things(list(values)),
        3: number("I", len(inputs) + len(outputs)),
        4: numbers("I", *inputs),
        5: numbers("I", *outputs),
    }
    return file(Table(fields | {int(name[1:]): held for name, held in more.items()}), identifier)


def constant(offset: int, size: int, key: str | bytes | None = None) -> Table:
    fields: dict[int, bytes | Thing] = {0: number("Q", offset), 1: number("Q", size)}
    return Table(fields if key is None else fields | {2: text(key)})


#: Two values, the second one the sigmoid of the first.
VALUES = [value(0, 2, 3, external=0), value(1, 2, 3, external=1)]
SIGMOID = node(4, 0, 1)


def assert_sound(found: DelegateGraph) -> None:
    """Require a graph without circles whose ids are all there."""
    repr(found)
    assert all(len(each.message) <= 2000 for each in found.issues)
    waiting = {
        each.index: {found.producers[id_] for id_ in each.reads if id_ in found.producers}
        for each in found.nodes
    }
    assert {*found.inputs, *found.outputs} <= set(found.values)
    for each in found.nodes:
        assert {*each.reads, *each.writes} <= set(found.values)
        assert all(found.producers[id_] == each.index for id_ in each.writes)
    while waiting:
        ready = [index for index, needs in waiting.items() if not needs & waiting.keys()]
        assert ready
        for index in ready:
            del waiting[index]
    for value_ in found.values.values():
        assert 0 <= value_.constant < max(1, len(found.constants))

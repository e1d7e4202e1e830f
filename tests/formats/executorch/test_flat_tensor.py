"""Named data (``.ptd``) against flatc's decode and the model's own weights."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from tests.executorch_cases import FOLDER, read_json
from tests.formats.flatbuffer_files import Table, Things, file, number, numbers, text
from tvmdbg_widgets.formats.executorch.program.instruction_steps import read_flat_tensor, sniff
from tvmdbg_widgets.formats.executorch.program.program_file import read_program
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.executorch.program import TensorValue
from tvmdbg_widgets.model.executorch.scalar_types import RUNTIME
from tvmdbg_widgets.sources.byte_source import BytesSource
from tvmdbg_widgets.sources.file_source import FileSource

PTD = FOLDER / "pte" / "zoo_external.ptd"


def test_names_layouts_and_values_match_flatc() -> None:
    source = FileSource(PTD)
    found = read_flat_tensor(source)
    assert sniff(PTD.read_bytes()[:8])
    told = [
        {
            "key": tensor.name,
            "scalar_type": RUNTIME[tensor.layout.scalar_type][0],
            "sizes": [*tensor.layout.sizes],
            "dim_order": [*tensor.layout.dim_order],
        }
        for tensor in found.tensors
        if tensor.layout is not None
    ]
    flatcs = read_json("pte/zoo_external.ptd.flatc.json")["named_data"]
    assert told == [{"key": each["key"], **each["tensor_layout"]} for each in flatcs]
    for name, weight in read_json("pte/zoo_external.origin.json")["weights"].items():
        tensor = found.tensor(name)
        assert tensor.dtype is not None
        values = np.frombuffer(source.read(tensor.offset, tensor.nbytes), str(tensor.dtype))
        assert values.tolist() == weight["values"]
    with pytest.raises(KeyError, match=r"no tensor 'w' in .*; known: 'linear\.weight'"):
        found.tensor("w")


def test_program_names_the_external_tensors() -> None:
    tensors = {tensor.name: tensor for tensor in read_flat_tensor(FileSource(PTD)).tensors}
    program = read_program(FileSource(PTD.with_suffix(".pte")))
    external = [
        value
        for value in program.plan().values
        if isinstance(value, TensorValue) and value.is_external
    ]
    assert {value.name for value in external} == tensors.keys()
    for value in external:
        assert value.is_constant
        assert tensors[value.name].layout == (value.scalar_type, value.sizes, value.dim_order)


def of_v06(offset: int = 16) -> bytes:
    """Return a file as 0.6 writes it: a tensor of 3 floats in a segment of 32 bytes."""
    tensor = Table(
        {
            0: text("weight"),
            1: number("b", 6),
            2: numbers("i", 3),
            3: numbers("B", 0),
            5: number("Q", offset),
        }
    )
    segments = Things([Table({1: number("Q", 32)})])
    data = file(Table({1: number("I", 16), 2: Things([tensor]), 3: segments}), b"FT01", start=48)
    struct.pack_into("<4sIQQQQ", data, 8, b"FH01", 40, 48, len(data) - 48, len(data), 32)
    return bytes(data) + bytes(32)


def test_layout_of_release_0_6_is_read() -> None:
    data = of_v06()
    (tensor,) = read_flat_tensor(BytesSource(data)).tensors
    assert (tensor.name, tensor.offset, tensor.nbytes) == ("weight", len(data) - 16, 12)
    with pytest.raises(FormatError, match="a tensor leaves its segment"):
        read_flat_tensor(BytesSource(of_v06(offset=24)))

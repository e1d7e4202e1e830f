"""Program files against flatc's own decode of them, leaf by leaf."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import FOLDER, answers, case_dir, read_json
from tests.formats.executorch.program_truth import as_flatc, differences
from tests.formats.flatbuffer_files import Table, Thing, Things, file, number, numbers, text
from tvmdbg_widgets.formats.executorch.program import instruction_sources
from tvmdbg_widgets.formats.executorch.program.instruction_graph import graph_of
from tvmdbg_widgets.formats.executorch.program.program_file import read_program, sniff
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.executorch.program import (
    BufferDevice,
    CompileSpec,
    DataLocation,
    OperatorName,
    PlannedPlace,
    Program,
    TensorValue,
)
from tvmdbg_widgets.model.executorch.program_instructions import StackFrame
from tvmdbg_widgets.sources.byte_source import BytesSource, PartSource
from tvmdbg_widgets.sources.file_source import FileSource

PTE = FOLDER / "pte"
PROGRAMS = tuple(sorted(path.stem for path in PTE.glob("*.pte")))


def program(name: str) -> Program:
    return read_program(FileSource(PTE / f"{name}.pte", name))


def raw(name: str) -> bytearray:
    return bytearray((PTE / f"{name}.pte").read_bytes())


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_field_matches_flatc(name: str) -> None:
    source = FileSource(PTE / f"{name}.pte")
    ours = as_flatc(read_program(source), source)
    assert differences(ours, read_json(f"pte/{name}.flatc.json")) == []


def test_comparison_detects_one_changed_leaf() -> None:
    source = FileSource(PTE / "zoo_lin.pte")
    ours = as_flatc(read_program(source), source)
    ours["execution_plan"][0]["chains"][0]["instructions"][3]["instr_args"]["args"][0] += 1
    assert len(differences(ours, read_json("pte/zoo_lin.flatc.json"))) == 1


def test_bundled_program_matches_the_case() -> None:
    path = case_dir("14_bundled") / "model.bpte"
    source = FileSource(path)
    found = instruction_sources.read_bundled_program(source)
    assert instruction_sources.sniff(path.read_bytes()[:8])
    references = answers("14_bundled")["inspector"]["etrecord"]["reference_outputs"]["forward"]
    assert found.test_cases == (("forward", len(references)),)
    part = PartSource(source, found.offset, source.size - found.offset, "program")
    # The program was rebuilt from the ETRecord, which does not keep requires_grad.
    told = differences(as_flatc(found.program, part), read_json("pte/14_bundled.flatc.json"))
    assert all(".requires_grad:" in each for each in told)


def test_methods_and_operators_by_name() -> None:
    found = program("zoo_multim")
    known = [plan["name"] for plan in read_json("pte/zoo_multim.flatc.json")["execution_plan"]]
    assert list(found.methods) == known
    assert found.plan("forward").operators[0].full_name.startswith("aten.")
    assert OperatorName("aten::copy_", "").full_name == "aten.copy_"
    with pytest.raises(KeyError, match="no method 'backward'; known: 'forward'"):
        found.plan("backward")


def test_constants_and_initial_values_have_data_of_their_size() -> None:
    source = FileSource(PTE / "zoo_initbuf.pte")
    found = read_program(source)
    plan = found.plan("forward")
    tensors = [value for value in plan.values if isinstance(value, TensorValue)]
    started = [each for each in tensors if each.allocation is not None and each.data_buffer_idx]
    constants = [each for each in tensors if each.is_constant]
    assert started
    assert constants
    for tensor in started + constants:
        span = found.data_of(tensor)
        assert span is not None
        assert span.size == tensor.nbytes
        assert np.isfinite(np.frombuffer(source.read(*span), "<f4")).all()


def test_strides_follow_the_order_of_dimensions() -> None:
    orders = {
        tensor.strides: (tensor.sizes, tensor.dim_order)
        for name in PROGRAMS
        for plan in program(name).plans
        for tensor in plan.values
        if isinstance(tensor, TensorValue) and tensor.dim_order == (0, 2, 3, 1)
    }
    for strides, (sizes, _) in orders.items():
        dense = np.zeros([sizes[dim] for dim in (0, 2, 3, 1)], np.int8).transpose(0, 3, 1, 2)
        assert dense.strides == strides


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (b"ethos-u55-128", "ethos-u55-128"),
        (b"CPU\0", "CPU"),
        ("ä".encode() * 1001, "ä" * 1000 + "… (2,002 bytes)"),
        (b"long" * 10_000 + b"\xff", "long" * 250 + "… (40,001 bytes)"),
        (b"", "empty"),
        (b"\x01\0\0\0", "4 bytes: 01 00 00 00"),
        (b"\xff" * 65, "65 bytes: " + " ".join(["ff"] * 64) + " …"),
    ],
)
def test_a_compile_spec_is_text_or_bytes(value: bytes, told: str) -> None:
    assert CompileSpec("key", value).text() == told


def test_compile_specs_are_listed_for_run_and_node() -> None:
    path = PTE / "zoo_xnn.pte"
    plan = program("zoo_xnn").plan()
    run = tvmdbg.open(path)
    nodes = [node for node in run.graph.nodes if "backend" in node.attrs]
    assert nodes
    for node in nodes:
        delegate = plan.delegates[int(node.attrs["delegate_index"])]
        specs = {f"compile spec {each.key}": each.text() for each in delegate.compile_specs}
        assert specs.items() <= dict(node.attrs).items()
        for each in delegate.compile_specs:
            assert f"{each.key} = {each.text()}" in str(run.provenance)


def test_payloads_of_delegates() -> None:
    inline = program("zoo_xnn_inline").plan().delegates[0]
    segment = program("zoo_xnn").plan().delegates[0]
    assert (inline.location, segment.location) == (DataLocation.INLINE, DataLocation.SEGMENT)
    assert (PTE / "zoo_xnn_inline.pte").read_bytes()[inline.payload.offset :][4:8] == b"XH00"
    assert (PTE / "zoo_xnn.pte").read_bytes()[segment.payload.offset :][4:8] == b"XH00"


def test_segments_are_not_read(tmp_path: Path) -> None:
    data = raw("zoo_lin")
    (base,) = struct.unpack_from("<Q", data, 24)
    sparse = tmp_path / "large.pte"
    with sparse.open("wb") as file:
        file.write(data)
        file.truncate(base + (1 << 40))
    assert read_program(FileSource(sparse)).file_size == base + (1 << 40)


def test_header_of_24_bytes_has_no_segment_size() -> None:
    data = raw("zoo_lin")
    struct.pack_into("<I", data, 12, 24)
    header = read_program(BytesSource(data)).header
    assert header is not None
    assert header.segment_data_size is None


@pytest.mark.parametrize(
    ("offset", "kind", "value", "told"),
    [
        (4, "<4s", b"ET13", "no program that a runtime"),
        (4, "<4s", b"ED00", "no program of ExecuTorch"),
        (12, "<I", 23, "length"),
        (16, "<Q", 1 << 63, "program_size"),
        (24, "<Q", 1 << 40, "segment_base_offset"),
        (32, "<Q", 1 << 40, "segment_data_size"),
        (0, "<I", 0xFFFFFFF0, "the field leaves the file"),
    ],
)
def test_invalid_headers_are_refused(offset: int, kind: str, value: object, told: str) -> None:
    data = raw("zoo_lin")
    struct.pack_into(kind, data, offset, value)
    with pytest.raises(FormatError, match=told):
        read_program(BytesSource(data))


def test_constants_of_releases_before_04() -> None:
    shape: dict[int, bytes | Thing] = {0: number("b", 6), 2: numbers("i", 2), 3: numbers("B", 0)}
    constant = Table({0: number("B", 5), 1: Table(shape | {5: number("I", 1)})})
    buffers = Things([Table({}), Table({0: text(struct.pack("<2f", 1.5, -2))})])
    plan = Table({0: text("forward"), 2: Things([constant])})
    source = BytesSource(file(Table({1: Things([plan]), 2: buffers}), b"ET12"))
    found = read_program(source)
    (tensor,) = found.plan().values
    assert isinstance(tensor, TensorValue)
    span = found.data_of(tensor)
    assert span is not None
    assert np.frombuffer(source.read(*span), "<f4").tolist() == [1.5, -2]
    assert found.header is None


def test_stack_traces_and_devices() -> None:
    frame = Table({0: text("model.py"), 1: number("i", 7), 2: text("forward"), 3: text("x + 1")})
    place = Table({0: number("I", 1), 1: number("I", 8), 2: number("I", 1)})
    value = Table({0: number("B", 5), 1: Table({0: number("b", 6), 6: place})})
    call = Table({0: number("B", 5), 1: Table({0: number("i", 0)})})
    chain = Table({2: Things([call]), 3: Things([Table({0: Things([frame])})])})
    device = Table({0: number("i", 1), 1: number("b", 1), 2: number("b", 3)})
    plan = Table(
        {
            0: text("forward"),
            2: Things([value]),
            5: Things([chain]),
            8: numbers("q", 0, 1 << 33),
            9: Things([device]),
        }
    )
    found = read_program(BytesSource(file(Table({1: Things([plan])}), b"ET12"))).plan()
    assert found.chains[0].stacktraces == ((StackFrame("model.py", 7, "forward", "x + 1"),),)
    assert found.buffer_devices == (BufferDevice(1, 1, 3),)
    (tensor,) = found.values
    assert isinstance(tensor, TensorValue)
    assert tensor.allocation == PlannedPlace(1, (1 << 32) + 8)
    node = graph_of(found).graph.nodes[1]
    assert node.attrs["stacktrace"] == 'File "model.py", line 7, in forward\n    x + 1'
    assert node.func_name == "free"


def test_sniffing() -> None:
    assert sniff(bytes(raw("zoo_lin")[:8]))
    assert sniff(b"\0\0\0\0ET13")
    assert not sniff(b"\0\0\0\0ED00")
    assert not sniff(b"")

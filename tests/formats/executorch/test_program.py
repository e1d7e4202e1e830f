"""Program files and named data (``.ptd``) against flatc's decode, and the weights torch saved."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import case_dir, read_json
from tests.formats.executorch.case_files import PROGRAMS, PTE, program_of
from tests.formats.executorch.program_truth import as_flatc, differences
from tests.formats.flatbuffer_files import Table, Thing, Things, file, number, numbers, text
from tvmdbg_widgets.formats import limits
from tvmdbg_widgets.formats.executorch.program import instruction_sources, instruction_steps
from tvmdbg_widgets.formats.executorch.program.instruction_graph import graph_of
from tvmdbg_widgets.formats.executorch.program.instruction_steps import read_flat_tensor
from tvmdbg_widgets.formats.executorch.program.program_file import read_program, sniff
from tvmdbg_widgets.formats.executorch.torch_file import read_torch_file
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.executorch import program as of
from tvmdbg_widgets.model.executorch.program_instructions import StackFrame
from tvmdbg_widgets.model.executorch.scalar_types import RUNTIME
from tvmdbg_widgets.sources.byte_source import BytesSource, PartSource
from tvmdbg_widgets.sources.file_source import FileSource
from tvmdbg_widgets.sources.unpacking import read_directory

PTD = PTE / "zoo_external.ptd"
OVERLAP = "constants-overlap"
REBUILT = ("01_mlp_portable", "04_transformer_portable", "06a_demo_generated_ids")


def raw(name: str) -> bytearray:
    return bytearray((PTE / f"{name}.pte").read_bytes())


def opened(name: str) -> tvmdbg.DebugRun:
    return tvmdbg.open(PTE / f"{name}.pte")


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_field_matches_flatc(name: str) -> None:
    source = FileSource(PTE / f"{name}.pte")
    ours, flatcs = as_flatc(read_program(source), source), read_json(f"pte/{name}.flatc.json")
    assert differences(ours, flatcs) == []
    if name == "zoo_lin":  # a changed leaf is seen
        ours["execution_plan"][0]["chains"][0]["instructions"][3]["instr_args"]["args"][0] += 1
        assert len(differences(ours, flatcs)) == 1


def test_bundled_program_matches_the_case() -> None:
    path = case_dir("14_bundled") / "model.bpte"
    source = FileSource(path)
    found = instruction_sources.read_bundled_program(source)
    assert instruction_sources.sniff(path.read_bytes()[:8])
    part = PartSource(source, found.offset, source.size - found.offset, "program")
    # The program was rebuilt from the ETRecord, which does not keep requires_grad.
    told = differences(as_flatc(found.program, part), read_json("pte/14_bundled.flatc.json"))
    assert all(".requires_grad:" in each for each in told)
    bundled, alone = tvmdbg.open(path).tensors, opened("14_bundled").tensors
    assert bundled.keys() == alone.keys()
    for entry, tensor in bundled.items():
        np.testing.assert_array_equal(tensor.numpy(), alone[entry].numpy())


def test_methods_and_operators_by_name() -> None:
    found = program_of("zoo_multim")
    known = [plan["name"] for plan in read_json("pte/zoo_multim.flatc.json")["execution_plan"]]
    assert list(found.methods) == known
    assert found.plan("forward").operators[0].full_name.startswith("aten.")
    assert of.OperatorName("aten::copy_", "").full_name == "aten.copy_"
    with pytest.raises(KeyError, match="no method 'backward'; known: 'forward'"):
        found.plan("backward")


def test_constants_and_initial_values_have_data_of_their_size() -> None:
    found, source = program_of("zoo_initbuf"), FileSource(PTE / "zoo_initbuf.pte")
    tensors: list[Any] = [v for v in found.plan().values if isinstance(v, of.TensorValue)]
    started = [each for each in tensors if each.allocation is not None and each.data_buffer_idx]
    constants = [each for each in tensors if each.is_constant]
    assert (bool(started), bool(constants)) == (True, True)
    for tensor in started + constants:
        span: Any = found.data_of(tensor)
        assert span.size == tensor.nbytes
        assert np.isfinite(np.frombuffer(source.read(*span), "<f4")).all()


def test_strides_follow_the_order_of_dimensions() -> None:
    order = 0, 2, 3, 1
    plans = [plan for name in PROGRAMS for plan in program_of(name).plans]
    for value in (value for plan in plans for value in plan.values):
        if isinstance(value, of.TensorValue) and value.dim_order == order:
            dense = np.zeros([value.sizes[dim] for dim in order], np.int8)
            assert dense.transpose(0, 3, 1, 2).strides == value.strides


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
    assert of.CompileSpec("key", value).text() == told


def test_payloads_of_delegates() -> None:
    for name, place in (("zoo_xnn_inline", "INLINE"), ("zoo_xnn", "SEGMENT")):
        delegate = program_of(name).plan().delegates[0]
        assert delegate.location == of.DataLocation[place]
        assert raw(name)[delegate.payload.offset :][4:8] == b"XH00"


def test_segments_are_not_read(tmp_path: Path) -> None:
    data = raw("zoo_lin")
    (base,) = struct.unpack_from("<Q", data, 24)
    sparse = tmp_path / "large.pte"
    with sparse.open("wb") as file:
        file.write(data)
        file.truncate(base + (1 << 40))
    assert read_program(FileSource(sparse)).file_size == base + (1 << 40)
    struct.pack_into("<I", data, 12, 24)  # a header of 24 bytes
    header: Any = read_program(BytesSource(data)).header
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
    found: Any = read_program(source)
    (tensor,) = found.plan().values
    span = found.data_of(tensor)
    assert np.frombuffer(source.read(*span), "<f4").tolist() == [1.5, -2]
    assert found.header is None


def test_stack_traces_and_devices() -> None:
    frame = Table({0: text("model.py"), 1: number("i", 7), 2: text("forward"), 3: text("x + 1")})
    place = Table({0: number("I", 1), 1: number("I", 8), 2: number("I", 1)})
    value = Table({0: number("B", 5), 1: Table({0: number("b", 6), 6: place})})
    call = Table({0: number("B", 5), 1: Table({0: number("i", 0)})})
    chain = Table({2: Things([call]), 3: Things([Table({0: Things([frame])})])})
    device = Table({0: number("i", 1), 1: number("b", 1), 2: number("b", 3)})
    fields = {0: text("forward"), 2: Things([value]), 5: Things([chain])}
    plan = Table({**fields, 8: numbers("q", 0, 1 << 33), 9: Things([device])})
    found: Any = read_program(BytesSource(file(Table({1: Things([plan])}), b"ET12"))).plan()
    assert found.chains[0].stacktraces == ((StackFrame("model.py", 7, "forward", "x + 1"),),)
    assert found.buffer_devices == (of.BufferDevice(1, 1, 3),)
    assert found.values[0].allocation == of.PlannedPlace(1, (1 << 32) + 8)
    node = graph_of(found).graph.nodes[1]
    assert node.attrs["stacktrace"] == 'File "model.py", line 7, in forward\n    x + 1'
    assert node.func_name == "free"


def test_sniffing() -> None:
    heads = (bytes(raw("zoo_lin")[:8]), b"\0\0\0\0ET13", b"\0\0\0\0ED00", b"")
    assert [sniff(head) for head in heads] == [True, True, False, False]


@pytest.mark.parametrize("name", REBUILT)
def test_constants_match_the_model_weights(name: str) -> None:
    directory = read_directory(FileSource(case_dir(name) / "etrecord.bin"))
    member = directory.members["edge_dialect_exported_program/forward_state_dict"]
    weights = [np.asarray(each) for each in read_torch_file(member.source).values()]
    tensors = opened(name).tensors
    assert len(tensors) == len(weights)
    for tensor in tensors.values():
        assert any(np.array_equal(tensor.numpy(), each) for each in weights), tensor


def test_uncertain_nodes_are_reported() -> None:
    run = opened("06a_demo_generated_ids")
    (note,) = run.check().by_rule("program-uncertain")
    assert all("uncertain" in run.graph.attrs[node] for node in note.nodes)


def test_shared_bytes_of_constants_and_logged_values_are_limited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without a limit, thousands of tensors of one segment take terabytes to look at."""
    assert not opened(REBUILT[0]).check().by_rule(OVERLAP)
    logged = tvmdbg.open(case_dir(REBUILT[0]))
    assert logged.tensors
    assert not logged.check().by_rule("debug-value")
    monkeypatch.setattr(limits, "SHARES", 0)
    monkeypatch.setattr(limits, "FEW_BYTES", 100)
    (issue,) = opened(REBUILT[0]).check().by_rule(OVERLAP)
    assert "again and again" in issue.message
    again = tvmdbg.open(case_dir(REBUILT[0]))
    assert again.check().by_rule("debug-value")
    assert len(again.tensors or ()) < len(logged.tensors)


# Named data --------------------------------------------------------------------------------------


def test_names_layouts_and_values_match_flatc() -> None:
    source = FileSource(PTD)
    found = read_flat_tensor(source)
    assert instruction_steps.sniff(PTD.read_bytes()[:8])
    layouts: dict[str, Any] = {each.name: each.layout for each in found.tensors}
    told = [
        {"key": name, "scalar_type": RUNTIME[kind][0], "sizes": [*sizes], "dim_order": [*order]}
        for name, (kind, sizes, order) in ((n, each) for n, each in layouts.items() if each)
    ]
    flatcs = read_json("pte/zoo_external.ptd.flatc.json")["named_data"]
    assert told == [{"key": each["key"], **each["tensor_layout"]} for each in flatcs]
    tensors = {each.name: each for each in found.tensors}
    for name, weight in read_json("pte/zoo_external.origin.json")["weights"].items():
        tensor = tensors[name]
        values = np.frombuffer(source.read(tensor.offset, tensor.nbytes), str(tensor.dtype))
        assert values.tolist() == weight["values"]
    external = [v for v in program_of("zoo_external").plan().values if getattr(v, "name", None)]
    assert {value.name for value in external} == layouts.keys()
    for value in external:
        assert (value.is_constant, value.is_external) == (True, True)
        assert layouts[value.name] == (value.scalar_type, value.sizes, value.dim_order)
    assert opened("zoo_external").tensors is None
    shown = tvmdbg.open(PTD, PTE / "zoo_external.pte").tensors.values()
    assert {tensor.name for tensor in shown} == {"linear.weight", "linear.bias", "scale"}


def of_v06(offset: int = 16) -> bytes:
    """Return a file as 0.6 writes it: a tensor of 3 floats in a segment of 32 bytes."""
    fields = {0: text("weight"), 1: number("b", 6), 2: numbers("i", 3), 3: numbers("B", 0)}
    tensor = Table({**fields, 5: number("Q", offset)})
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

"""What a program's delegates hold, by backend; Vulkan's graphs; bytes of constants."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from tests.formats.executorch.delegate_payloads import SIGMOID, VALUES, constant, graph, read
from tests.formats.executorch.delegate_payloads import with_header as headed
from tests.formats.executorch.vulkan_files import call_of
from tests.formats.executorch.xnnpack_truth import INSIDE
from tests.formats.flatbuffer_files import Table, Things, file, number, numbers, text
from tvmdbg_widgets.formats.executorch.delegates import families
from tvmdbg_widgets.formats.executorch.delegates.families import ConstantBytes, graphs_of
from tvmdbg_widgets.formats.executorch.program.instruction_steps import read_flat_tensor
from tvmdbg_widgets.formats.executorch.program.program_file import read_program
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.executorch.delegate_graph import DelegateConstant, DelegateGraph
from tvmdbg_widgets.model.executorch.program import Delegate, FileSpan, Program
from tvmdbg_widgets.sources.byte_source import BytesSource
from tvmdbg_widgets.sources.file_source import FileSource

XNNPACK = "XnnpackBackend"


def program(*payloads: tuple[str, bytes], shared: bool = False) -> tuple[Program, BytesSource]:
    """Return a program whose delegates have these payloads; all the first one if shared."""
    held = [Table({0: numbers("B", *payload)}) for _, payload in payloads]
    places = [number("I", 0 if shared else at) for at in range(len(payloads))]
    delegates = [
        Table({0: text(backend), 1: Table({0: number("b", 0), 1: place})})
        for (backend, _), place in zip(payloads, places, strict=True)
    ]
    plan = Table({0: text("forward"), 7: Things(list(delegates))})
    root = Table({1: Things([plan]), 3: Things(list(held))})
    source = BytesSource(bytes(file(root, b"ET12")), "model.pte")
    return read_program(source), source


@pytest.mark.parametrize(
    ("backend", "payload", "told"),
    [
        (XNNPACK, b"\0\0\0\0XH00" + bytes(1784), "XNNPACK graph, 1,792 bytes"),
        (XNNPACK, b"\0\0\0\0XN00", "XNNPACK graph, 8 bytes"),
        (XNNPACK, b"\1\2\3", "unknown payload, 3 bytes, first 01 02 03"),
        ("VulkanBackend", b"\0\0\0\0VH00", "Vulkan graph, 8 bytes"),
        ("QnnBackend", b"\xcd\xab\x78\x56", "Qualcomm QNN context binary (closed), 4 bytes"),
        ("QnnBackend", b"1234", "unknown payload, 4 bytes, first 31 32 33 34"),
        (
            "EthosUBackend",
            b"vela_bin_stream\0",
            "Ethos-U command stream, vela_bin_stream, 16 bytes",
        ),
        ("TOSABackend", b"\x10\0\0\0TOSA", "TOSA flatbuffer, 8 bytes"),
        ("MLXBackend", b"\0\0\0\0MLX0", "MLX graph, 8 bytes"),
        ("CoreMLBackend", b"1234", "Core ML package, 4 bytes"),
        ("MPSBackend", b"\0\0\0\0MP00", "MPS graph, 8 bytes"),
        ("MPSBackend", b"\0\0\0\0XN00", "unknown payload, 8 bytes, first 00 00 00 00 58 4e 30 30"),
        ("EnnBackend", b"1234", "Samsung ENN model (closed), 4 bytes"),
        ("NeuropilotBackend", b"1234", "MediaTek Neuron model (closed), 4 bytes"),
        ("SomebodysBackend", bytes(20), f"unknown payload, 20 bytes, first {bytes(16).hex(' ')}"),
        ("SomebodysBackend", b"", "empty payload"),
    ],
)
def test_payload_is_described_by_backend_and_identifier(
    backend: str, payload: bytes, told: str
) -> None:
    found = Delegate(backend, (), 0, 0, FileSpan(4, len(payload)))
    assert families.payload_text(BytesSource(bytes(4) + payload), found) == told
    assert len({each.backend for each in families.FAMILIES}) == len(families.FAMILIES)
    assert families.family_of(XNNPACK) is families.FAMILIES[0]
    assert families.family_of("SomebodysBackend") is None


def test_a_damaged_payload_is_an_issue() -> None:
    whole = headed(graph([SIGMOID], VALUES))
    made, source = program((XNNPACK, whole[:40]), (XNNPACK, whole), ("QnnBackend", b"1234"))
    graphs, (issue,) = graphs_of(made, source)
    first, second, _ = made.plan().delegates
    assert graphs.keys() == {(second.id, second.payload)}
    assert graphs[second.id, second.payload].nodes[0].type == "Sigmoid"
    assert (issue.rule, issue.file) == ("delegate-payload", "model.pte")
    assert f"at byte {first.payload.offset + 10}" in issue.message


def test_a_shared_payload_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    real = BytesSource.read

    def counted(self: BytesSource, offset: int, size: int) -> bytes:
        asked.append(offset)
        return real(self, offset, size)

    made, source = program(*[(XNNPACK, headed(graph([SIGMOID], VALUES)))] * 300, shared=True)
    monkeypatch.setattr(BytesSource, "read", counted)
    graphs, _ = graphs_of(made, source)
    assert (len(graphs), len(asked)) == (1, 2)


def test_reading_of_overlapping_payloads_is_limited() -> None:
    made, source = program((XNNPACK, headed(graph([SIGMOID], VALUES)) + bytes(1 << 20)))
    (delegate,) = made.plan().delegates
    offset, size = delegate.payload
    spans = (FileSpan(offset, size - at) for at in range(100))
    delegates = tuple(dataclasses.replace(delegate, payload=span) for span in spans)
    plan = dataclasses.replace(made.plan(), delegates=delegates)
    graphs, issues = graphs_of(dataclasses.replace(made, plans=(plan,)), source)
    assert 10 < len(graphs) < 20
    assert "again and again" in issues[-1].message


def test_constants_are_found_by_key_and_position() -> None:
    source = FileSource(INSIDE / "residual" / "model.pte")
    made = read_program(source)
    lookup = ConstantBytes(made, source)
    found, *_ = graphs_of(made, source)[0].values()
    keyed = [each for each in found.constants if each.key]
    assert keyed
    offsets = {segment.offset for segment in made.segments}
    for each in keyed:
        where, span = lookup.of(each)
        assert (where, span.size, span.offset in offsets) == (source, each.size, True)
    unknown = DelegateConstant(2**64 - 1, 4, "../../etc/passwd")
    for other in (found.constants[0], unknown, dataclasses.replace(keyed[0], size=1 << 40)):
        assert lookup.of(other) is None
    behind = DelegateConstant(0, 8, "", FileSpan(100, 8))
    assert lookup.of(behind) == (source, FileSpan(100, 8))


def test_constants_are_found_in_named_data(corpus: Path) -> None:
    case = corpus / "executorch" / "xnnpack_inside" / "weights_ptd"
    source, other = FileSource(case / "model.pte"), FileSource(next(case.glob("*.ptd")))
    made = read_program(source)
    (found,) = graphs_of(made, source)[0].values()
    keyed = [each for each in found.constants if each.key]
    assert {ConstantBytes(made, source).of(each) for each in keyed} == {None}
    lookup = ConstantBytes(made, source, [(read_flat_tensor(other), other)])
    assert all(lookup.of(each)[0] is other for each in keyed)


def _vk(kind: int, **fields: Any) -> Table:
    return Table(
        {0: number("B", kind), 1: Table({int(each[1:]): held for each, held in fields.items()})}
    )


def _tensor(constant_id: int, *dims: int, **more: Any) -> Table:
    fields = {"f0": number("b", 5), "f1": numbers("I", *dims), "f2": number("i", constant_id)}
    return _vk(5, **fields, f3=number("i", -1), **more)


VULKAN_VALUES = [
    _tensor(-1, 2, 3),
    _tensor(0, 4, 3, f4=number("B", 1), f6=number("b", 7)),
    _vk(1),
    _tensor(-1, 2, 4),
    _vk(2, f0=number("q", -7)),
    _vk(9, f0=numbers("i", 3, 0)),
    _tensor(-1, 2, 7),
    _vk(3, f0=number("d", 0.5)),
    _vk(10, f0=text("none")),
    _vk(6, f0=numbers("q", 1, 2)),
    _vk(11, f0=number("i", 3)),
    _vk(99),
]


def vulkan_payload(calls: list[Table], values: list[Table], **changed: Any) -> bytes:
    fields: dict[int, Any] = {0: text("0"), 1: Things([*calls]), 2: Things([*values])}
    fields |= {3: numbers("I", 0), 4: numbers("I", 6), 5: Things([constant(0, 48)])}
    fields |= {int(name[1:]): value for name, value in changed.items()}
    return headed(file(Table(fields), b"VK00"), bytes(48), b"VH00")


def vulkan(calls: list[Table], values: list[Table], **changed: Any) -> DelegateGraph:
    return read(vulkan_payload(calls, values, **changed), vulkan=True)


VULKAN_CALLS = [
    call_of(1, "aten.linear.default", 0, 1, 2, 3),
    call_of(2, "aten.cat.default", 5, 4, 6),
]


@pytest.mark.spec_only
def test_vulkan_graphs() -> None:
    found = vulkan(VULKAN_CALLS, VULKAN_VALUES)
    assert not found.issues
    assert (found.identifier, found.version, found.num_externs) == ("VK00", "0", 2)
    assert found.header["bytes_size"] == 48
    first, second = found.nodes
    assert (first.type, first.handle, first.bounds) == ("aten.linear.default", None, None)
    assert first.fields == {"node_id": 1, "name": "aten.linear.default", "args": (0, 1, 2, 3)}
    assert (first.inputs, first.outputs) == ((("args[0]", 0), ("args[1]", 1)), (("args[3]", 3),))
    assert second.inputs == (("args[0][0]", 3), ("args[0][1]", 0))
    assert second.outputs == (("args[2]", 6),)
    values = found.values
    assert (values[0].dtype, values[0].shape) == ("FLOAT32", (2, 3))
    assert [values[at].external_id for at in (0, 3, 6)] == [0, None, 1]
    assert [values[at].constant for at in (0, 1)] == [0, 1]
    own = {"storage_type": 1, "staging_datatype": 7, "memory_layout": 255}
    assert own.items() <= values[1].fields.items()
    assert found.constants[1].span.size == 48
    assert [(values[at].dtype, dict(values[at].fields)) for at in (2, 4, 7, 8, 9, 10, 11)] == [
        ("Null", {}),
        ("Int", {"int_val": -7}),
        ("Double", {"double_val": 0.5}),
        ("String", {"string_val": "none"}),
        ("IntList", {"items": (1, 2)}),
        ("SymInt", {"value": 3}),
        ("value 99", {}),
    ]


@pytest.mark.spec_only
def test_invalid_vulkan_references_and_a_missing_header_are_reported() -> None:
    calls = [call_of(1, "a", 0, 99, -1, 6), call_of(2, "b", 6, 0, 6)]
    found = vulkan(calls, [*VULKAN_VALUES, _tensor(7, 1)], f3=numbers("I", 0, 77))
    rules = sorted(each.rule.removeprefix("delegate-") for each in found.issues)
    assert rules == ["constants", "ids", "producers"]
    assert (found.nodes[0].reads, found.nodes[1].writes, found.inputs) == ((0,), (), (0,))
    assert found.values[12].constant == 0
    bare = read(file(Table({0: text("0"), 2: Things([])}), b"VK00"), vulkan=True)
    assert [each.rule for each in bare.issues] == ["delegate-header"]


@pytest.mark.spec_only
def test_calls_sharing_one_list_of_values_are_refused() -> None:
    values = [_tensor(-1, 1), _vk(9, f0=numbers("i", *[0] * 3000))]
    calls = [call_of(at, "cat", 1, 0) for at in range(3000)]
    with pytest.raises(FormatError, match="again and again"):
        vulkan(calls, values, f4=numbers("I", 0), f5=Things([]))

"""Damaged and malicious payloads: refused with FormatError, or read with issues."""

import struct
import time
from typing import Any

import pytest

from tests.formats.executorch import delegate_payloads as made
from tests.formats.executorch.delegate_payloads import (
    BEFORE,
    NONE,
    SIGMOID,
    VALUES,
    constant,
    graph,
    node,
    quantized,
    value,
    with_header,
)
from tests.formats.flatbuffer_files import Table, Things, number, numbers
from tvmdbg_widgets.model.base.text import FormatError, IssueSeverity
from tvmdbg_widgets.model.executorch.delegate_graph import DelegateGraph


def refusal(payload: bytes | bytearray) -> FormatError:
    with pytest.raises(FormatError) as problem:
        made.read(payload)
    return problem.value


def sound(*rules: str, nodes: Any = (SIGMOID,), values: Any = VALUES, **more: Any) -> DelegateGraph:
    """Read a graph that has issues by these rules, and no others."""
    behind = more.pop("behind", b"")
    found = made.read(with_header(graph([*nodes], [*values], **more), behind))
    made.assert_sound(found)
    assert [each.rule for each in found.issues] == [f"delegate-{rule}" for rule in rules]
    return found


def told(rule: str, *words: str, **given: Any) -> DelegateGraph:
    """Read a graph that has one issue, which says these words."""
    found = sound(rule, **given)
    (issue,) = found.issues
    assert (issue.severity, issue.file) == (IssueSeverity.WARNING, "model.pte")
    for each in (f"byte {BEFORE}", *words):
        assert each in issue.message
    return found


FLAT = graph([SIGMOID], VALUES)


@pytest.mark.parametrize(
    ("payload", "region", "offset"),
    [
        (b"", "flatbuffer", 0),
        (b"\0\0\0\0XH00" + bytes(10), "header", 0),
        (with_header(FLAT, length=29), "header_length", 8),
        (with_header(FLAT, start=8), "flatbuffer", 10),
        (with_header(FLAT, size=2**32 - 1), "flatbuffer", 10),
        (with_header(FLAT, start=2**32 - 1, at=2**32 - 1), "flatbuffer", 10),
        (with_header(FLAT, size=7), "flatbuffer", 32),
        (with_header(FLAT, at=31 + len(FLAT)), "constants", 18),
        (with_header(FLAT, held=2**64 - 1), "constants", 18),
        (with_header(FLAT, at=2**32 - 1), "constants", 18),
        (with_header(graph([SIGMOID], VALUES, identifier=b"XN02")), "identifier", 36),
        (graph([SIGMOID], VALUES, identifier=b"ET12"), "identifier", 4),
    ],
)
def test_invalid_regions_are_refused(payload: bytes, region: str, offset: int) -> None:
    problem = refusal(payload)
    assert (problem.file, problem.offset) == ("model.pte", BEFORE + offset)
    assert region in str(problem.field)
    assert None not in (problem.expected, problem.found, problem.hint)


def test_error_offsets_count_from_the_start_of_the_file() -> None:
    data = bytearray(with_header(FLAT))
    struct.pack_into("<I", data, 32, 2**31)
    problem = refusal(data)
    assert (problem.file, problem.offset) == ("model.pte", BEFORE + 32 + 2**31)


@pytest.mark.parametrize(("vector", "field"), [(1, "xnodes"), (2, "xvalues"), (4, "input_ids")])
def test_oversized_vector_counts_are_refused(vector: int, field: str) -> None:
    flat = graph([SIGMOID], VALUES)
    (root,) = struct.unpack_from("<I", flat, 0)
    (back,) = struct.unpack_from("<i", flat, root)
    (slot,) = struct.unpack_from("<H", flat, root - back + 4 + 2 * vector)
    (to,) = struct.unpack_from("<I", flat, root + slot)
    struct.pack_into("<I", flat, root + slot + to, 2**32 - 1)
    assert f"XNNGraph.{field}" in str(refusal(with_header(flat)).field)


def test_invalid_keys_and_nodes_without_a_table_are_refused() -> None:
    data = Things([constant(0, 0), constant(2**64 - 1, 4, b"\xff\xfe")])
    assert "no UTF-8" in str(refusal(with_header(graph([SIGMOID], VALUES, f8=data))))
    bare = graph([Table({0: number("B", 4)})], VALUES)
    assert "has no value" in str(refusal(with_header(bare)))


def test_unknown_node_types_keep_number_and_position() -> None:
    # Its table is not read, wherever it leads.
    odd = Table({0: number("B", 200), 1: Table({}), 2: number("I", 5)})
    said = "1 node of a type that is not known here: #1: 200"
    each = told("types", said, nodes=[SIGMOID, odd]).nodes[1]
    assert (each.index, each.type, each.type_number, each.handle) == (1, "type 200", 200, 5)
    assert (each.inputs, each.outputs) == ((), ())


def test_ids_without_a_value_are_reported() -> None:
    nodes = [node(1, 0, 77, 1), node(4, 2**31, 88)]
    first, second = told("ids", "3 ids of a value", "#0 Add.input2_id = 77", nodes=nodes).nodes
    assert (first.inputs, first.fields["input2_id"]) == ((("input1_id", 0),), 77)
    assert (second.inputs, second.outputs) == ((), ())
    found = told("ids", "input_ids[1] = 5", inputs=(0, 5), outputs=(9, 1))
    assert (found.inputs, found.outputs) == ((0,), (1,))


def test_faulty_values_are_reported() -> None:
    more = [value(2**31), value(NONE), value(1, 7)]
    found = sound("values", "values", values=[*VALUES, *more])
    assert (set(found.values), found.values[1].shape) == ({0, 1}, (2, 3))
    odd = [Table({0: number("B", kind), 1: Table({})}) for kind in (3, 2)]
    said = "2 values of a kind without an id", "[2], kind 3"
    assert len(told("values", *said, values=[*VALUES, *odd]).values) == 2
    found = sound(values=[VALUES[0], value(1, 4, external=1, f0=number("h", 77))])
    assert found.values[1].dtype == "datatype 77"
    wrong = value(1, 2, 3, external=1, f1=number("I", 4_000_000_000))
    found = told("shapes", "[1]: 4000000000, not 2", values=[VALUES[0], wrong])
    assert found.values[1].shape == (2, 3)
    found = told("externs", values=[VALUES[0], value(1, 2, 3, external=2)])
    assert found.values[1].external_id is None


def test_second_producers_and_cycles_are_reported() -> None:
    first, second = told("producers", "1 by #0 and #1", nodes=[SIGMOID, SIGMOID]).nodes
    assert (first.writes, second.reads, second.writes) == ((1,), (0,), ())
    ring = [node(1, 0, 3, 2), node(4, 2, 3), node(4, 3, 1), node(4, 1, 1)]
    found = sound("producers", "circles", nodes=ring, values=[*VALUES, value(2), value(3)])
    assert (found.nodes[0].inputs, found.nodes[1].reads) == ((("input1_id", 0),), (2,))
    unsorted = sound(nodes=[node(4, 2, 1), node(4, 0, 2)], values=[*VALUES, value(2)])
    assert unsorted.nodes[0].reads == (2,)


def test_missing_constant_indexes_are_reported() -> None:
    scaled = quantized(value(1, 2, external=1), 1, Table({2: number("I", 9)}))
    values = [value(0, 2, external=0, constant=5), scaled]
    found = sound("constants", "constants", values=values, f8=Things([constant(0, 0)])).values[0]
    assert (found.constant, found.fields["constant_buffer_idx"]) == (0, 5)


@pytest.mark.parametrize(("offset", "size"), [(0, 9), (8, 1), (2**64 - 1, 1), (1, 2**64 - 1)])
def test_constants_outside_the_payload_have_no_span(offset: int, size: int) -> None:
    data = Things([constant(0, 0), constant(offset, size)])
    found = told("constants", f8=data, behind=bytes(8)).constants[1]
    assert (found.span, found.offset, found.size) == (None, offset, size)


def test_zero_fields_cause_no_division() -> None:
    found = sound(nodes=[node(7, *[0] * 15, 0, NONE, NONE, 1)])
    assert found.nodes[0].fields["groups"] == 0


def test_many_faults_are_reported_as_one_issue() -> None:
    nodes = [node(4, 10 + at, 10_000 + at) for at in range(1000)]
    found = told("ids", "2,000 ids", nodes=nodes)
    assert len(found.nodes) == 1000
    assert len(found.issues[0].message) < 700


def test_nodes_and_values_sharing_tables_are_refused() -> None:
    # Of tables without fields, memory comes from what is absent.
    empty = Table({0: number("B", 7), 1: Table({})})
    dims, scales = numbers("I", *[1] * 1000), numbers("f", *[1.0] * 1000)
    flats = [graph([one] * 100_000, VALUES) for one in (node(7, *[1] * 20), empty)]
    flats.append(graph([], [Table({0: number("B", 1), 1: Table({2: dims})}) for _ in range(1000)]))
    flats.append(graph([], [quantized(value(i), 1, Table({0: scales})) for i in range(1000)]))
    for flat in flats:
        assert "again and again" in str(refusal(with_header(flat)))


def test_long_chains_and_cycles_are_read_in_bounded_time() -> None:
    count = 20_000
    values = [value(at) for at in range(count + 1)]
    backward: list[Any] = [node(4, at + 1, at) for at in range(count)]
    start = time.process_time()
    assert not made.read(with_header(graph(backward, values, (count,), (0,)))).issues
    found = made.read(with_header(graph([*backward, node(4, 0, count)], values, (), (0,))))
    assert [each.rule for each in found.issues] == ["delegate-circles"]
    assert time.process_time() - start < 5  # 0.6 s on an idle machine

"""Damaged and malicious payloads: refused with FormatError, or read with issues."""

from __future__ import annotations

import struct
import time
from typing import Any

import pytest

from tests.formats.executorch.delegate_payloads import (
    BEFORE,
    NONE,
    SIGMOID,
    VALUES,
    assert_sound,
    constant,
    graph,
    node,
    quantized,
    read,
    value,
    with_header,
)
from tests.formats.flatbuffer_files import Table, Thing, Things, number, numbers
from tvmdbg_widgets.model.base.text import FormatError, IssueSeverity
from tvmdbg_widgets.model.executorch.delegate_graph import DelegateGraph


def use(payload: bytes | bytearray) -> DelegateGraph | None:
    """Read a payload and what is derived from it; None where it is refused."""
    try:
        found = read(payload)
    except FormatError:
        return None
    assert_sound(found)
    return found


def refusal(payload: bytes | bytearray, *, vulkan: bool = False) -> FormatError:
    with pytest.raises(FormatError) as problem:
        read(payload, vulkan=vulkan)
    return problem.value


def issues(payload: bytes | bytearray, rule: str) -> tuple[DelegateGraph, str]:
    found = use(payload)
    assert found is not None
    (issue,) = found.issues
    assert issue.rule == f"delegate-{rule}"
    assert issue.severity == IssueSeverity.WARNING
    assert issue.file == "model.pte"
    assert f"byte {BEFORE}" in issue.message
    return found, issue.message


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
    assert problem.file == "model.pte"
    assert region in str(problem.field)
    assert problem.offset == BEFORE + offset
    assert None not in (problem.expected, problem.found, problem.hint)


def test_error_offsets_count_from_the_start_of_the_file() -> None:
    data = bytearray(with_header(FLAT))
    struct.pack_into("<I", data, 32, 2**31)
    problem = refusal(data)
    assert problem.offset == BEFORE + 32 + 2**31
    assert problem.file == "model.pte"


@pytest.mark.parametrize(
    ("vector", "field"),
    [(1, "XNNGraph.xnodes"), (2, "XNNGraph.xvalues"), (4, "XNNGraph.input_ids")],
)
def test_oversized_vector_counts_are_refused(vector: int, field: str) -> None:
    flat = graph([SIGMOID], VALUES)
    (root,) = struct.unpack_from("<I", flat, 0)
    (back,) = struct.unpack_from("<i", flat, root)
    (slot,) = struct.unpack_from("<H", flat, root - back + 4 + 2 * vector)
    (to,) = struct.unpack_from("<I", flat, root + slot)
    struct.pack_into("<I", flat, root + slot + to, 2**32 - 1)
    assert field in str(refusal(with_header(flat)).field)


def test_keys_of_invalid_utf8_are_refused() -> None:
    data = Things([constant(0, 0), constant(2**64 - 1, 4, b"\xff\xfe")])
    assert "no UTF-8" in str(refusal(with_header(graph([SIGMOID], VALUES, f8=data))))


def test_node_type_without_a_table_is_refused() -> None:
    made = Table({0: number("B", 4)})
    assert "has no value" in str(refusal(with_header(graph([made], VALUES))))


def test_unknown_node_types_keep_number_and_position() -> None:
    # Its table is not read, wherever it leads.
    made = Table({0: number("B", 200), 1: Table({}), 2: number("I", 5)})
    found, told = issues(with_header(graph([SIGMOID, made], VALUES)), "types")
    assert "1 node of a type that is not known here: #1: 200" in told
    each = found.nodes[1]
    assert (each.index, each.type, each.type_number, each.handle) == (1, "type 200", 200, 5)
    assert (each.inputs, each.outputs) == ((), ())


def test_node_ids_without_a_value_are_reported() -> None:
    nodes = [node(1, 0, 77, 1), node(4, 2**31, 88)]
    found, told = issues(with_header(graph(nodes, VALUES)), "ids")
    assert found.nodes[0].inputs == (("input1_id", 0),)
    assert found.nodes[0].fields["input2_id"] == 77
    assert (found.nodes[1].inputs, found.nodes[1].outputs) == ((), ())
    assert "3 ids of a value" in told
    assert "#0 Add.input2_id = 77" in told


def test_input_and_output_ids_without_a_value_are_reported() -> None:
    found, told = issues(with_header(graph([SIGMOID], VALUES, (0, 5), (9, 1))), "ids")
    assert (found.inputs, found.outputs) == ((0,), (1,))
    assert "input_ids[1] = 5" in told


def test_oversized_and_repeated_value_ids_are_reported() -> None:
    values = [*VALUES, value(2**31), value(NONE), value(1, 7)]
    found = use(with_header(graph([SIGMOID], values)))
    assert found is not None
    assert [each.rule for each in found.issues] == ["delegate-values", "delegate-values"]
    assert set(found.values) == {0, 1}
    assert found.values[1].shape == (2, 3)


def test_values_of_unknown_kinds_are_reported() -> None:
    values = [
        *VALUES,
        Table({0: number("B", 3), 1: Table({})}),
        Table({0: number("B", 2), 1: Table({})}),
    ]
    found, told = issues(with_header(graph([SIGMOID], values)), "values")
    assert "2 values of a kind without an id" in told
    assert "[2], kind 3" in told
    assert len(found.values) == 2


def test_unknown_element_types_are_kept_by_number() -> None:
    values = [VALUES[0], value(1, 4, external=1, f0=number("h", 77))]
    found = use(with_header(graph([SIGMOID], values)))
    assert found is not None
    assert found.values[1].dtype == "datatype 77"
    assert not found.issues


def test_second_producer_of_a_value_is_reported() -> None:
    found, told = issues(with_header(graph([SIGMOID, SIGMOID], VALUES)), "producers")
    assert found.nodes[0].writes == (1,)
    assert (found.nodes[1].reads, found.nodes[1].writes) == ((0,), ())
    assert "1 by #0 and #1" in told


def test_cycles_are_broken_and_reported() -> None:
    values = [*VALUES, value(2), value(3)]
    nodes = [node(1, 0, 3, 2), node(4, 2, 3), node(4, 3, 1), node(4, 1, 1)]
    found = use(with_header(graph(nodes, values)))
    assert found is not None
    assert {each.rule for each in found.issues} == {"delegate-producers", "delegate-circles"}
    assert found.nodes[0].inputs == (("input1_id", 0),)
    assert found.nodes[1].reads == (2,)


def test_unsorted_nodes_are_not_a_cycle() -> None:
    found = use(with_header(graph([node(4, 2, 1), node(4, 0, 2)], [*VALUES, value(2)])))
    assert found is not None
    assert not found.issues
    assert found.nodes[0].reads == (2,)


def test_dimension_list_overrides_a_wrong_dimension_count() -> None:
    values = [VALUES[0], value(1, 2, 3, external=1, f1=number("I", 4_000_000_000))]
    found, told = issues(with_header(graph([SIGMOID], values)), "shapes")
    assert found.values[1].shape == (2, 3)
    assert "[1]: 4000000000, not 2" in told


def test_missing_constant_indexes_are_reported() -> None:
    scales = Table({2: number("I", 9)})
    values = [
        value(0, 2, external=0, constant=5),
        quantized(value(1, 2, external=1), 1, scales),
    ]
    found = use(with_header(graph([SIGMOID], values, f8=Things([constant(0, 0)]))))
    assert found is not None
    assert [each.rule for each in found.issues] == ["delegate-constants"] * 2
    assert found.values[0].constant == 0
    assert found.values[0].fields["constant_buffer_idx"] == 5


@pytest.mark.parametrize(("offset", "size"), [(0, 9), (8, 1), (2**64 - 1, 1), (1, 2**64 - 1)])
def test_constants_outside_the_payload_have_no_span(offset: int, size: int) -> None:
    data = Things([constant(0, 0), constant(offset, size)])
    payload = with_header(graph([SIGMOID], VALUES, f8=data), bytes(8))
    found, _ = issues(payload, "constants")
    assert found.constants[1].span is None
    assert (found.constants[1].offset, found.constants[1].size) == (offset, size)


def test_missing_external_arguments_are_reported() -> None:
    values = [VALUES[0], value(1, 2, 3, external=2)]
    found, _ = issues(with_header(graph([SIGMOID], values)), "externs")
    assert found.values[1].external_id is None


def test_zero_fields_cause_no_division() -> None:
    found = use(with_header(graph([node(7, *[0] * 15, 0, NONE, NONE, 1)], VALUES)))
    assert found is not None
    assert found.nodes[0].fields["groups"] == 0


def test_many_faults_are_reported_as_one_issue() -> None:
    nodes = [node(4, 10 + at, 10_000 + at) for at in range(1000)]
    found, told = issues(with_header(graph(nodes, VALUES)), "ids")
    assert len(found.nodes) == 1000
    assert "2,000 ids" in told
    assert len(told) < 700


def test_nodes_sharing_one_table_are_refused() -> None:
    one = node(7, *[1] * 20)
    assert "again and again" in str(refusal(with_header(graph([one] * 100_000, VALUES))))
    # Tables without fields: memory comes from what is absent.
    empty = Table({0: number("B", 7), 1: Table({})})
    assert "again and again" in str(refusal(with_header(graph([empty] * 100_000, VALUES))))


def test_values_sharing_dims_or_scales_are_refused() -> None:
    dims = numbers("I", *[1] * 1000)
    held: dict[int, bytes | Thing] = {2: dims}
    values = [Table({0: number("B", 1), 1: Table(dict(held))}) for _ in range(1000)]
    assert "again and again" in str(refusal(with_header(graph([], values))))
    scales = numbers("f", *[1.0] * 1000)
    values = [quantized(value(at), 1, Table({0: scales})) for at in range(1000)]
    assert "again and again" in str(refusal(with_header(graph([], values))))


def test_long_chains_and_cycles_are_read_in_bounded_time() -> None:
    count = 20_000
    values = [value(at) for at in range(count + 1)]
    backward: list[Any] = [node(4, at + 1, at) for at in range(count)]
    start = time.process_time()
    found = read(with_header(graph(backward, values, (count,), (0,))))
    assert not found.issues
    ring = [*backward, node(4, 0, count)]
    found = read(with_header(graph(ring, values, (), (0,))))
    assert [each.rule for each in found.issues] == ["delegate-circles"]
    assert time.process_time() - start < 5  # 0.6 s on an idle machine

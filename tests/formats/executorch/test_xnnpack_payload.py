"""XNNPACK's payloads against flatc's decode of them, and those of other releases."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.formats.executorch import delegate_payloads as made
from tests.formats.executorch.delegate_payloads import BEFORE, NONE, SIGMOID, VALUES, value
from tests.formats.executorch.xnnpack_truth import CASES, FOLDER, INSIDE, recorded, truth
from tests.formats.flatbuffer_files import Table, Things, number, numbers
from tvmdbg_widgets.formats.executorch.delegates.families import graphs_of
from tvmdbg_widgets.formats.executorch.delegates.xnnpack import DTYPES, LINKS, NODES
from tvmdbg_widgets.formats.executorch.program.program_file import read_program
from tvmdbg_widgets.model.executorch.delegate_graph import DelegateGraph, DelegateNode
from tvmdbg_widgets.model.executorch.program import DataLocation, FileSpan
from tvmdbg_widgets.sources.file_source import FileSource

Pairs = list[tuple[str, Any, Any]]


def graphs(case: Path) -> Iterator[tuple[DelegateGraph, dict[str, Any]]]:
    source = FileSource(case / "model.pte")
    program = read_program(source)
    graphs, issues = graphs_of(program, source)
    assert not issues
    for said in truth(case)["delegates"]:
        delegate = program.plan(said["method"]).delegates[said["delegate_index"]]
        assert DataLocation(delegate.location).name == said["location"]["location"]
        yield graphs[delegate.id, delegate.payload], said


def differences(ours: DelegateGraph, said: dict[str, Any]) -> tuple[int, list[str]]:
    """Return how many fields were compared with flatc's decode, and those that differ."""
    theirs, header = said["graph"], dict(said["header"])
    header.pop("payload_size", None)
    own = {**ours.header, "identifier": ours.identifier}
    pairs: Pairs = [(name, own[name], found) for name, found in header.items()]
    pairs += [(name, getattr(ours, name), theirs[name]) for name in ("version", "num_externs")]
    pairs += [("input_ids", ours.inputs, theirs["input_ids"])]
    pairs += [("output_ids", ours.outputs, theirs["output_ids"])]
    for mine, row in zip(ours.constants, theirs["constant_data"], strict=True):
        names, held = ("offset", "size", "named_key"), (mine.offset, mine.size, mine.key)
        pairs += zip(names, held, row.values(), strict=True)
    for mine_node, row in zip(ours.nodes, theirs["xnodes"], strict=True):
        pairs += _node(mine_node, row)
    for mine_value, row in zip(ours.values.values(), theirs["xvalues"], strict=True):
        held, quantization = row["xvalue_union"], dict(mine_value.quantization)
        if row["xvalue_union_type"] == "XNNQuantizedTensorValue":
            pairs.append(("kind", quantization.pop("kind"), held["quant_params_type"]))
            pairs += _fields(quantization, held["quant_params"])
            held = held["tensor_value"]
        else:
            assert not quantization
        types = {
            name: f"xnn_datatype_{DTYPES[mine_value.fields[name]]}"
            for name in ("datatype", "dq_datatype")
        }
        pairs += _fields({**mine_value.fields, **types}, held)
        pairs.append(("dtype", f"xnn_datatype_{mine_value.dtype}", held["datatype"]))
        pairs.append(("shape", mine_value.shape, tuple(held["dims"])))
        pairs.append(("constant", mine_value.constant, held["constant_buffer_idx"]))
    return len(pairs), [f"{name}: {a!r}, not {b!r}" for name, a, b in pairs if not _same(a, b)]


def _node(ours: DelegateNode, row: dict[str, Any]) -> Pairs:
    handle = row["debug_handle"]
    pairs: Pairs = [("type", f"XNN{ours.type}", row["xnode_union_type"])]
    pairs += [("handle", ours.handle, None if handle == 65535 else handle)]
    pairs += [("debug_handle", ours.fields["debug_handle"], handle)]
    bounds = row.get("output_min_max")
    assert (bounds is None) == (ours.bounds is None)
    if bounds is not None:
        pairs += zip(bounds, ours.bounds or (), bounds.values(), strict=True)
    own = {name: held for name, held in ours.fields.items() if name != "debug_handle"}
    return pairs + _fields(own, row["xnode_union"])


def _fields(ours: dict[str, Any], theirs: dict[str, Any]) -> Pairs:
    # flatc leaves out a vector that is absent, and all fields that are deprecated.
    assert {name for name in ours if ours[name] != ()} <= set(theirs)
    return [(name, ours[name], held) for name, held in theirs.items()]


def _same(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, float):  # flatc writes six decimals
        theirs = float(theirs)
        return ours == theirs or abs(ours - theirs) <= 5.1e-7 + 1e-6 * abs(theirs)
    if isinstance(ours, tuple):
        return len(ours) == len(theirs) and all(map(_same, ours, theirs))
    return bool(ours == theirs)


@pytest.mark.parametrize("case", [path.name for path in sorted(INSIDE.iterdir())])
def test_fields_match_flatc(case: str) -> None:
    for ours, said in graphs(INSIDE / case):
        count, found = differences(ours, said)
        assert found == []
        assert count > 150
        # A changed field is seen.
        said["graph"]["num_externs"] += 1
        assert len(differences(ours, said)[1]) == 1
        said["graph"]["num_externs"] -= 1


@recorded
def test_fields_of_all_recorded_cases_match_flatc() -> None:
    total, payloads = 0, 0
    for case in CASES:
        for ours, said in graphs(FOLDER / case):
            count, found = differences(ours, said)
            assert found == [], case
            total, payloads = total + count, payloads + 1
    assert payloads == 46
    assert total > 3000


def test_payloads_of_all_recorded_programs_open(corpus: Path) -> None:
    found = 0
    for path in sorted(corpus.glob("executorch/**/*.pte")):
        source = FileSource(path)
        graphs, issues = graphs_of(read_program(source), source)
        assert not issues, path
        found += len(graphs)
    assert found >= 53


def test_edges_match_the_node_fields() -> None:
    for ours, _ in graphs(INSIDE / "residual"):
        for each in ours.nodes:
            inputs, outputs = (
                {name: each.fields[name] for name in names if each.fields[name] != NONE}
                for names in LINKS[each.type_number]
            )
            assert (dict(each.inputs), dict(each.outputs)) == (inputs, outputs)
        ends = {ours.values[id_].external_id for id_ in (*ours.inputs, *ours.outputs)}
        assert ends == {*range(ours.num_externs)}


def read(nodes: Any = (SIGMOID,), values: Any = VALUES, *ends: Any, **more: Any) -> DelegateGraph:
    behind = more.pop("behind", b"")
    found = made.read(made.with_header(made.graph([*nodes], [*values], *ends, **more), behind))
    assert not found.issues
    return found


@pytest.mark.parametrize("type_", NODES)
def test_every_type_of_node(type_: int) -> None:
    name, fields = NODES[type_]
    held: dict[int, Any] = {}
    for id_, (_, dtype, many) in enumerate(fields):
        kind = {"u4": "I", "f4": "f"}[dtype]
        held[id_] = numbers(kind, 7, 8) if many else number(kind, id_)
    table = Table({0: number("B", type_), 1: Table(held), 2: number("I", 9)})
    (ours,) = read([table], [value(id_, 1) for id_ in range(len(fields))], (), ()).nodes
    assert (ours.type, ours.type_number, ours.handle) == (name, type_, 9)
    told = {each.name: (7, 8) if each.many else at for at, each in enumerate(fields)}
    assert ours.fields == {**told, "debug_handle": 9}
    assert ours.outputs
    if name.startswith("Concatenate"):
        assert len(ours.inputs) == int(name[-1])


def test_ids_bounds_and_handles_of_nodes() -> None:
    # An absent id is 0, an invalid one no input.
    matmul = Table({1: number("I", 2), 2: number("I", NONE), 3: number("I", 1)})
    (node,) = read([Table({0: number("B", 2), 1: matmul})], [*VALUES, value(2, 3, 3)]).nodes
    assert node.inputs == (("input1_id", 0), ("filter_id", 2))
    assert (node.fields["bias_id"], node.handle) == (NONE, 0)
    limits = Table({0: number("f", math.nan), 1: number("f", math.inf)})
    (node,) = read([Table(SIGMOID.fields | {3: limits})]).nodes
    low, high = node.bounds or ()
    assert (math.isnan(low), high) == (True, math.inf)
    (node,) = read([made.node(4, 0, 1, handle=65535)]).nodes  # inserted
    assert (node.handle, node.fields["debug_handle"]) == (None, 65535)


@pytest.mark.parametrize("identifier", [b"XN00", b"XN01"])
def test_payloads_without_header_contain_their_constants(identifier: bytes) -> None:
    weights = bytes(range(24))
    buffers = Things([Table({}), Table({0: numbers("B", *weights)})])
    values = [*VALUES, value(2, 2, 3, constant=1)]
    payload = made.graph([made.node(1, 0, 2, 1)], values, identifier=identifier, f6=buffers)
    found: Any = made.read(payload)
    assert (found.header, found.identifier) == ({}, identifier.decode())
    assert not found.issues
    first, second = (each.span for each in found.constants)
    assert (first, found.values[2].constant) == (None, 1)
    whole = bytes(BEFORE) + bytes(payload)
    assert whole[second.offset : second.offset + second.size] == weights


def test_constants_after_the_flatbuffer_are_located() -> None:
    data = Things([made.constant(0, 0), made.constant(16, 8), made.constant(2**64 - 1, 4, "key")])
    payload = made.with_header(made.graph([SIGMOID], VALUES, f8=data), bytes(16) + b"constant")
    found = made.read(payload)
    assert found.constants[1].span == FileSpan(BEFORE + len(payload) - 8, 8)
    assert (found.constants[2].key, found.constants[2].span) == ("key", None)
    assert not found.issues


def test_every_kind_of_quantization() -> None:
    counted = {"channel_dim": 1, "scale_buffer_idx": 0, "num_scales": 0}
    grouped = {"channel_dim": 0, "group_size": 32, "scale_buffer_idx": 0, "num_scales": 1}
    scale, group = numbers("f", 0.5, 2), Table({2: number("i", 32), 3: numbers("H", 0x3F80)})
    group.fields[5] = number("I", 1)
    kinds: dict[int, tuple[str, Table, dict[str, Any]]] = {
        1: ("PerChannel", Table({0: scale, 1: number("i", 1)}), {"scale": (0.5, 2.0), **counted}),
        2: (
            "PerTensor",
            Table({0: number("f", 0.5), 1: number("i", -3)}),
            {"scale": 0.5, "zero_point": -3},
        ),
        3: ("PerTokenDynamic", Table({0: number("i", 2)}), {"num_nonbatch_dims": 2}),
        4: ("PerChannelGroup", group, {"scale": (), "scale_bf16": (0x3F80,), **grouped}),
        9: ("quant_params 9", Table({}), {}),
    }
    for kind, (name, params, told) in kinds.items():
        named = {"kind": name if kind == 9 else f"{name}Quant"}
        plain = made.quantized(value(1, 2, 3, external=1), kind, params)
        found = read(values=[VALUES[0], plain]).values[1]
        assert (found.quantization, found.shape) == (named | told, (2, 3))

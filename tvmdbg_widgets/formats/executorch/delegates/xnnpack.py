"""Reader of XNNPACK's payloads: the graph that its runtime builds operators from.

``backends/xnnpack/runtime/XNNHeader.h``, ``XNNCompiler.cpp`` and the schema @ v1.4.1.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

import numpy as np

from tvmdbg_widgets.formats.executorch.delegates.payload import (
    MOST_ID,
    Links,
    Noted,
    Payload,
    joined,
    known_ids,
    read_constants,
    read_fields,
    read_payload,
)
from tvmdbg_widgets.formats.family import collector_paused
from tvmdbg_widgets.formats.flatbuffer import FlatTables, SchemaField, columns
from tvmdbg_widgets.model.executorch.delegate_graph import (
    DelegateConstant,
    DelegateGraph,
    DelegateNode,
    DelegateValue,
    Field,
)
from tvmdbg_widgets.model.executorch.program import FileSpan
from tvmdbg_widgets.sources.byte_source import ByteSource

_SCHEMA: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
#: ``XNN_INVALID_VALUE_ID``: no value, or one that stays inside.
NONE: Final = 0xFFFFFFFF
#: ``DEFAULT_DEBUG_HANDLE``: of nodes that come from no operator of the edge graph.
NO_HANDLE: Final = 65535
_TENSOR: Final = columns(_SCHEMA["tensor"])
DTYPES: Final = _SCHEMA["datatypes"].split()
#: Name and fields of each kind of quantization by its number in the union.
_QUANTIZATION: Final[dict[int, tuple[str, tuple[SchemaField, ...]]]] = {
    number: (name, columns(fields))
    for number, (name, fields) in enumerate(_SCHEMA["quantization"], 1)
}
#: Name and fields of each type of node by its number in the union.
NODES: Final[dict[int, tuple[str, tuple[SchemaField, ...]]]] = {
    number: (name, columns(_SCHEMA["fields"].get(fields, fields)))
    for number, (name, fields, *_) in enumerate(_SCHEMA["nodes"], 1)
}
#: Names of operators in profiles by type, newest first; of unary and of binary operators.
NAMES: Final[dict[str, tuple[str, ...]]] = {
    type_: tuple(names) for type_, _, _, names, _ in _SCHEMA["nodes"]
}
UNARY, BINARY = (
    {type_: NAMES[type_] for type_, _, own, *_ in _SCHEMA["nodes"] if own == group}
    for group in ("unary", "binary")
)
#: Operators of the edge program by type of node, without name space and overload.
EDGE_OPERATORS: Final[dict[str, tuple[str, ...]]] = {
    type_: tuple(operators.split()) for type_, *_, operators in _SCHEMA["nodes"]
}
#: Number of the table of each type, 0 for unknown types; types of one table are read together.
_TABLES: Final = list(dict.fromkeys(fields for _, fields in NODES.values()))
_TABLE_OF: Final = np.zeros(256, np.uint8)
_TABLE_OF[list(NODES)] = [1 + _TABLES.index(fields) for _, fields in NODES.values()]


def _ports(name: str, fields: Sequence[SchemaField]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the input and output fields of a type of node."""
    ids = [field.name for field in fields if field.name.endswith("_id")]
    inputs = [name_ for name_ in ids if not name_.startswith("output")]
    # One table serves all concatenations, so it has more inputs than most use.
    if name.startswith("Concatenate"):
        inputs = inputs[: int(name[-1])]
    return tuple(inputs), tuple(name_ for name_ in ids if name_.startswith("output"))


#: Fields with value ids by type of node: inputs and outputs.
LINKS: Final = {number: _ports(*known) for number, known in NODES.items()}


def read_xnnpack(
    source: ByteSource, payload: FileSpan, backend: str, *, file: str
) -> DelegateGraph:
    """Read the graph in a payload without its constants."""
    what = f"payload of {backend} at byte {payload.offset}"
    with collector_paused():
        held = read_payload(
            source, payload, b"XH00", (b"XN00", b"XN01"), "constant_data", what=what, file=file
        )
        root = FlatTables.root(held.buffer, "XNNGraph")
        noted = Noted(what, file)
        externs = int(root.scalar(3, np.uint32, 0, "num_externs")[0])
        constants = _constants(root, held, noted)
        values = _values(root, max(1, len(constants)), externs, noted)
        return DelegateGraph(
            backend=backend,
            file=file,
            identifier=held.identifier,
            version=root.strings(0, "version").column[0],
            header=held.header,
            nodes=_nodes(root, values, noted),
            values=values,
            num_externs=externs,
            inputs=known_ids(root, 4, values, "input_ids", noted),
            outputs=known_ids(root, 5, values, "output_ids", noted),
            constants=constants,
            issues=noted.issues(),
        )


def _constants(root: FlatTables, held: Payload, noted: Noted) -> tuple[DelegateConstant, ...]:
    _, data = root.children(8, "ConstantDataOffset", "constant_data")
    if not len(data):  # 0.1 has them in the flatbuffer
        _, buffers = root.children(6, "Buffer", "constant_buffer")
        places = zip(*(column.tolist() for column in buffers.spans(0, "storage")), strict=True)
        return tuple(
            DelegateConstant(max(0, start), size, "", FileSpan(held.buffer.base + start, size))
            if index and size
            else DelegateConstant(max(0, start), size, "")
            for index, (start, size) in enumerate(places)
        )
    # Item 0 is reserved.
    return tuple(read_constants(data, "offset:u8 size:u8 named_key:text", held, noted, first=1))


def _values(
    root: FlatTables, constants: int, externs: int, noted: Noted
) -> dict[int, DelegateValue]:
    _, xvalues = root.children(2, "XValue", "xvalues")
    kinds = xvalues.scalar(0, np.uint8, 0, "xvalue_union_type")
    plain, tensors = xvalues.members(kinds, 1, "XNNTensorValue", "xvalue_union")
    rows, quantized = xvalues.members(kinds, 2, "XNNQuantizedTensorValue", "xvalue_union")
    inner, there = quantized.child(0, "XNNTensorValue", "tensor_value")
    places = np.concatenate((tensors.places, inner.places))
    own = read_fields(FlatTables(root.buffer, places, "XNNTensorValue"), _TENSOR)
    fields_of = dict(zip([*plain, *(rows[at] for at in there.tolist())], own, strict=True))
    quantization = dict(zip(rows, _quantization(quantized), strict=True))
    by_id: dict[int, DelegateValue] = {}
    for row, kind in enumerate(kinds.tolist()):
        fields = fields_of.get(row)
        if fields is None:
            noted.add("values", "value of a kind without an id, left out", f"[{row}], kind {kind}")
            continue
        value = _value(row, fields, quantization.get(row, {}), (constants, externs), noted)
        if value.id > MOST_ID:
            noted.add("values", "value with an id above 2³¹, left out", f"[{row}]: {value.id}")
        elif by_id.setdefault(value.id, value) is not value:
            noted.add(
                "values", "value with the id of another one, left out", f"[{row}]: {value.id}"
            )
    return by_id


def _quantization(tables: FlatTables) -> list[dict[str, Field]]:
    kinds = tables.scalar(1, np.uint8, 0, "quant_params_type")
    quantizations: list[dict[str, Field]] = [
        {"kind": f"quant_params {kind}"} if kind else {} for kind in kinds.tolist()
    ]
    for number in _QUANTIZATION.keys() & kinds.tolist():
        name, fields = _QUANTIZATION[number]
        rows, own = tables.members(kinds, number, name, "quant_params", id_=2)
        for row, values in zip(rows, read_fields(own, fields), strict=True):
            quantizations[row] = {"kind": name, **values}
    return quantizations


def _value(
    row: int,
    fields: Mapping[str, Any],
    quantization: Mapping[str, Field],
    limits: tuple[int, int],
    noted: Noted,
) -> DelegateValue:
    """Return a value, whose constants and arguments must exist."""
    constants, externs = limits
    dtype, shape, constant = fields["datatype"], fields["dims"], fields["constant_buffer_idx"]
    external = None if fields["external_id"] == NONE else fields["external_id"]
    if fields["num_dims"] != len(shape):
        where = f"[{row}]: {fields['num_dims']}, not {len(shape)}"
        noted.add("shapes", "value with other num_dims than dims", where)
    if constant >= constants:
        noted.add("constants", "index of a constant that is not there", f"[{row}]: {constant}")
        constant = 0
    scales = cast("int", quantization.get("scale_buffer_idx", 0))
    if scales >= constants:
        noted.add("constants", "index of scales that are not there", f"[{row}]: {scales}")
    if external is not None and external >= externs:
        where = f"[{row}]: {external} of {externs}"
        noted.add("externs", "value tied to an argument that is not there", where)
        external = None
    return DelegateValue(
        fields["id_out"],
        DTYPES[dtype] if 0 <= dtype < len(DTYPES) else f"datatype {dtype}",
        shape,
        constant,
        external,
        quantization,
        fields,
    )


def _nodes(
    root: FlatTables, values: Mapping[int, DelegateValue], noted: Noted
) -> tuple[DelegateNode, ...]:
    _, xnodes = root.children(1, "XNode", "xnodes")
    kinds = xnodes.scalar(0, np.uint8, 0, "xnode_union_type")
    handles = xnodes.scalar(2, np.uint32, 0, "debug_handle").tolist()
    limits, rows = xnodes.child(3, "OutputMinMax", "output_min_max")
    bounds = dict(zip(rows.tolist(), limits.rows("output_min:f4 output_max:f4"), strict=True))
    fields: list[dict[str, Any]] = [{} for _ in handles]
    tables = _TABLE_OF[kinds]
    for table in np.unique(tables[tables > 0]).tolist():
        first = NODES[int(kinds[np.argmax(tables == table)])][0]
        places, held = xnodes.members(tables, table, f"XNN{first}", "xnode_union")
        for row, row_fields in zip(places, read_fields(held, _TABLES[table - 1]), strict=True):
            fields[row] = row_fields
    numbers = kinds.tolist()
    names = [NODES[kind][0] if kind in NODES else f"type {kind}" for kind in numbers]
    ports_of: list[Links] = []
    for number, own in zip(numbers, fields, strict=True):
        inputs, outputs = (
            tuple((port, own[port]) for port in ports if own[port] != NONE)
            for ports in LINKS.get(number, ((), ()))
        )
        ports_of.append((inputs, outputs))
    links = joined(names, ports_of, values, noted)
    nodes = []
    for index, (number, handle, name) in enumerate(zip(numbers, handles, names, strict=True)):
        if number not in NODES:
            noted.add("types", "node of a type that is not known here", f"#{index}: {number}")
        fields[index]["debug_handle"] = handle
        own_handle = None if handle == NO_HANDLE else handle
        nodes.append(
            DelegateNode(
                index, name, number, own_handle, *links[index], bounds.get(index), fields[index]
            )
        )
    return tuple(nodes)

"""Reader of Vulkan's payloads: a chain of operators over values.

``backends/vulkan/serialization/schema.fbs``, ``vulkan_graph_builder.py`` and
``runtime/VulkanBackend.cpp`` @ v1.4.1; no file was at hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from tvmdbg_widgets.formats.executorch.delegates.payload import (
    Links,
    Noted,
    joined,
    known_ids,
    read_constants,
    read_fields,
    read_payload,
)
from tvmdbg_widgets.formats.family import collector_paused
from tvmdbg_widgets.formats.flatbuffer import FlatTables, columns
from tvmdbg_widgets.model.executorch.delegate_graph import (
    DelegateConstant,
    DelegateGraph,
    DelegateNode,
    DelegateValue,
)
from tvmdbg_widgets.model.executorch.program import FileSpan
from tvmdbg_widgets.sources.byte_source import ByteSource

#: A storage type and layout of 255 are ``DEFAULT_STORAGE`` and ``DEFAULT_LAYOUT``.
_TENSOR: Final = (
    "datatype:i1 dims:[u4] constant_id:i4 mem_obj_id:i4 storage_type:u1=255 memory_layout:u1=255 "
    "staging_datatype:i1=-1"
)
#: Kinds of values that nodes read and write; all others are settings.
_HANDED: Final = ("VkTensor", "SymInt")
_LIST: Final = "ValueList"
#: Name and fields of each kind of value by its number in the union.
_VALUES: Final = {
    number: (name, columns(fields))
    for number, (name, fields) in enumerate(
        (
            ("Null", ""),
            ("Int", "int_val:i8"),
            ("Double", "double_val:f8"),
            ("Bool", "bool_val:u1"),
            ("VkTensor", _TENSOR),
            ("IntList", "items:[i8]"),
            ("DoubleList", "items:[f8]"),
            ("BoolList", "items:[u1]"),
            (_LIST, "items:[i4]"),
            ("String", "string_val:text"),
            ("SymInt", "value:i4"),
        ),
        1,
    )
}
_DTYPES: Final = ("BOOL", "UINT8", "INT8", "INT32", "FLOAT16", "FLOAT32", "FLOAT64", "INT64")


def read_vulkan(source: ByteSource, payload: FileSpan, backend: str, *, file: str) -> DelegateGraph:
    """Read the graph in a payload without its constants; value ids are positions."""
    what = f"payload of {backend} at byte {payload.offset}"
    with collector_paused():
        held = read_payload(source, payload, b"VH00", (b"VK00",), "bytes", what=what, file=file)
        noted = Noted(what, file)
        if not held.header:
            noted.add("header", "header missing, which the runtime asks for", "no VH00")
        root = FlatTables.root(held.buffer, "VkGraph")
        _, tables = root.children(5, "VkBytes", "constants")
        own = read_constants(tables, "offset:u8 length:u8 named_key:text", held, noted)
        # Ids count from 1: item 0 is reserved in other payloads.
        constants = (DelegateConstant(0, 0, ""), *own)
        kinds, fields = _fields(root)
        every = dict(enumerate(kinds))
        inputs = known_ids(root, 3, every, "input_ids", noted)
        outputs = known_ids(root, 4, every, "output_ids", noted)
        external: dict[int, int] = {}
        for at, id_ in enumerate((*inputs, *outputs)):
            external.setdefault(id_, at)
        values = {
            id_: _value(id_, kind, own_fields, (len(constants), external.get(id_)), noted)
            for id_, (kind, own_fields) in enumerate(zip(kinds, fields, strict=True))
        }
        return DelegateGraph(
            backend=backend,
            file=file,
            identifier=held.identifier,
            version=root.strings(0, "version").column[0],
            header=held.header,
            nodes=_nodes(root, kinds, fields, noted),
            values=values,
            num_externs=len(inputs) + len(outputs),
            inputs=inputs,
            outputs=outputs,
            constants=constants,
            issues=noted.issues(),
        )


def _fields(root: FlatTables) -> tuple[list[str], list[dict[str, Any]]]:
    _, tables = root.children(2, "VkValue", "values")
    kinds = tables.scalar(0, np.uint8, 0, "value_type")
    fields: list[dict[str, Any]] = [{} for _ in kinds]
    for number in np.unique(kinds).tolist():
        if number not in _VALUES:
            continue
        name, own = _VALUES[number]
        rows, held = tables.members(kinds, number, name, "value")
        for row, row_fields in zip(rows, read_fields(held, own), strict=True):
            fields[row] = row_fields
            if row_fields.get("staging_datatype", 0) < 0:
                del row_fields["staging_datatype"]
    names = {number: name for number, (name, _) in _VALUES.items()}
    return [names.get(number, f"value {number}") for number in kinds.tolist()], fields


def _value(
    id_: int, kind: str, fields: Mapping[str, Any], known: tuple[int, int | None], noted: Noted
) -> DelegateValue:
    constants, external = known
    if "datatype" not in fields:
        return DelegateValue(id_, kind, (), 0, external, {}, fields)
    dtype, constant = fields["datatype"], max(0, fields["constant_id"] + 1)
    if constant >= constants:
        noted.add("constants", "index of a constant that is not there", f"[{id_}]: {constant - 1}")
        constant = 0
    name = _DTYPES[dtype] if 0 <= dtype < len(_DTYPES) else f"datatype {dtype}"
    return DelegateValue(id_, name, fields["dims"], constant, external, {}, fields)


def _nodes(
    root: FlatTables, kinds: list[str], values: list[dict[str, Any]], noted: Noted
) -> tuple[DelegateNode, ...]:
    _, tables = root.children(1, "OperatorCall", "chain")
    calls = tables.rows("node_id name:text args:[i4]")
    settings = {id_ for id_, kind in enumerate(kinds) if kind not in _HANDED}
    links: list[Links] = []
    for _, _, args in calls:
        values_of: list[tuple[str, int]] = []
        last = 0
        for at, id_ in enumerate(args):
            last, field = len(values_of), f"args[{at}]"
            if 0 <= id_ < len(kinds) and kinds[id_] == _LIST:
                items = values[id_]["items"]
                # Many calls may name one list.
                tables.buffer.budget.spend(4 * len(items), "OperatorCall.args")
                values_of += [(f"{field}[{at_item}]", item) for at_item, item in enumerate(items)]
            else:
                values_of.append((field, id_))
        inputs, outputs = (
            tuple(at_item for at_item in part if at_item[1] not in settings)
            for part in (values_of[:last], values_of[last:])
        )
        links.append((inputs, outputs))
    handed = {id_: None for id_, kind in enumerate(kinds) if kind in _HANDED}
    links = joined([name for _, name, _ in calls], links, handed, noted)
    return tuple(
        DelegateNode(
            index, name, 0, None, *own, None, {"node_id": node_id, "name": name, "args": args}
        )
        for index, ((node_id, name, args), own) in enumerate(zip(calls, links, strict=True))
    )

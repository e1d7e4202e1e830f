"""Reader of Vulkan's payloads: a chain of operators over values.

``backends/vulkan/serialization/schema.fbs``, ``vulkan_graph_builder.py`` and
``runtime/VulkanBackend.cpp`` @ v1.4.1; no file was at hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

import numpy as np

from tvmdbg_widgets.formats.executorch.delegates.payload import (
    Links,
    Noted,
    Payload,
    SchemaField,
    columns,
    joined,
    known_ids,
    read_fields,
    read_payload,
    root_ids,
)
from tvmdbg_widgets.formats.executorch.program.unions import members
from tvmdbg_widgets.formats.flatbuffer import FlatTables
from tvmdbg_widgets.formats.registry import collector_paused
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.executorch.delegate_graph import (
    DelegateConstant,
    DelegateGraph,
    DelegateNode,
    DelegateValue,
    Field,
)
from tvmdbg_widgets.model.executorch.program import FileSpan
from tvmdbg_widgets.sources.byte_source import ByteSource

_HEADER: Final = (
    "header_length",
    "flatbuffer_offset",
    "flatbuffer_size",
    "bytes_offset",
    "bytes_size",
)
_TENSOR: Final = 5
#: Values that nodes hand on, and lists of them; all others are settings.
_HANDED: Final = ("VkTensor", "SymInt")
_LIST: Final = "ValueList"
#: Name and fields of each kind of value by its number in the union; texts are read apart.
_VALUES: Final[dict[int, tuple[str, tuple[SchemaField, ...]]]] = {
    1: ("Null", ()),
    2: ("Int", columns("int_val:i8")),
    3: ("Double", columns("double_val:f8")),
    4: ("Bool", columns("bool_val:u1")),
    _TENSOR: ("VkTensor", columns("datatype:i1 dims:[u4] constant_id:i4 mem_obj_id:i4")),
    6: ("IntList", columns("items:[i8]")),
    7: ("DoubleList", columns("items:[f8]")),
    8: ("BoolList", columns("items:[u1]")),
    9: (_LIST, columns("items:[i4]")),
    10: ("String", ()),
    11: ("SymInt", columns("value:i4")),
}
_DTYPES: Final = ("BOOL", "UINT8", "INT8", "INT32", "FLOAT16", "FLOAT32", "FLOAT64", "INT64")
#: ``DEFAULT_STORAGE`` and ``DEFAULT_LAYOUT``.
_DEFAULT: Final = 255


def read_vulkan(source: ByteSource, payload: FileSpan, backend: str, *, file: str) -> DelegateGraph:
    """Read the graph in a payload; its constants are not read.

    What a node hands on are tensors and symbolic integers, lists of them item by item. The last
    argument of an operator is its output. Ids of values are their positions.
    """
    what = f"payload of {backend} at byte {payload.offset}"
    with collector_paused():
        held = read_payload(source, payload, b"VH00", (b"VK00",), _HEADER, what=what, file=file)
        noted = Noted(what, file)
        if not held.header:
            noted.add("header", "header missing, which the runtime asks for", "no VH00")
        root = FlatTables.root(held.buffer, "VkGraph")
        constants = _constants(root, held, noted)
        kinds, fields = _fields(root)
        every = dict(enumerate(kinds))
        inputs = known_ids(root_ids(root, 3, "input_ids"), every, "input_ids", noted)
        outputs = known_ids(root_ids(root, 4, "output_ids"), every, "output_ids", noted)
        external: dict[int, int] = {}
        for at, id_ in enumerate((*inputs, *outputs)):
            external.setdefault(id_, at)
        values = {
            id_: _value(id_, kind, own, (len(constants), external.get(id_)), noted)
            for id_, (kind, own) in enumerate(zip(kinds, fields, strict=True))
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


def _constants(root: FlatTables, held: Payload, noted: Noted) -> tuple[DelegateConstant, ...]:
    """Return the constants behind an item 0 that is reserved, which Vulkan's own are not."""
    _, tables = root.children(5, "VkBytes", "constants")
    found = [DelegateConstant(0, 0, "")]
    offsets = tables.scalar(0, np.uint64, 0, "offset").tolist()
    sizes = tables.scalar(1, np.uint64, 0, "length").tolist()
    keys = tables.strings(2, "named_key").column
    for index, (offset, size, key) in enumerate(zip(offsets, sizes, keys, strict=True)):
        span = None
        if not key:
            if offset + size <= held.constants.size:
                span = FileSpan(held.constants.offset + offset, size)
            elif size:
                where = f"[{index}] of {counted(size, 'byte')} at {offset}"
                noted.add("constants", "constant outside of the payload, left out", where)
        found.append(DelegateConstant(offset, size, key, span))
    return tuple(found)


def _fields(root: FlatTables) -> tuple[list[str], list[dict[str, Field]]]:
    _, tables = root.children(2, "VkValue", "values")
    kinds = tables.scalar(0, np.uint8, 0, "value_type")
    fields: list[dict[str, Field]] = [{} for _ in kinds]
    for number in np.unique(kinds).tolist():
        if number not in _VALUES:
            continue
        name, own = _VALUES[number]
        rows, found = members(tables, kinds, number, name, "value")
        every = read_fields(found, own)
        if name == "String":
            every = [{"string_val": text} for text in found.strings(0, "string_val").column]
        if number == _TENSOR:
            _add_choices(found, every)
        for row, each in zip(rows, every, strict=True):
            fields[row] = each
    names = {number: name for number, (name, _) in _VALUES.items()}
    return [names.get(number, f"value {number}") for number in kinds.tolist()], fields


def _add_choices(tables: FlatTables, fields: list[dict[str, Field]]) -> None:
    """Add what is not 0 where it is absent: how tensors lie on the GPU, and their type outside."""
    for id_, name in ((4, "storage_type"), (5, "memory_layout")):
        for each, found in zip(
            fields, tables.scalar(id_, np.uint8, _DEFAULT, name).tolist(), strict=True
        ):
            each[name] = found
    staged = tables.scalar(6, np.int8, -1, "staging_datatype").tolist()
    for each, found in zip(fields, staged, strict=True):
        if found >= 0:
            each["staging_datatype"] = found


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
    root: FlatTables, kinds: list[str], values: list[dict[str, Field]], noted: Noted
) -> tuple[DelegateNode, ...]:
    _, calls = root.children(1, "OperatorCall", "chain")
    fields = read_fields(calls, columns("node_id"))
    names = list(calls.strings(1, "name").column)
    every = calls.vector(2, np.int32, "args").tuples()
    links: list[Links] = []
    for args in every:
        found: list[tuple[str, int]] = []
        last = 0
        for at, id_ in enumerate(args):
            last, field = len(found), f"args[{at}]"
            if 0 <= id_ < len(kinds) and kinds[id_] == _LIST:
                items = cast("tuple[int, ...]", values[id_]["items"])
                # Many calls may name one list.
                calls.buffer.budget.spend(4 * len(items), "OperatorCall.args")
                found += [(f"{field}[{each}]", item) for each, item in enumerate(items)]
            else:
                found.append((field, id_))
        inputs, outputs = (
            tuple(each for each in part if not _is_setting(each[1], kinds))
            for part in (found[:last], found[last:])
        )
        links.append((inputs, outputs))
    handed = {id_: None for id_, kind in enumerate(kinds) if kind in _HANDED}
    links = joined(names, links, handed, noted)
    return tuple(
        DelegateNode(
            index, name, 0, None, *links[index], None, {**own, "name": name, "args": every[index]}
        )
        for index, (name, own) in enumerate(zip(names, fields, strict=True))
    )


def _is_setting(id_: int, kinds: list[str]) -> bool:
    return 0 <= id_ < len(kinds) and kinds[id_] not in _HANDED

"""Reader of a program in an ETRecord: JSON of ``torch.export`` or of the edge dialect.

``exir/serde/export_serialize.py`` and ``exir/serde/schema.py`` @ v1.4.1.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import Any, Final

import msgspec

from tvmdbg_widgets.formats.collector import collector_paused
from tvmdbg_widgets.formats.executorch.etrecord.arguments import read_argument
from tvmdbg_widgets.formats.executorch.etrecord.module_stack import module_stack
from tvmdbg_widgets.formats.json_fields import decode
from tvmdbg_widgets.model.executorch.exported_program import (
    ExportedProgram,
    ProgramNode,
    ProgramValue,
    Size,
)
from tvmdbg_widgets.model.executorch.scalar_types import exported_dtype

_HANDLE: Final = re.compile(r"\d{1,19}")
_HANDLES: Final = re.compile(r"[(\[]\s*\d{1,19}(?:\s*+,\s*+\d{1,19})*+\s*+,?\s*+[)\]]")

_Argument = dict[str, Any]


class _ExportedExpression(msgspec.Struct, gc=False):
    expr_str: str


class _Size(msgspec.Struct, gc=False):
    as_int: int | None = None
    as_expr: _ExportedExpression | None = None


class _ExportedTensor(msgspec.Struct, gc=False):
    dtype: int | None = None
    sizes: list[_Size] = []
    strides: list[_Size] = []
    #: Programs of 2023 have the rest one level deeper.
    meta: _ExportedTensor | None = None


class _Input(msgspec.Struct, gc=False):
    arg: _Argument
    name: str = ""


class _ExportedNode(msgspec.Struct, gc=False):
    target: str
    inputs: list[_Input]
    outputs: list[_Argument]
    metadata: dict[str, str] = {}
    name: str | None = None


class _ExportedGraph(msgspec.Struct, gc=False):
    inputs: list[_Argument]
    outputs: list[_Argument]
    nodes: list[_ExportedNode]
    tensor_values: dict[str, _ExportedTensor] = {}


class _ExportedSignature(msgspec.Struct, gc=False):
    input_specs: list[dict[str, dict[str, Any]]] = []


class _GraphModule(msgspec.Struct, gc=False):
    graph: _ExportedGraph
    signature: _ExportedSignature = msgspec.field(default_factory=_ExportedSignature)


class _ExportedJson(msgspec.Struct, gc=False):
    graph_module: _GraphModule


def read_program(data: bytes, name: str, file: str) -> ExportedProgram:
    """Read one program."""
    with collector_paused():
        module = decode(data, _ExportedJson, file).graph_module
        graph = module.graph
        values = {each: _value(each, tensor) for each, tensor in graph.tensor_values.items()}
        specs = zip_longest(graph.inputs, module.signature.input_specs[: len(graph.inputs)])
        nodes = [_placeholder(i, *each, values) for i, each in enumerate(specs)]
        nodes += [_call(i, node, values) for i, node in enumerate(graph.nodes)]
        results = [value for each in graph.outputs for value in read_argument(each)[0]]
        return ExportedProgram(name, tuple(nodes), tuple(results))


def _value(name: str, tensor: _ExportedTensor) -> ProgramValue:
    tensor = tensor.meta or tensor
    sizes, strides = _sizes(tensor.sizes), _sizes(tensor.strides)
    dtype = None if tensor.dtype is None else exported_dtype(tensor.dtype)
    return ProgramValue(name, dtype, sizes, strides)


def _sizes(sizes: list[_Size]) -> tuple[Size, ...]:
    return tuple(
        each.as_int
        if each.as_int is not None
        else each.as_expr.expr_str
        if each.as_expr is not None
        else "?"
        for each in sizes
    )


def _placeholder(
    at: int,
    argument: _Argument,
    spec: dict[str, dict[str, Any]] | None,
    values: dict[str, ProgramValue],
) -> ProgramNode:
    """Return the node of an input; one that is a constant has its name in the signature alone."""
    kind, told = next(iter(spec.items())) if spec else ("user_input", {})
    names, text = read_argument(argument)
    outputs = _outputs(names, values)
    given = told.get("name")
    name = names[0] if names else given if isinstance(given, str) else f"arg{at}"
    qualified = told.get(f"{kind}_name")
    return ProgramNode(
        name=name,
        op="placeholder",
        target=name,
        outputs=outputs,
        constants={} if text is None else {"value": text},
        kind=kind,
        qualified_name=qualified if isinstance(qualified, str) else "",
    )


def _call(at: int, node: _ExportedNode, values: dict[str, ProgramValue]) -> ProgramNode:
    inputs: list[tuple[str, str]] = []
    constants: dict[str, str] = {}
    for each in node.inputs:
        names, text = read_argument(each.arg)
        inputs += [(each.name, name) for name in names]
        if text is not None:
            constants[each.name] = text
    written = [name for argument in node.outputs for name in read_argument(argument)[0]]
    metadata = node.metadata
    _, found, rest = node.target.partition("ops.")
    return ProgramNode(
        name=node.name or (written[0] if written else f"node{at}"),
        op="call_function",
        target=node.target,
        op_type=rest if found else node.target.rpartition(".")[2],
        inputs=tuple(inputs),
        outputs=_outputs(written, values),
        constants=constants,
        debug_handle=_debug_handle(metadata.get("debug_handle", "")),
        stack_trace=metadata.get("stack_trace"),
        module_stack=module_stack(metadata.get("nn_module_stack", "")),
        metadata=metadata,
    )


def _outputs(
    names: list[str] | tuple[str, ...], values: dict[str, ProgramValue]
) -> tuple[ProgramValue, ...]:
    return tuple(values.get(name) or ProgramValue(name) for name in names)


def _debug_handle(text: str) -> int | tuple[int, ...] | None:
    if _HANDLE.fullmatch(text):
        return int(text)
    return tuple(map(int, _HANDLE.findall(text))) if _HANDLES.fullmatch(text) else None

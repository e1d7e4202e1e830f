"""The graph of an exported program: its nodes, and an edge for each value that a node reads."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import zip_longest
from types import MappingProxyType
from typing import Any, Final

import msgspec
import numpy as np

from tvmdbg_widgets.formats.family import collector_paused
from tvmdbg_widgets.formats.json_fields import decode
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import Trust, agree, counted
from tvmdbg_widgets.model.base.text import Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.executorch.etrecord import (
    ExportedProgram,
    ModuleFrame,
    ProgramNode,
    ProgramValue,
    Size,
)
from tvmdbg_widgets.model.executorch.scalar_types import exported_dtype
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind

_LARGEST_SIZE = 2**63 - 1
_NAMED: Final = 8


@collector_paused()
def graph_of(program: ExportedProgram, *, file: str) -> Graph:
    """Return the graph of a program; node ``i`` is ``program.nodes[i]``."""
    nodes = program.nodes
    outputs = [node.outputs or (ProgramValue(node.name),) for node in nodes]
    values = [value for item in outputs for value in item]
    shapes = [None if value.sizes is None else _shape(value.sizes) for value in values]
    dtypes = {item: "" if item is None else item.name for item in {v.dtype for v in values}}
    producers = program.producers
    reads = [(at, *read) for at, node in enumerate(nodes) for read in enumerate(node.inputs)]
    sources = [producers.get(name, (-1, 0)) for _, _, (_, name) in reads]
    source, output = np.array(sources, dtype=np.int32).reshape(-1, 2).T
    calls = np.array([node.op == "call_function" for node in nodes], dtype=np.bool_)
    given = np.array([node.kind == "user_input" for node in nodes], dtype=np.bool_)
    kinds = np.where(calls, NodeKind.OPERATOR, np.where(given, NodeKind.INPUT, NodeKind.PARAMETER))
    heads = [producers[name] for name in program.results if name in producers]
    lost = [at for (at, _, _), (producer, _) in zip(reads, sources, strict=True) if producer < 0]
    return Graph(
        names=StringColumn.from_strings(node.name for node in nodes),
        func_names=StringColumn.from_strings(node.op_type for node in nodes),
        kinds=kinds.astype(np.uint8),
        parameter_trust=np.where(calls, np.uint8(Trust.ABSENT), np.uint8(Trust.EXACT)),
        entry_offsets=np.cumsum([0, *map(len, outputs)], dtype=np.int64),
        edge_source=source,
        edge_output=output,
        edge_target=np.array([at for at, _, _ in reads], dtype=np.int32),
        edge_position=np.array([position for _, position, _ in reads], dtype=np.int32),
        edge_trust=np.where(source < 0, np.uint8(Trust.ABSENT), np.uint8(Trust.EXACT)),
        heads=np.array(heads, dtype=np.int32).reshape(-1, 2),
        arg_nodes=np.flatnonzero(~calls).astype(np.int32),
        shape_offsets=np.cumsum([0, *(len(shape or ()) for shape in shapes)], dtype=np.int64),
        shape_dims=np.array([size for shape in shapes for size in shape or ()], dtype=np.int64),
        shape_known=np.array([shape is not None for shape in shapes], dtype=np.bool_),
        dtypes=StringColumn.from_strings(dtypes[value.dtype] for value in values),
        attrs=tuple(MappingProxyType(_attrs(node)) for node in nodes),
        form="edge",
        issues=Issues(_unwritten_issues(program, lost, file)),
        file=file,
    )


@lru_cache(maxsize=16_384)
def _shape(sizes: tuple[Size, ...]) -> tuple[int, ...] | None:
    known = tuple(size for size in sizes if isinstance(size, int) and 0 <= size <= _LARGEST_SIZE)
    return known if len(known) == len(sizes) else None


def _attrs(node: ProgramNode) -> dict[str, str]:
    """Return a node's attributes: literal arguments, handles, module, stack trace and kind."""
    module = node.module_stack[-1] if node.module_stack else None
    handles = node.debug_handle
    dynamic = [
        f"({', '.join(map(str, value.sizes))})"
        for value in node.outputs
        if value.sizes is not None and _shape(value.sizes) is None
    ]
    attrs = {
        "debug_handle": ", ".join(map(str, handles if isinstance(handles, tuple) else [handles])),
        "nn_module_stack": module.path if module else "",
        "module_type": module.type if module else "",
        "stack_trace": node.stack_trace or "",
        "qualified_name": node.qualified_name,
        "kind": node.kind,
        "shape": "; ".join(dynamic),
    }
    if handles is None:
        del attrs["debug_handle"]
    return {**node.constants, **{name: text for name, text in attrs.items() if text}}


def _unwritten_issues(program: ExportedProgram, lost: list[int], file: str) -> list[Issue]:
    if not lost:
        return []
    nodes = tuple(dict.fromkeys(lost))[:_NAMED]
    names = ", ".join(program.nodes[at].name for at in nodes)
    message = (
        f"{program.name}: {counted(len(lost), 'value')} {agree(len(lost), 'is')} read that no "
        f"node writes, by {names}{' and others' if len(set(lost)) > _NAMED else ''}"
    )
    return [Issue("edge-value-unknown", IssueSeverity.ERROR, message, nodes=nodes, file=file)]


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
    """Read one exported program."""
    with collector_paused():
        module = decode(data, _ExportedJson, file).graph_module
        graph = module.graph
        values = {item: _value(item, tensor) for item, tensor in graph.tensor_values.items()}
        specs = zip_longest(graph.inputs, module.signature.input_specs[: len(graph.inputs)])
        nodes = [_placeholder(i, *item, values) for i, item in enumerate(specs)]
        nodes += [_call(i, node, values) for i, node in enumerate(graph.nodes)]
        results = [value for item in graph.outputs for value in read_argument(item)[0]]
        return ExportedProgram(name, tuple(nodes), tuple(results))


def _value(name: str, tensor: _ExportedTensor) -> ProgramValue:
    tensor = tensor.meta or tensor
    sizes, strides = _sizes(tensor.sizes), _sizes(tensor.strides)
    dtype = None if tensor.dtype is None else exported_dtype(tensor.dtype)
    return ProgramValue(name, dtype, sizes, strides)


def _sizes(sizes: list[_Size]) -> tuple[Size, ...]:
    return tuple(
        size.as_int
        if size.as_int is not None
        else size.as_expr.expr_str
        if size.as_expr is not None
        else "?"
        for size in sizes
    )


def _placeholder(
    at: int,
    argument: _Argument,
    spec: dict[str, dict[str, Any]] | None,
    values: dict[str, ProgramValue],
) -> ProgramNode:
    """Return the node of an input; a constant one has its name in the signature alone."""
    kind, fields = next(iter(spec.items())) if spec else ("user_input", {})
    names, text = read_argument(argument)
    outputs = _outputs(names, values)
    given = fields.get("name")
    name = names[0] if names else given if isinstance(given, str) else f"arg{at}"
    qualified = fields.get(f"{kind}_name")
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
    for own in node.inputs:
        names, literal = read_argument(own.arg)
        inputs += [(own.name, name) for name in names]
        if literal is not None:
            constants[own.name] = literal
    written = [name for argument in node.outputs for name in read_argument(argument)[0]]
    metadata, text = node.metadata, node.metadata.get("debug_handle", "")
    several = tuple(map(int, _HANDLE.findall(text))) if _HANDLES.fullmatch(text) else None
    _, ops, rest = node.target.partition("ops.")
    return ProgramNode(
        name=node.name or (written[0] if written else f"node{at}"),
        op="call_function",
        target=node.target,
        op_type=rest if ops else node.target.rpartition(".")[2],
        inputs=tuple(inputs),
        outputs=_outputs(written, values),
        constants=constants,
        debug_handle=int(text) if _HANDLE.fullmatch(text) else several,
        stack_trace=metadata.get("stack_trace"),
        module_stack=module_stack(metadata.get("nn_module_stack", "")),
        metadata=metadata,
    )


def _outputs(
    names: list[str] | tuple[str, ...], values: dict[str, ProgramValue]
) -> tuple[ProgramValue, ...]:
    return tuple(values.get(name) or ProgramValue(name) for name in names)


_ONE: Final = frozenset(
    (
        *("as_tensor", "as_optional_tensor", "as_custom_obj", "as_token"),
        *("as_sym_int", "as_sym_float", "as_sym_bool"),
    )
)
_SEVERAL: Final = frozenset(
    ("as_tensors", "as_optional_tensors", "as_sym_ints", "as_sym_floats", "as_sym_bools")
)
_MEMORY_FORMATS: Final = dict(
    enumerate(("contiguous_format", "channels_last", "channels_last_3d", "preserve_format"), 1)
)
_LAYOUTS: Final = dict(
    enumerate(("sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "_mkldnn"), 1)
) | {7: "strided"}


def read_argument(argument: dict[str, Any]) -> tuple[tuple[str, ...], str | None]:
    """Return the names of an argument's values, and its text if it is a literal."""
    if len(argument) != 1:
        return (), str(argument)
    kind, value = next(iter(argument.items()))
    if kind in _ONE:
        name = _name(value)
        return ((), _text(value)) if name is None else ((name,), None)
    if kind not in _SEVERAL or not isinstance(value, list):
        return (), _constant(kind, value)
    names = [_name(item) for item in value]
    known = tuple(name for name in names if name is not None)
    if value and len(known) == len(names):
        return known, None
    words = [_text(item) if name is None else name for name, item in zip(names, value, strict=True)]
    return known, f"[{', '.join(words)}]"


def _name(item: Any) -> str | None:
    """Return the value named by an item's ``name``, ``as_name``, or within ``as_tensor``."""
    if isinstance(item, dict):
        item = item.get("as_tensor", item)
    name = item.get("as_name", item.get("name")) if isinstance(item, dict) else None
    return name if isinstance(name, str) else None


def _text(item: Any) -> str:
    if isinstance(item, dict) and len(item) == 1:
        return _constant(*next(iter(item.items())))
    return str(item)


def _constant(kind: str, value: Any) -> str:
    if kind == "as_none":
        return "None"
    if isinstance(value, dict):
        if kind == "as_device":
            index = value.get("index")
            return str(value.get("type")) + ("" if index is None else f":{index}")
        if kind in ("as_graph", "as_expr"):
            return str(value.get("name", value.get("expr_str")))
    if type(value) is int:
        if kind == "as_scalar_type":
            return str(exported_dtype(value) or value)
        if kind == "as_memory_format":
            return _MEMORY_FORMATS.get(value, str(value))
        if kind == "as_layout":
            return _LAYOUTS.get(value, str(value))
    return str(value)


@lru_cache(maxsize=16_384)
def module_stack(text: str) -> tuple[ModuleFrame, ...]:
    """Return the frames of ``nn_module_stack``, outermost first; commas in brackets stay."""
    frames = [_parts(frame) for frame in text.split(";")] if text else []
    if any(len(parts) != 3 for parts in frames):
        return ()
    return tuple(ModuleFrame(*parts) for parts in frames)


def _parts(frame: str) -> list[str]:
    if "(" not in frame and "[" not in frame:
        return [part.strip() for part in frame.split(",")]
    parts, start, depth = [], 0, 0
    for at, letter in enumerate(frame):
        if letter in "[(":
            depth += 1
        elif letter in "])":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(frame[start:at].strip())
            start = at + 1
    return [*parts, frame[start:].strip()]

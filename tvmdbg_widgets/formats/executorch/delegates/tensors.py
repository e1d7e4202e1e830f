"""Constants of delegates' graphs as the tensors of their nodes, as stored."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from tvmdbg_widgets.formats.executorch.delegates.families import ConstantBytes
from tvmdbg_widgets.formats.executorch.delegates.graph import DTYPES, quantization_text
from tvmdbg_widgets.formats.executorch.program.tensors import NamedFile
from tvmdbg_widgets.formats.limits import WorkBudget, named_bytes
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.issues import Issue, IssueSeverity
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.text import cut
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.executorch.delegate_graph import DelegateGraph, DelegateValue
from tvmdbg_widgets.model.executorch.program import Program
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.tensors.array_record import ArrayRecord
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.model.tensors.tensor import Tensor
from tvmdbg_widgets.sources.byte_source import ByteSource

#: How 4-bit weights are stored (``node_visitor.py`` @ v1.4.1, ``convert_to_qc4w``).
_FOUR_BITS: Final = "two values a byte, low bits first, each plus 8: a stored 8 is 0"
_STORED: Final = "as the delegate stores it: its layout need not be that of the state dict"


def delegate_tensors(
    graph: Graph,
    insides: Mapping[str, DelegateGraph],
    program: Program,
    source: ByteSource,
    named: Sequence[NamedFile] = (),
) -> tuple[list[Tensor], list[Issue]]:
    """Return the constants of the delegates in a graph."""
    where = ConstantBytes(program, source, named)
    budgets: dict[str, WorkBudget] = {}
    tensors: list[Tensor] = []
    lost: list[int] = []
    other: list[int] = []
    for node, attrs in enumerate(graph.attrs):
        inside = insides.get(attrs.get("instruction", "")) if "delegate_value" in attrs else None
        value = None if inside is None else inside.values.get(int(attrs["delegate_value"]))
        if inside is None or value is None or not 0 < value.constant < len(inside.constants):
            continue
        found = where.of(inside.constants[value.constant])
        if found is None:
            lost.append(node)
            continue
        file, span = found
        record = _record(value, graph.names[node], file, span.offset, span.size)
        if record is None:
            other.append(node)
            continue
        try:
            budgets.setdefault(file.name, named_bytes(file)).spend(span.size)
        except FormatError as problem:
            text = f"constants from {cut(graph.names[node], 80)!r} on are left out: {problem}"
            issue = Issue("constants-overlap", IssueSeverity.ERROR, text, file=file.name)
            return tensors, [issue]
        tensors.append(
            Tensor(
                record,
                node,
                0,
                name=graph.names[node],
                trust=Trust.EXACT,
                notes=(_STORED,),
                captured="file",
            )
        )
    return tensors, _issues(program.file, lost, other)


def _record(
    value: DelegateValue, key: str, file: ByteSource, offset: int, size: int
) -> ArrayRecord | None:
    """Return a constant's array, None where its bytes are not as many as its shape has."""
    dtype = DTYPES.get(value.dtype)
    if dtype is None:
        return None
    shape, notes = value.shape, [quantization_text(value)] if value.quantization else []
    kind = DataType.parse(dtype)
    if kind.bits == 4:
        notes.append(_FOUR_BITS)
        if shape and shape[-1] % 2:
            shape = (*shape[:-1], shape[-1] + 1)
            notes.append("the last dimension is padded to an even size")
    if math.prod(shape) * kind.bits != 8 * size:
        return None
    return ArrayRecord(key, kind, shape, size, offset, file, tuple(notes))


def _issues(file: str, lost: list[int], other: list[int]) -> list[Issue]:
    issues = []
    if lost:
        text = (
            f"none of the files has the bytes of {counted(len(lost), 'constant')} of delegates: "
            "open the .ptd that was exported with the program too"
        )
        issues.append(
            Issue("named-data-missing", IssueSeverity.NOTE, text, tuple(lost[:20]), file=file)
        )
    if other:
        text = (
            f"{counted(len(other), 'constant')} of delegates {agree(len(other), 'has', 'have')} "
            "other sizes than the bytes stored for them, and are not shown"
        )
        issues.append(
            Issue("delegate-constant", IssueSeverity.WARNING, text, tuple(other[:20]), file=file)
        )
    return issues

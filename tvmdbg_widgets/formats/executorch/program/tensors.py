"""Constants of a program, and named data beside it, as the tensors of its graph's nodes.

``runtime/executor/tensor_parser_exec_aten.cpp`` @ v1.4.1, ``getTensorDataPtr``.
"""

from __future__ import annotations

from collections.abc import Sequence

from tvmdbg_widgets.formats.executorch.debug_tensors import c_order
from tvmdbg_widgets.formats.limits import WorkBudget, named_bytes
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.issues import Issue, IssueSeverity
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.text import cut
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.executorch.flat_tensor import FlatTensor
from tvmdbg_widgets.model.executorch.program import Plan, Program
from tvmdbg_widgets.model.executorch.program_values import TensorValue
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.tensors.array_record import ArrayRecord
from tvmdbg_widgets.model.tensors.tensor import Tensor
from tvmdbg_widgets.sources.byte_source import ByteSource
from tvmdbg_widgets.sources.strided import StridedSource

#: A file of named data, and its bytes.
NamedFile = tuple["FlatTensor", "ByteSource"]


def program_tensors(
    program: Program, plan: Plan, graph: Graph, source: ByteSource, named: Sequence[NamedFile] = ()
) -> tuple[list[Tensor], list[Issue]]:
    """Return the constants and start values of the graph of a plan."""
    known = {each.name: (each, file) for data, file in named for each in data.tensors}
    found_in: list[tuple[Tensor, ByteSource]] = []
    issues: list[Issue] = []
    lost: list[int] = []
    for node, attrs in enumerate(graph.attrs):
        value = plan.values[int(attrs["value"])] if "value" in attrs else None
        if not isinstance(value, TensorValue) or value.dtype is None:
            continue
        where, offset = source, -1
        if value.is_external:
            found, file = known.get(value.name, (None, source))
            if found is None:
                lost.append(node)
            elif found.layout is None or found.layout.sizes != value.sizes:
                issues.append(_other(graph, node, file))
            elif found.dtype == value.dtype and found.layout.dim_order == value.dim_order:
                where, offset = file, found.offset
            else:
                issues.append(_other(graph, node, file))
        elif (span := program.data_of(value)) is not None:
            offset = span.offset
        if offset >= 0:
            found_in.append((_tensor(value, where, offset, node, graph), where))
    if lost and named:
        text = (
            f"{counted(len(lost), 'external constant')} {agree(len(lost), 'is')} in none of the "
            "files of named data"
        )
        issues.append(
            Issue(
                "named-data-missing",
                IssueSeverity.WARNING,
                text,
                tuple(lost[:20]),
                file=program.file,
            )
        )
    return _allowed(found_in, issues), issues


def _allowed(found_in: Sequence[tuple[Tensor, ByteSource]], issues: list[Issue]) -> list[Tensor]:
    """Return the tensors up to the first that names bytes of its file too often, with an issue."""
    budgets: dict[str, WorkBudget] = {}
    for at, (tensor, file) in enumerate(found_in):
        try:
            budgets.setdefault(file.name, named_bytes(file)).spend(tensor.nbytes)
        except FormatError as problem:
            left = counted(len(found_in) - at, "constant")
            text = f"{left} from {cut(tensor.name, 80)!r} on are left out: {problem}"
            issues.append(Issue("constants-overlap", IssueSeverity.ERROR, text, file=file.name))
            return [each for each, _ in found_in[:at]]
    return [each for each, _ in found_in]


def _tensor(value: TensorValue, source: ByteSource, offset: int, node: int, graph: Graph) -> Tensor:
    shape, nbytes, dtype = value.sizes, value.nbytes, value.dtype
    assert dtype is not None  # noqa: S101 (asked for before)
    assert nbytes is not None  # noqa: S101 (known where the type is)
    key = value.name or graph.names[node]
    notes: tuple[str, ...] = ()
    if nbytes and value.strides != c_order(shape):
        ordered = StridedSource(source, offset, shape, value.strides, dtype.itemsize)
        notes = (f"stored with dimensions in order {list(value.dim_order)}, shown in C order",)
        record = ArrayRecord(key, dtype, shape, nbytes, 0, ordered, notes)
    else:
        record = ArrayRecord(key, dtype, shape, nbytes, offset, source)
    start = "value at the start of the program" if value.allocation is not None else ""
    return Tensor(
        record,
        node,
        0,
        name=graph.names[node],
        trust=Trust.EXACT,
        notes=(start,) if start else (),
        captured="file",
    )


def _other(graph: Graph, node: int, file: ByteSource) -> Issue:
    text = (
        f"{graph.names[node]!r} has another type, shape or order of dimensions in the named data "
        "than in the program; its values are left out"
    )
    return Issue("named-data-disagrees", IssueSeverity.ERROR, text, nodes=(node,), file=file.name)

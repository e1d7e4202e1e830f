"""Reference outputs of an ETRecord as tensors of the graph's outputs."""

from __future__ import annotations

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.executorch.files import ExecuTorchFiles
from tvmdbg_widgets.model.executorch.torch_tensor import TorchTensor
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.tensors.array_record import ArrayRecord
from tvmdbg_widgets.model.tensors.tensor import Tensor
from tvmdbg_widgets.model.tensors.tensors import Tensors


def reference_tensors(files: ExecuTorchFiles, graph: Graph) -> Tensors:
    """Return what the graph's outputs were expected to be.

    By the case that the dump names (``bundled_input_index``), or the only one there is: the
    Inspector takes the last one where the dump names none.
    """
    record = files.record
    cases = (record.reference_outputs or {}).get(files.method, ()) if record is not None else ()
    if not cases:
        raise ValueError(
            "the ETRecord has no reference outputs; ExecuTorch writes those of a BundledProgram, "
            "or of etrecord.update_reference_outputs()"
        )
    index, trust = _case(files, len(cases))
    values = list(cases[index])
    if len(values) != len(graph.heads):
        raise ValueError(
            f"{counted(len(values), 'reference output')} for "
            f"{counted(len(graph.heads), 'output')} of the graph"
        )
    note = f"reference output of case {index} of the ETRecord"
    if trust is not Trust.EXACT:
        note += ", its only one; the dump names none"
    found: list[Tensor] = []
    for (node, output), value in zip(graph.heads.tolist(), values, strict=True):
        if isinstance(value, TorchTensor):
            source = value.source()
            source.name = f"{files.record.file if files.record else ''} (reference)"
            key = f"case {index}, output {len(found)}"
            array = ArrayRecord(key, value.dtype, value.shape, source.size, 0, source)
            name = graph.names[node]
            found.append(Tensor(array, node, output, name=name, trust=trust, notes=(note,)))
    return Tensors(found)


def _case(files: ExecuTorchFiles, count: int) -> tuple[int, Trust]:
    index = -1
    if files.dump is not None and files.execution >= 0:
        index = int(files.dump.bundled_input_index[files.execution])
    if 0 <= index < count:
        return index, Trust.EXACT
    if count == 1:
        return 0, Trust.BY_ORDER
    raise ValueError(
        f"the ETRecord has {counted(count, 'case')} of reference outputs, and the dump does not "
        "tell which one this execution ran"
    )

"""All tensors of a run: what its execution logged, and the constants of its program."""

from __future__ import annotations

from tvmdbg_widgets.formats.executorch.debug_buffer import DebugBufferFile
from tvmdbg_widgets.formats.executorch.delegates.tensors import delegate_tensors
from tvmdbg_widgets.formats.executorch.event_tensors import event_tensors
from tvmdbg_widgets.formats.executorch.program.tensors import program_tensors
from tvmdbg_widgets.model.base.issues import Issue
from tvmdbg_widgets.model.executorch.files import ExecuTorchFiles
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.tensors.tensor import Tensor
from tvmdbg_widgets.model.tensors.tensors import Tensors


def run_tensors(files: ExecuTorchFiles, graph: Graph | None) -> tuple[Tensors | None, list[Issue]]:
    """Return the tensors of the nodes of a graph, None where there are none."""
    tensors: list[Tensor] = []
    issues: list[Issue] = []
    program, source = files.program, files.program_source
    if graph is not None and graph.form == "program" and program is not None and source is not None:
        plan = program.plan(files.method)
        tensors, issues = program_tensors(program, plan, graph, source, files.named_data)
        own = files.insides.of(files.method).values()
        insides = {str(each.instruction): each.graph for each in own if each.graph is not None}
        inner, problems = delegate_tensors(graph, insides, program, source, files.named_data)
        tensors, issues = [*tensors, *inner], [*issues, *problems]
    dump, record, nodes = files.dump, files.record, files.event_nodes
    if graph is None or dump is None or nodes is None or files.buffer is None:
        return Tensors(tensors) if tensors else None, issues
    buffer = DebugBufferFile(files.buffer)
    outputs = (record.num_outputs or {}).get(files.method, {}) if record is not None else {}
    logged, problems = event_tensors(
        dump, nodes, graph, buffer, run=files.execution, num_outputs=outputs
    )
    return Tensors([*tensors, *logged]), [*issues, *buffer.issues(dump), *problems]

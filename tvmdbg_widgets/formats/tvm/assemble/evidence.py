"""Which releases of TVM may have written the files of a dump."""

from __future__ import annotations

from collections.abc import Sequence

from tvmdbg_widgets.formats.parts import Part
from tvmdbg_widgets.formats.tvm import versions
from tvmdbg_widgets.formats.tvm.model_library import ModelLibrary
from tvmdbg_widgets.formats.tvm.output_tensors import Outputs
from tvmdbg_widgets.formats.tvm.table.table import DebuggerTable
from tvmdbg_widgets.formats.tvm.trace import Trace
from tvmdbg_widgets.model.base.issues import Issue, IssueSeverity
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.short_names import MODULE
from tvmdbg_widgets.model.tensors.tensors import Captured


def evidence_of(
    parts: Sequence[Part],
    graph: Graph | None,
    outputs: Outputs | None,
    trace: Trace | None,
    table: DebuggerTable | None,
) -> tuple[versions.VersionEvidence, ...]:
    """Return what the parts tell of the release that wrote them."""
    found: list[versions.VersionEvidence | None] = []
    found += [versions.of_library(fact) for part in libraries(parts) for fact in part.facts]
    folders = {part.folder for part in parts if part.folder is not None}
    found += [versions.of_folder(folder.name) for folder in sorted(folders)]
    if graph is not None:
        if any(name.startswith(MODULE) for name in graph.func_names.unique):
            found.append(versions.VersionEvidence(f"function names start with {MODULE}", 8, 19))
        if graph.storage_scopes is not None:
            found.append(versions.VersionEvidence("the graph has a storage_scope list", 10, 19))
    if outputs is not None and outputs.keys:
        style = outputs.keys[0].style
        found.append(versions.of_key_style(style))
        if style == "v0.5":
            found.append(_of_first_time(graph, outputs))
    if trace is not None:
        found.append(versions.VersionEvidence("there is an execution trace", 6, 19))
    if table is not None:
        found.append(versions.of_table_style(table.style))
    told = tuple(each for each in found if each is not None)
    form = None if graph is None else versions.of_graph_form(graph.form)
    if graph is None or form is None:
        return told
    # Whoever saves lib.get_graph_json() as JSON writes a string too, with any release.
    agrees = versions.releases((*told, form)) is not None
    return (*told, form) if agrees or graph.form != "string" else told


def _of_first_time(graph: Graph | None, outputs: Outputs) -> versions.VersionEvidence | None:
    """v0.5 adds a measured time for parameters too, v0.6 and v0.7 add zero."""
    key = outputs.keys[0]
    if graph is None or not graph.num_nodes or graph.kinds[0] > NodeKind.PARAMETER:
        return None
    if key.order:
        return versions.VersionEvidence("the key of the first parameter has a time", 5, 5)
    return versions.VersionEvidence("the key of the first parameter has time zero", 6, 7)


def read_after_run(
    evidence: tuple[versions.VersionEvidence, ...], outputs: Outputs | None, graph: Graph | None
) -> bool:
    """Whether the tensors were read when the whole run was over (v0.6, v0.7)."""
    produced = versions.releases(evidence)
    if graph is None or outputs is None or not outputs.keys or produced is None:
        return False
    return outputs.keys[0].style == "v0.5" and produced[1] >= 6


def captured(evidence: tuple[versions.VersionEvidence, ...], outputs: Outputs | None) -> Captured:
    """When the tensors of a dump were read.

    v0.5 and v0.8 to v0.19 copy a node's outputs as it has run; v0.6 and v0.7 read all of them when
    the whole run is over (python/tvm/contrib/debugger/debug_executor.py @ v0.8,
    debug_runtime.py @ v0.6).
    """
    produced = versions.releases(evidence)
    if outputs is None or not outputs.keys or produced is None:
        return "unknown"
    first, last = produced
    if first >= 8 or last == 5:
        return "node"
    return "later" if first >= 6 and last <= 7 else "unknown"


def contradiction(evidence: tuple[versions.VersionEvidence, ...]) -> Issue:
    """Return the issue of evidence that no release fits."""
    facts = "; ".join(f"{each.fact} (v0.{each.first} to v0.{each.last})" for each in evidence)
    text = f"no TVM release writes all of this: {facts}. The files may be of different runs"
    return Issue("versions-contradict", IssueSeverity.WARNING, text)


def libraries(parts: Sequence[Part]) -> list[ModelLibrary]:
    """Return the model libraries among the parts."""
    return [part.value for part in parts if part.kind == "library"]

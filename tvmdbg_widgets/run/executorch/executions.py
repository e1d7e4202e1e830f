"""What a run of ExecuTorch is made of: an Inspector, other executions, what was expected."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tvmdbg_widgets.run.executorch.inspector import Inspector

if TYPE_CHECKING:
    from tvmdbg_widgets.model.executorch.files import ExecuTorchFiles
    from tvmdbg_widgets.model.parts import RunParts


def inspector_of(parts: RunParts) -> Inspector:
    """Return an Inspector of a run's files."""
    found = parts.executorch
    dump = next((file.source for file in parts.files if file.part == "etdump"), None)
    if found is None or found.dump is None or dump is None:
        raise ValueError(
            "this run has no ETDump; tvmdbg_widgets.open(etdump, etrecord, debug_buffer) has"
        )
    return Inspector(
        etdump_data=dump,
        etrecord=found.record,
        debug_buffer_path=found.buffer,
        method=found.method,
    )


def execution_parts(parts: RunParts, number: int) -> RunParts:
    """Return the parts with the values of another execution; graph and times are the same."""
    from tvmdbg_widgets.formats.executorch.assemble import with_execution

    _files(parts)
    return with_execution(parts, number)


def reference_parts(parts: RunParts) -> RunParts:
    """Return the same graph with the reference outputs of the ETRecord as its tensors."""
    from tvmdbg_widgets.analysis.executorch.reference_tensors import reference_tensors

    files = _files(parts)
    if parts.graph is None:
        raise ValueError("this run has no graph: open the ETRecord with the ETDump")
    title = f"{parts.title} (reference)"
    tensors = reference_tensors(files, parts.graph)
    return replace(parts, title=title, tensors=tensors, timeline=None)


def _files(parts: RunParts) -> ExecuTorchFiles:
    if parts.executorch is None:
        raise ValueError("this run is none of ExecuTorch")
    return parts.executorch

"""Other executions of an ETDump, and what a model was expected to return."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tvmdbg_widgets.model.executorch.files import ExecuTorchFiles
    from tvmdbg_widgets.run import DebugRun


def execution_of(run: DebugRun, number: int) -> DebugRun:
    """Return the run with the values of another execution; graph and times are the same.

    Raises
    ------
    ValueError
        The run is none of ExecuTorch.
    FormatError
        There is no such execution.
    """
    from tvmdbg_widgets.formats.executorch.assemble import with_execution
    from tvmdbg_widgets.run import DebugRun

    _files(run)
    return DebugRun(with_execution(run.parts, number))


def reference_of(run: DebugRun) -> DebugRun:
    """Return a run of the same graph whose tensors are the reference outputs of the ETRecord.

    Raises
    ------
    ValueError
        The run has no graph, or there are none for this execution.
    """
    from tvmdbg_widgets.analysis.executorch.reference_tensors import reference_tensors
    from tvmdbg_widgets.run import DebugRun

    files, graph = _files(run), run.graph
    if graph is None:
        raise ValueError("this run has no graph: open the ETRecord with the ETDump")
    title = f"{run.title} (reference)"
    tensors = reference_tensors(files, graph)
    return DebugRun(replace(run.parts, title=title, tensors=tensors, timeline=None))


def _files(run: DebugRun) -> ExecuTorchFiles:
    if run.parts.executorch is None:
        raise ValueError("this run is none of ExecuTorch")
    return run.parts.executorch

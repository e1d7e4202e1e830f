"""From an Inspector to the run of its files, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tvmdbg_widgets.run import DebugRun
    from tvmdbg_widgets.run.executorch.inspector import Inspector


def run_of(inspector: Inspector) -> DebugRun:
    """Return the run of an Inspector's files; its ``inspector`` is that one."""
    from tvmdbg_widgets.formats.executorch.assemble import assemble
    from tvmdbg_widgets.formats.sources.file import Part
    from tvmdbg_widgets.run import DebugRun

    parts = [Part(kind, *each, None) for kind, each in inspector.sources.items()]
    name = inspector.sources["etdump"][1].name
    title = name.replace("\\", "/").rpartition("/")[2]
    run = DebugRun(assemble(parts, (), title=title, method=inspector.method))
    run.inspector = inspector
    return run


def inspector_of(run: DebugRun) -> Inspector:
    """Return an Inspector of a run's files.

    Raises
    ------
    ValueError
        The run has no ETDump.
    """
    from tvmdbg_widgets.run.executorch.inspector import Inspector

    found = run.parts.executorch
    dump = next((file.source for file in run.parts.files if file.part == "etdump"), None)
    if found is None or found.dump is None or dump is None:
        raise ValueError(
            "this run has no ETDump; tvmdbg_widgets.open(etdump, etrecord, debug_buffer) has"
        )
    inspector = Inspector(
        etdump_data=dump,
        etrecord=found.record,
        debug_buffer_path=found.buffer,
        method=found.method,
    )
    inspector.run = run
    return inspector

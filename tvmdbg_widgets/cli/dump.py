"""Arguments that name a run, and the run they name."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvmdbg_widgets.cli.failures import UsageError

if TYPE_CHECKING:
    from tvmdbg_widgets.run import DebugRun

_WHERE = "Which files"

Dump = Annotated[
    list[str],
    typer.Argument(
        metavar="DUMP",
        help="A folder the debugger wrote, or files of a dump in any order; [bold]-[/] reads one "
        "file from standard input.",
        show_default=False,
    ),
]
GraphFile = Annotated[
    str | None,
    typer.Option(
        "--graph",
        metavar="FILE",
        help="The graph given to TVM: settles edges the dump leaves open.",
        rich_help_panel=_WHERE,
    ),
]
ParamsFile = Annotated[
    str | None,
    typer.Option(
        "--params",
        metavar="FILE",
        help="The model's parameters: tells them from inputs.",
        rich_help_panel=_WHERE,
    ),
]
TraceFile = Annotated[
    str | None,
    typer.Option("--trace", metavar="FILE", help="Execution trace.", rich_help_panel=_WHERE),
]
TableFile = Annotated[
    str | None,
    typer.Option(
        "--table",
        metavar="FILE",
        help="The table that run() printed: holds each repeat.",
        rich_help_panel=_WHERE,
    ),
]
Device = Annotated[
    str | None,
    typer.Option(
        "--device",
        metavar="NAME",
        help="Which dump, where a folder holds several: CPU_0, CUDA_0, …",
        rich_help_panel=_WHERE,
    ),
]


def open_run(  # noqa: PLR0917 (as a verb's options stand)
    dump: list[str],
    graph: str | None = None,
    params: str | None = None,
    trace: str | None = None,
    table: str | None = None,
    device: str | None = None,
) -> DebugRun:
    """Open what the arguments name.

    Raises
    ------
    UsageError
        ``-`` is given twice, or standard input is a terminal.
    FormatError, OSError
        As :func:`tvmdbg_widgets.open`.
    """
    from tvmdbg_widgets.cli.progress import quiet_unless_terminal
    from tvmdbg_widgets.open import open as open_dump

    quiet_unless_terminal()
    named = [*dump, *(each for each in (graph, params, trace, table) if each is not None)]
    if named.count("-") > 1:
        raise UsageError("standard input ('-') can be read only once")
    return open_dump(
        *map(_source, dump),
        graph=_source(graph),
        params=_source(params),
        trace=_source(trace),
        table=_source(table),
        device=device,
    )


def _source(name: str | None) -> Any:
    if name != "-":
        return name
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError(
            "'-' reads a file from standard input, and that is this terminal",
            "Write it as: tvmdbg summary - < graph.json",
        )
    from tvmdbg_widgets.model.sources import BytesSource

    return BytesSource(sys.stdin.buffer.read(), "<standard input>")

"""All verbs of ``tvmdbg``."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tvmdbg_widgets import __version__
from tvmdbg_widgets.cli import (
    check,
    compare,
    convert,
    demo,
    doctor,
    explain,
    extract,
    findings,
    graph,
    html,
    memory,
    rpc,
    show,
    struct,
    summary,
    table,
    trace,
)
from tvmdbg_widgets.cli.common.terminal import prepare
from tvmdbg_widgets.cli.common.verbs import INTERRUPTED, Verbs, end_politely, flag, register
from tvmdbg_widgets.cli.tuning.app import app as tuning

_EPILOG = (
    "Exit status: 0 done, 1 there are findings, 2 it could not be done. "
    "Results go to standard output, everything else to standard error. "
    "[dim]NO_COLOR[/] is respected. Completion: tvmdbg --install-completion"
)

app = typer.Typer(
    name="tvmdbg",
    cls=Verbs,
    help="Inspect runs of TVM's debugger and of ExecuTorch: the graph, the values of its nodes, "
    "and their times. Neither TVM, ExecuTorch nor Jupyter is needed.",
    epilog=_EPILOG,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(value: bool) -> None:
    if value:
        python = ".".join(map(str, sys.version_info[:3]))
        print(f"tvmdbg {__version__} (tvmdbg-widgets, Python {python})")
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[
        bool, flag("Print the version.", "--version", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Options that need no verb."""


_PANELS = {
    "View": (show, html),
    "Analyze": (summary, findings, check, compare, table, memory, explain, rpc, struct),
    "Export": (graph, trace, extract, convert),
    "Help": (doctor, demo),
}
register(app, _PANELS)
app.add_typer(tuning, name="tuning", rich_help_panel="Analyze")


def run() -> None:
    """Run the command line; ends with an exit status."""
    prepare()
    end_politely()
    try:
        app(prog_name="tvmdbg")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)

"""``tvmdbg graph``: the graph as a picture or as a file for other tools."""

from __future__ import annotations

import sys
import warnings
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvmdbg_widgets.cli.common.dump import NamedRun, graph_of, of_run, require_file
from tvmdbg_widgets.cli.common.terminal import is_terminal, note, say
from tvmdbg_widgets.cli.common.verbs import UsageError, examples, flag, option
from tvmdbg_widgets.model.base.numbers import counted

if TYPE_CHECKING:
    from tvmdbg_widgets.run import DebugRun

EXAMPLES = examples(
    ("A picture of the entire graph", "tvmdbg graph /tmp/tvmdbg -o net.svg --color-by time"),
    ("Only convolutions, for Graphviz", "tvmdbg graph DUMP --select op:conv -o convs.dot"),
    ("Laid out by Graphviz in a pipe", "tvmdbg graph DUMP -o - --to dot | dot -Tpdf > net.pdf"),
    ("For Model Explorer, with times", "tvmdbg graph DUMP -o net.json"),
)
To = StrEnum("To", {"DOT": "dot", "MODEL_EXPLORER": "model-explorer", "SVG": "svg", "PNG": "png"})
FlowDirection = StrEnum("FlowDirection", "DOWN RIGHT")
_ENDINGS = {
    ".dot": To.DOT,
    ".gv": To.DOT,
    ".json": To.MODEL_EXPLORER,
    ".svg": To.SVG,
    ".png": To.PNG,
}


@of_run
def graph(
    named: NamedRun,
    output: Annotated[
        str,
        option(
            "FILE",
            "Output file: net.svg, net.png, net.dot, net.json (Model Explorer); "
            "[bold]-[/] is standard output.",
            "-o",
            "--output",
        ),
    ],
    *,
    to: Annotated[
        To | None, typer.Option(help="Format; by default from the file extension.")
    ] = None,
    select: Annotated[str | None, option("QUERY", "Only nodes that match a query.")] = None,
    color_by: Annotated[
        str | None,
        option(
            "NAME",
            "kind, time, health, dtype, device, storage, layout or bytes. For Model "
            "Explorer what its node data are.",
        ),
    ] = None,
    direction: Annotated[
        FlowDirection, typer.Option(help="Direction of data flow.")
    ] = FlowDirection.DOWN,
    parameters: Annotated[bool, flag("Draw parameters as nodes.", "--parameters")] = False,
) -> None:
    """Export the graph of a run as a picture, for Graphviz or for Model Explorer.

    Repeated blocks are frames in pictures, clusters in DOT, layers in Model Explorer. Node data for
    Model Explorer go into a second file: net.time.json next to net.json.
    """
    kind = to or _ENDINGS.get(Path(output).suffix.lower())
    if kind is None:
        raise UsageError(f"{output!r} does not tell what to write", "Choose one with --to dot.")
    _check_target(output, kind)
    run = named.open()
    named.spare(run, output)
    graph_of(run)
    chosen = None if select is None else run.select(select)
    if chosen is not None and not chosen:
        raise UsageError(f"no node matches {select!r}")
    how: dict[str, Any] = {"direction": direction.value, "fold_parameters": not parameters}
    if color_by is not None:
        how["color_by"] = color_by
    if kind is To.DOT:
        _write(output, run.to_dot(chosen, **how).encode())
    elif kind is To.MODEL_EXPLORER:
        _write_model_explorer(named, run, output, chosen, color_by)
    else:
        _write_picture(run, output, kind, chosen, how)


def _check_target(output: str, kind: To) -> None:
    if output == "-":
        if is_terminal(sys.stdout) and kind is To.PNG:
            raise UsageError("'-o -' would write bytes to this terminal", "Send them to a file.")
        return
    require_file(output, f"net.{kind}")


def _write(output: str, data: bytes) -> None:
    if output == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    from tvmdbg_widgets.model.base.writing import replacing

    with replacing(output) as file:
        file.write(data)
    say(output)
    note(counted(len(data), "byte"))


def _write_model_explorer(
    named: NamedRun, run: DebugRun, output: str, chosen: Any, color_by: str | None
) -> None:
    made = run.to_model_explorer(chosen, node_data=None if color_by is None else [color_by])
    if output == "-":
        import json

        _write(output, json.dumps(made.graph).encode())
        return
    if Path(output).suffix.lower() != ".json":
        raise UsageError(f"{output} is no .json", "Model Explorer opens files that end in .json.")
    if color_by is not None:
        named.spare(run, Path(output).with_suffix(f".{color_by}.json"))
    for path in made.save(output):
        say(str(path))


def _write_picture(run: DebugRun, output: str, kind: To, chosen: Any, how: dict[str, Any]) -> None:
    if chosen is not None:
        how["isolate"] = {"kind": "around", "nodes": list(chosen), "hops": 0}
    figure = run.figure("graph", whole=True, **how)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        data = figure.png() if kind is To.PNG else f"{figure.svg}\n".encode()
    _write(output, data)
    for warning in caught:
        note(str(warning.message))

"""Arguments that name a run, its nodes, and shared options of verbs."""

from __future__ import annotations

import functools
import inspect
import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvmdbg_widgets.cli.common.terminal import is_terminal
from tvmdbg_widgets.cli.common.verbs import UsageError, argument, verb
from tvmdbg_widgets.formats.limits import LIMITS

if TYPE_CHECKING:
    from tvmdbg_widgets.model.graph.graph import Graph
    from tvmdbg_widgets.run import DebugRun


_Dump = Annotated[
    list[str],
    argument(
        "DUMP",
        "A folder, or files of one run in any order: a dump of TVM's debugger, or "
        "ExecuTorch's ETDump, ETRecord, debug buffer and program. [bold]-[/] reads "
        "one file from standard input.",
        show_default=False,
    ),
]
_SOURCES = ("graph", "params", "trace", "table", "debug_buffer")
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def _option(kind: Any, flag: str, metavar: str, text: str, **more: Any) -> Any:
    option = typer.Option(flag, metavar=metavar, help=text, rich_help_panel="Which files", **more)
    return Annotated[kind, option]


_PATH = str | None
_FILES = {
    "graph": _option(_PATH, "--graph", "FILE", "The graph given to TVM: resolves ambiguous edges."),
    "params": _option(
        _PATH, "--params", "FILE", "The model's parameters: distinguishes them from inputs."
    ),
    "trace": _option(_PATH, "--trace", "FILE", "Execution trace."),
    "table": _option(_PATH, "--table", "FILE", "The table printed by run(): has every repeat."),
    "device": _option(
        _PATH, "--device", "NAME", "Which dump, if a folder has several: CPU_0, CUDA_0, …"
    ),
    "debug_buffer": _option(
        _PATH,
        "--debug-buffer",
        "FILE",
        "The debug buffer of an ETDump, if several files may be it.",
    ),
    "method": _option(
        _PATH, "--method", "NAME", "Method of an ExecuTorch program; by default forward."
    ),
    "execution": _option(
        int | None,
        "--execution",
        "N",
        "Execution of an ETDump whose values to show, from 0.",
        min=0,
    ),
    "follow_links": _option(
        bool, "--follow-links", "", "Follow links that lead outside the folder."
    ),
    "limit": _option(
        list[str] | None,
        "--limit",
        "PART=BYTES",
        "Read larger files: [bold]trace=20G[/]; also "
        f"{', '.join(name for name in LIMITS if name != 'trace')}.",
        show_default=False,
    ),
}


@dataclass(frozen=True)
class NamedRun:
    """The run named by a verb's arguments."""

    dump: list[str]
    graph: str | None = None
    params: str | None = None
    trace: str | None = None
    table: str | None = None
    device: str | None = None
    debug_buffer: str | None = None
    method: str | None = None
    execution: int | None = None
    follow_links: bool = False
    limit: list[str] | None = None

    def open(self) -> DebugRun:
        """Open the run; UsageError for files of another kind."""
        from tvmdbg_widgets.open import open as open_dump
        from tvmdbg_widgets.run import DebugRun

        quiet_unless_terminal()
        read_once(*self.dump, *self._files())
        opened = open_dump(
            *map(source_of, self.dump),
            device=self.device,
            method=self.method,
            execution=self.execution,
            follow_links=self.follow_links,
            limits=dict(map(_limit, self.limit or [])),
            **{name: source_of(getattr(self, name)) for name in _SOURCES},
        )
        if isinstance(opened, DebugRun):
            return opened
        from tvmdbg_widgets.rpc import RpcLog

        verb, what = (
            ("rpc", "an RPC session")
            if isinstance(opened, RpcLog)
            else ("tuning summary", "a tuning log")
        )
        hint = f"Try: tvmdbg {verb} {' '.join(map(shlex.quote, self.dump))}"
        raise UsageError(f"{opened.title} is {what}, not a run", hint)

    def spare(self, run: DebugRun, output: str | os.PathLike[str]) -> None:
        """Refuse to overwrite an input file."""
        target = Path(output)
        named = local_paths(*self.dump, *self._files())
        read = [*named, *(place / own.path for place in named for own in run.parts.files)]
        if target.exists() and any(path.is_file() and target.samefile(path) for path in read):
            raise UsageError(
                f"{target} is an input file, which is never overwritten", "Choose another file."
            )

    def _files(self) -> tuple[str | None, ...]:
        return tuple(getattr(self, name) for name in _SOURCES)


def of_run(function: Callable[..., None]) -> Callable[..., None]:
    """Make a function a verb with arguments that name a run, its first parameter."""
    return verb(taking(NamedRun, ("dump", _Dump), _FILES)(function))


def _limit(text: str) -> tuple[str, int]:
    match = re.fullmatch(r"(\w+)=([0-9]{1,12})([KMGT]?)(?:i?B)?", text, re.IGNORECASE)
    if match is None or match[1] not in LIMITS:
        raise UsageError(
            f"--limit {text}: expected PART=BYTES with one of {', '.join(LIMITS)}",
            "Write it as: --limit trace=20G",
        )
    return match[1], int(match[2]) << _UNITS[match[3].upper()]


def read_once(*names: str | None) -> None:
    """Refuse arguments of which more than one is standard input."""
    if names.count("-") > 1:
        raise UsageError("standard input ('-') can be used only once")


def local_paths(*names: str | None) -> list[Path]:
    """Return the paths among arguments, as they are opened."""
    from tvmdbg_widgets.sources.given import content_of

    given = (content_of(name) for name in names if name)
    return [Path(one) for one in given if isinstance(one, str | os.PathLike)]


def source_of(name: str | None) -> Any:
    """Return an argument's path, or for ``-`` the bytes of standard input."""
    if name != "-":
        return name
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError(
            "'-' reads a file from standard input, which is this terminal",
            "Write it as: tvmdbg summary - < graph.json",
        )
    from tvmdbg_widgets.sources.byte_source import BytesSource

    return BytesSource(sys.stdin.buffer.read(), "<standard input>")


def print_json(value: Any) -> None:
    """Print a value as JSON; NaN and infinities become null."""
    from tvmdbg_widgets.model.base.text import plain_json

    print(json.dumps(plain_json(value), indent=2, allow_nan=False))


_RANGE = re.compile(r"(\d{1,9})?:(\d{1,9})?")


def graph_of(run: DebugRun) -> Graph:
    """Return the graph of a run; UsageError if there is none."""
    if run.graph is None:
        from tvmdbg_widgets.analysis.summary import how_to_get

        raise UsageError(
            "this run has no graph, so it has no nodes to choose", how_to_get("graph", run.parts)
        )
    return run.graph


def require_file(output: str | os.PathLike[str], example: str) -> None:
    """Refuse an output that is a folder, or lies in a missing one."""
    target = Path(output)
    if target.is_dir():
        raise UsageError(f"{output} is a folder", f"Name a file: -o {target / example}")
    if not target.resolve().parent.is_dir():
        raise UsageError(f"{target.parent}: there is no such folder to write to")


def one_node(run: DebugRun, text: str) -> int:
    """Return a node by id or name."""
    graph = graph_of(run)
    if re.fullmatch(r"\d{1,9}", text) and not graph.nodes_named(text):
        node = int(text)
        if node < graph.num_nodes:
            return node
        raise UsageError(f"no node {node}; ids are 0 to {graph.num_nodes - 1}")
    try:
        return graph.node(text).id
    except KeyError as error:
        raise UsageError(str(error.args[0])) from None


def several_nodes(run: DebugRun, text: str) -> list[int]:
    """Return the nodes of a list such as ``38,conv2d_3,30:40``; a name may contain a comma."""
    graph = graph_of(run)
    nodes: list[int] = []
    pending = text.split(",")
    while pending:
        for count in range(len(pending), 0, -1):
            name = ",".join(pending[:count])
            if count == 1 or graph.nodes_named(name):
                break
        del pending[:count]
        name = name.strip()
        match = _RANGE.fullmatch(name)
        if not name:
            continue
        if match and not graph.nodes_named(name):
            nodes += _range(match, graph.num_nodes)
        else:
            nodes.append(one_node(run, name))
    if not nodes:
        raise UsageError("--nodes names no node", "Write it as --nodes 38,conv2d_3,30:40")
    return sorted(set(nodes))


def _range(match: re.Match[str], count: int) -> range:
    first, end = int(match[1] or 0), int(match[2]) if match[2] else count
    if first >= end or end > count:
        raise UsageError(
            f"no nodes {match[0]}; ids are 0 to {count - 1}",
            "A range counts as in Python: 30:40 are nodes 30 to 39.",
        )
    return range(first, end)


def taking(
    made: Callable[..., Any],
    argument: tuple[str, Any],
    options: Mapping[str, Any],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that adds shared arguments to a verb, passed as its first argument."""
    positional, annotation = argument

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(function, eval_str=True)
        _, *own = signature.parameters.values()
        parameter, keyword = inspect.Parameter, inspect.Parameter.KEYWORD_ONLY
        shared = (
            parameter(name, keyword, default=getattr(made, name), annotation=kind)
            for name, kind in options.items()
        )
        first = parameter(positional, parameter.POSITIONAL_OR_KEYWORD, annotation=annotation)

        @functools.wraps(function)
        def run(**given: Any) -> None:
            value = given.pop(positional)
            function(made(value, **{name: given.pop(name) for name in options}), **given)

        run.__signature__ = signature.replace(parameters=[first, *own, *shared])  # type: ignore[attr-defined]
        return run

    return decorate


def wanted() -> bool:
    """Whether to draw progress bars."""
    return is_terminal(sys.stderr) and os.environ.get("TERM", "") != "dumb"


def quiet_unless_terminal() -> None:
    """Disable progress bars of the library without a terminal."""
    if not wanted():
        os.environ.setdefault("TQDM_DISABLE", "1")


def byte_bar(total: int, what: str) -> Any:
    """Return a ``tqdm`` bar of bytes that appears after half a second."""
    from tqdm import tqdm

    return tqdm(
        total=total,
        desc=what,
        unit="B",
        unit_scale=True,
        delay=0.5,
        leave=False,
        disable=not wanted(),
    )

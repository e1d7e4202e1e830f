"""Hints with options of the command line; problems of Python environments."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tvmdbg_widgets.cli.doctor_environments import server_of

if TYPE_CHECKING:
    from tvmdbg_widgets.cli.doctor_environments import Environment


_FILES = frozenset(("graph", "params", "trace", "table", "debug_buffer"))
_CHOICES = frozenset(("device", "method"))
_OPTIONS = {
    "open(…, follow_links=True)": "--follow-links",
    "open the log with dag=": "give a DAG text along",
}
_WRITE = re.compile(r"log\.write\(path(?:, log\.select\(\"([^\"]*)\"\))?\)")
_ERRORS = re.compile(r"log\.errors_by\(\"(\w+)\"\)")
_FOLDER = re.compile(r"tvmdbg_widgets\.open\(('[^']*')\)")
_GRAPH = re.compile(r"\(open\(…, graph=(lib\.\w+\(\))\)\)|open\(…, graph=(lib\.\w+\(\))\)")
_GIVEN = re.compile(r"open\(…, (?:(\w+)=)?'([^']*)'\)")
_EXECUTION = re.compile(r"open\(…, execution=(\d+)\)")
_LIMIT = re.compile(r"open\(…, limits=\{'(\w+)': (\d+) \* 2\*\*30\}\)")


def for_shell(text: str) -> str:
    """Return a hint with options of this command instead of calls of ``open``.

    A call without an option stays: ``open(…, module='first')``.
    """
    text = _ERRORS.sub(r"tvmdbg tuning errors LOG --by \1", _WRITE.sub(_write, text))
    text = _FOLDER.sub(lambda call: shlex.quote(call[1][1:-1]), text)
    text = _GRAPH.sub(_graph, text)
    for call, option in _OPTIONS.items():
        text = text.replace(call, option)
    text = _LIMIT.sub(r"--limit \1=\2G", text)
    text = _EXECUTION.sub(r"--execution \1", text)
    return _GIVEN.sub(_given, text)


def _graph(call: re.Match[str]) -> str:
    if call[1]:
        return f"({call[1]} in a file, as --graph FILE)"
    return f"give --graph FILE, which holds {call[2]}"


def _write(call: re.Match[str]) -> str:
    chosen = f" --select {shlex.quote(call[1])}" if call[1] else ""
    return f"tvmdbg tuning merge LOG{chosen} -o FILE"


def _given(call: re.Match[str]) -> str:
    name, value = call[1], shlex.quote(call[2])
    if name in _CHOICES:
        return f"--{name} {value}"
    if name in _FILES:
        return f"give --{name.replace('_', '-')} {value}"
    return call[0] if name == "module" else f"add {value}"


_OLDEST_PYTHON = (3, 11)
#: Packages of the views: first supported version, and first unsupported one.
_RANGES = {"anywidget": ((0, 11), (0, 12)), "ipywidgets": ((8,), (9,)), "numpy": ((1, 26), None)}
#: Name of a front-end extension in a sentence, and its package.
_SERVED = {
    "@jupyter-widgets/jupyterlab-manager": (
        "the widget manager (jupyterlab-widgets) is",
        "jupyterlab-widgets",
    ),
    "anywidget": ("anywidget's front end is", "'anywidget>=0.11,<0.12'"),
}
_RESTART = ", then start the server again"


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem with its effect and remedy."""

    where: str
    what: str
    effect: str
    remedy: str
    fatal: bool = True


def problems(environments: Sequence[Environment]) -> list[Problem]:
    """Return the problems of all environments."""
    return list(_problems(environments))


def _problems(environments: Sequence[Environment]) -> Iterator[Problem]:
    here, server = environments[0], server_of(environments)
    if here.problem:
        yield Problem("here", here.problem, "it cannot be checked", "reinstall Python")
    else:
        yield from _ranges(here, "the views, here", _RANGES)
    if server is None:
        what = "no Jupyter server here or on the path"
        effect = "views in notebooks; `tvmdbg show` and saved pages need none"
        yield Problem("server", what, effect, "pip install jupyterlab", fatal=False)
        return
    yield from _server(server)
    kernels = [kernel for kernel in environments if kernel.role == "kernel"]
    is_alone = not any(
        kernel.version("tvmdbg-widgets") and not _is_old(kernel) for kernel in kernels
    )
    for kernel in kernels:
        yield from _kernel(kernel, server, is_alone=is_alone)
    if not any(kernel.python for kernel in kernels):
        what = "Jupyter offers no Python kernel that starts"
        yield Problem(server.name, what, "no notebook runs", _install(server, "ipykernel"))


def _server(server: Environment) -> Iterator[Problem]:
    if server.problem:
        yield Problem("server", server.problem, "Jupyter", "reinstall jupyterlab")
    elif server.version("jupyterlab") or server.version("notebook"):
        for extension, (name, package) in _SERVED.items():
            if extension not in server.extensions:
                what = f"{name} missing where the server runs"
                remedy = _install(server, package) + _RESTART
                yield Problem("server", what, "views show as figures, not live", remedy)
        if "anywidget" in server.extensions:
            yield from _ranges(server, "views stay empty", ("anywidget",))


def _kernel(kernel: Environment, server: Environment, *, is_alone: bool) -> Iterator[Problem]:
    where, effect = f"kernel {kernel.name}", "import tvmdbg_widgets"
    if kernel.problem.startswith("a kernel for"):
        return
    if kernel.problem:
        what, effect = kernel.problem, "notebooks with this kernel"
        remedy = f"repair it, or: jupyter kernelspec remove {kernel.name}"
    elif _is_old(kernel):
        what = f"Python {kernel.python} is too old; 3.11 or newer is needed"
        remedy = "use a newer kernel"
    elif kernel.version("tvmdbg-widgets") is None:
        what = "tvmdbg-widgets is not installed where this kernel runs"
        remedy = _install(kernel, "tvmdbg-widgets")
    else:
        yield from _ranges(kernel, "the views, in this kernel", _RANGES)
        theirs, its = server.version("anywidget"), kernel.version("anywidget")
        if theirs and its and _numbers(theirs)[:2] != _numbers(its)[:2]:
            yield Problem(
                where,
                f"anywidget is {its} in the kernel and {theirs} where the server runs",
                "views may stay empty: kernel and server need the same version",
                _install(server, f"'anywidget=={its}'") + _RESTART,
            )
        return
    yield Problem(where, what, effect, remedy, fatal=is_alone)


def _ranges(environment: Environment, effect: str, packages: Iterable[str]) -> Iterator[Problem]:
    where = f"kernel {environment.name}" if environment.role == "kernel" else environment.role
    for package in packages:
        first, last = _RANGES[package]
        number = environment.version(package)
        wanted = f"{package}>={'.'.join(map(str, first))}"
        wanted += f",<{'.'.join(map(str, last))}" if last else ""
        if number is None:
            what = f"{package} is missing"
        elif _numbers(number) < first or (last and _numbers(number) >= last):
            what = f"{package} {number} is incompatible ({wanted})"
        else:
            continue
        yield Problem(where, what, effect, _install(environment, f"'{wanted}'"))


def _is_old(environment: Environment) -> bool:
    return _numbers(environment.python) < _OLDEST_PYTHON


def _install(environment: Environment, package: str) -> str:
    return f"{environment.executable or 'python'} -m pip install {package}"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version.partition("+")[0])[:3]))

"""What will not work in these environments, why, and what to do about it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tvmdbg_widgets.cli.doctor.environments import server_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tvmdbg_widgets.cli.doctor.environments import Environment

_OLDEST_PYTHON = (3, 11)
#: First version that works, and first that may not.
_RANGES = {"anywidget": ((0, 11), (0, 12)), "ipywidgets": ((8,), (9,)), "numpy": ((1, 26), None)}
_MANAGER = "@jupyter-widgets/jupyterlab-manager"
#: What a package is for, and what brings it.
EXTRAS = {
    "pandas": ("tables as data frames (to_dataframe)", "pandas"),
    "resvg-py": ("figures as PNG (figure.save('x.png'))", "'tvmdbg-widgets[png]'"),
    "dpkt": ("network captures of RPC sessions", "'tvmdbg-widgets[rpc]'"),
    "fsspec": ("dumps by URL", "'tvmdbg-widgets[remote]'"),
    "aiohttp": ("dumps by http(s) URL", "'tvmdbg-widgets[remote]'"),
    "jupyterlab": ("linked views in a notebook", "'tvmdbg-widgets[lab]'"),
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that will not work."""

    where: str
    what: str
    effect: str
    remedy: str
    fatal: bool = True


def problems(found: Sequence[Environment]) -> list[Problem]:
    """Judge the environments together."""
    server = server_of(found)
    kernels = [each for each in found if each.role == "kernel"]
    ready = [
        each
        for each in kernels
        if each.version("tvmdbg-widgets") and _numbers(each.python) >= _OLDEST_PYTHON
    ]
    told = list(_here(next(each for each in found if each.role == "here")))
    if server is not None:
        told += _server(server)
        for each in kernels:
            told += _kernel(each, server, alone=not ready)
        if not any(each.python for each in kernels):
            text = "Jupyter offers no Python kernel that starts"
            told.append(
                Problem(server.name, text, "no notebook runs", f"{_pip(server)} install ipykernel")
            )
    else:
        what = "no Jupyter server here or on the path"
        effect = "views in notebooks; `tvmdbg show` and saved pages need none"
        told.append(Problem("server", what, effect, "pip install jupyterlab", fatal=False))
    return told


def _here(here: Environment) -> Iterator[Problem]:
    if here.problem:
        yield Problem("here", here.problem, "it cannot be checked", "reinstall Python")
        return
    for package in ("anywidget", "ipywidgets", "numpy"):
        yield from _range(here, package, "the views, here")


def _server(server: Environment) -> Iterator[Problem]:
    if server.problem:
        yield Problem("server", server.problem, "Jupyter", "reinstall jupyterlab")
        return
    has_lab = server.version("jupyterlab") or server.version("notebook")
    if has_lab and _MANAGER not in server.extensions:
        yield Problem(
            "server",
            "the widget manager (jupyterlab-widgets) is missing where the server runs",
            "views show as figures, not live",
            f"{_pip(server)} install jupyterlab-widgets, then start the server again",
        )
    if has_lab and "anywidget" not in server.extensions:
        yield Problem(
            "server",
            "anywidget's front end is missing where the server runs",
            "views show as figures, not live",
            f"{_pip(server)} install 'anywidget>=0.11,<0.12', then start the server again",
        )
    elif has_lab:
        yield from _range(server, "anywidget", "views stay empty")


def _kernel(kernel: Environment, server: Environment, *, alone: bool) -> Iterator[Problem]:
    where = f"kernel {kernel.name}"
    if kernel.problem:
        fatal = not kernel.problem.startswith("a kernel for")
        if fatal:
            remedy = f"repair it, or: jupyter kernelspec remove {kernel.name}"
            yield Problem(where, kernel.problem, "notebooks with this kernel", remedy, fatal=alone)
        return
    if _numbers(kernel.python) < _OLDEST_PYTHON:
        what = f"Python {kernel.python} is too old; 3.11 or newer is needed"
        yield Problem(where, what, "import tvmdbg_widgets", "use a newer kernel", fatal=alone)
        return
    own = kernel.version("tvmdbg-widgets")
    if own is None:
        what = "tvmdbg-widgets is not installed where this kernel runs"
        remedy = f"{_pip(kernel)} install tvmdbg-widgets"
        yield Problem(where, what, "import tvmdbg_widgets", remedy, fatal=alone)
        return
    for package in ("anywidget", "ipywidgets", "numpy"):
        yield from _range(kernel, package, "the views, in this kernel")
    theirs, its = server.version("anywidget"), kernel.version("anywidget")
    if theirs and its and _numbers(theirs)[:2] != _numbers(its)[:2]:
        yield Problem(
            where,
            f"anywidget is {its} in the kernel and {theirs} where the server runs",
            "views may stay empty: kernel and server need the same version",
            f"{_pip(server)} install 'anywidget=={its}', then start the server again",
        )


def _range(environment: Environment, package: str, effect: str) -> Iterator[Problem]:
    first, last = _RANGES[package]
    found = environment.version(package)
    wanted = f"{package}>={'.'.join(map(str, first))}"
    wanted += f",<{'.'.join(map(str, last))}" if last else ""
    remedy = f"{_pip(environment)} install '{wanted}'"
    where = f"kernel {environment.name}" if environment.role == "kernel" else environment.role
    if found is None:
        yield Problem(where, f"{package} is missing", effect, remedy)
    elif _numbers(found) < first or (last and _numbers(found) >= last):
        yield Problem(where, f"{package} {found} is incompatible ({wanted})", effect, remedy)


def _pip(environment: Environment) -> str:
    return f"{environment.executable or 'python'} -m pip"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(each) for each in re.findall(r"\d+", version.partition("+")[0])[:3])

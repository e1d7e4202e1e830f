"""Python environments of notebooks: this one, the server's and the kernels', and their problems."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

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
_MARK = "tvmdbg-doctor:"
_PYTHONS = {"python", "python3", f"python3.{sys.version_info[1]}"}


@dataclass(frozen=True)
class Environment:
    """Facts of one Python environment, or the problem with reading them."""

    role: str
    name: str
    title: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""

    @property
    def executable(self) -> str:
        """Path of the interpreter."""
        return str(self.facts.get("executable", ""))

    @property
    def python(self) -> str:
        """Version of Python."""
        return str(self.facts.get("python", ""))

    @property
    def extensions(self) -> tuple[str, ...]:
        """Front-end extensions that a server here would serve."""
        return tuple(self.facts.get("extensions", ()))

    def version(self, package: str) -> str | None:
        """Version of a package, None if missing."""
        number = self.facts.get("packages", {}).get(package)
        return None if number is None else str(number)


def environments(timeout: float) -> list[Environment]:
    """Probe this environment, Jupyter's server, and the kernels it offers, in parallel."""
    here = server = _probed(Environment("here", "this environment"), [sys.executable], {}, timeout)
    command = None if here.version("jupyter-server") else _server_command()
    if command is not None:
        server = _probed(Environment("server", "Jupyter's server"), command, {}, timeout)
    probed = [here] if server is here else [here, server]
    kernels = server.facts.get("kernels") or {}
    with ThreadPoolExecutor(8) as pool:
        jobs = [
            pool.submit(_kernel, name, spec, server.executable or sys.executable, timeout)
            for name, spec in sorted(kernels.items())
        ]
        return [*probed, *(job.result() for job in jobs)]


def server_of(environments: Sequence[Environment]) -> Environment | None:
    """Return the environment of Jupyter's server, None if there is none."""
    known = [one for one in environments if one.role == "server"]
    known += [one for one in environments if one.role == "here" and one.version("jupyter-server")]
    return known[0] if known else None


def _kernel(name: str, spec: Mapping[str, Any], python: str, timeout: float) -> Environment:
    title, argv = str(spec.get("display_name", name)), list(map(str, spec.get("argv", [])))
    if str(language := spec.get("language") or "another language").lower() != "python":
        return Environment("kernel", name, title, problem=f"a kernel for {language}, not Python")
    if "-m" not in argv:
        return Environment("kernel", name, title, problem="its command could not be understood")
    # jupyter_client starts bare "python" with the server's own interpreter.
    command = argv[: argv.index("-m")]
    if command[:1] and command[0] in _PYTHONS:
        command[0] = python
    return _probed(Environment("kernel", name, title), command, spec.get("env", {}), timeout)


def _server_command() -> list[str] | None:
    """Return the command of the interpreter that runs ``jupyter``, from its script."""
    for name in ("jupyter-lab", "jupyter-notebook", "jupyter-server", "jupyter"):
        path = shutil.which(name)
        if path is None:
            continue
        try:
            with Path(path).open("rb") as file:
                first = file.readline(1024)
        except OSError:
            continue
        if first.startswith(b"#!"):
            return os.fsdecode(first[2:]).split()
        for folder in (Path(path).parent, Path(path).parent.parent):
            if (python := folder / "python.exe").is_file():
                return [os.fspath(python)]
    return None


def _probed(
    asked: Environment, command: Sequence[str], env: Mapping[str, str], timeout: float
) -> Environment:
    probe = Path(__file__).with_name("doctor_probe.py").read_text("utf-8")
    try:
        done = subprocess.run(  # noqa: S603 (the interpreter that Jupyter itself would start)
            [*command, "-c", probe],
            env={**os.environ, **{str(key): str(value) for key, value in env.items()}},
            cwd=tempfile.gettempdir(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return replace(asked, problem=f"its Python did not answer within {timeout:g} s")
    except OSError as error:
        text = f"its Python does not start: {' '.join(command)}: {error.strerror or error}"
        return replace(asked, problem=text)
    for line in done.stdout.decode(errors="replace").splitlines():
        if line.startswith(_MARK):
            return replace(asked, facts=json.loads(line.removeprefix(_MARK)))
    last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
    text = f"its Python failed ({done.returncode}): {' '.join(last)[:200]}"
    return replace(asked, problem=text)


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
    yield from _server_problems(server)
    kernels = [kernel for kernel in environments if kernel.role == "kernel"]
    is_alone = not any(
        kernel.version("tvmdbg-widgets") and not _is_old(kernel) for kernel in kernels
    )
    for kernel in kernels:
        yield from _kernel_problems(kernel, server, is_alone=is_alone)
    if not any(kernel.python for kernel in kernels):
        what = "Jupyter offers no Python kernel that starts"
        yield Problem(server.name, what, "no notebook runs", _install(server, "ipykernel"))


def _server_problems(server: Environment) -> Iterator[Problem]:
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


def _kernel_problems(
    kernel: Environment, server: Environment, *, is_alone: bool
) -> Iterator[Problem]:
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

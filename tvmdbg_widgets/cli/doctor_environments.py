"""Python environments of notebooks: this one, the server's, and the kernels'."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

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
    """Probe this environment, Jupyter's server, and the kernels it offers.

    Their interpreters run in parallel.
    """
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

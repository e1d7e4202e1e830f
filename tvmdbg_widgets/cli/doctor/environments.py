"""The environments that a notebook runs in: where the server is, where each kernel is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TIMEOUT = 20.0
_MARK = "tvmdbg-doctor:"
_PYTHONS = {"python", "python3", f"python3.{sys.version_info[1]}"}


@dataclass(frozen=True)
class Environment:
    """What one Python environment has, or why that is not known."""

    role: str
    name: str
    title: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""

    @property
    def executable(self) -> str:
        """The interpreter; empty where unknown."""
        return str(self.facts.get("executable", ""))

    @property
    def python(self) -> str:
        """Version of Python; empty where unknown."""
        return str(self.facts.get("python", ""))

    @property
    def extensions(self) -> tuple[str, ...]:
        """Front-end extensions that a server here would serve."""
        return tuple(self.facts.get("extensions", ()))

    def version(self, package: str) -> str | None:
        """Version of a package, None where it is missing."""
        found = self.facts.get("packages", {}).get(package)
        return None if found is None else str(found)


def environments(timeout: float = TIMEOUT) -> list[Environment]:
    """Look at this environment, at Jupyter's server, and at each kernel it offers.

    Each is asked by running its own interpreter, all at once.
    """
    here = _probed("here", "this environment", [sys.executable], {}, timeout)
    server = here
    if here.version("jupyter-server") is None:
        command = _server_command()
        if command is not None:
            server = _probed("server", "Jupyter's server", command, {}, timeout)
    found = [here] if server is here else [here, server]
    kernels = server.facts.get("kernels") or {}
    with ThreadPoolExecutor(8) as pool:
        jobs = [
            pool.submit(_kernel, name, spec, server.executable or sys.executable, timeout)
            for name, spec in sorted(kernels.items())
        ]
        return [*found, *(job.result() for job in jobs)]


def server_of(found: Sequence[Environment]) -> Environment | None:
    """Return the environment that Jupyter's server runs in, None where there is none."""
    known = [each for each in found if each.role == "server"]
    if known:
        return known[0]
    return next((e for e in found if e.role == "here" and e.version("jupyter-server")), None)


def _kernel(name: str, spec: Mapping[str, Any], python: str, timeout: float) -> Environment:
    title, argv = str(spec.get("title", name)), [str(each) for each in spec.get("argv", [])]
    if str(spec.get("language", "")).lower() != "python":
        language = spec.get("language") or "another language"
        return Environment("kernel", name, title, problem=f"a kernel for {language}, not Python")
    if "-m" not in argv:
        return Environment("kernel", name, title, problem="its command could not be understood")
    # jupyter_client starts bare "python" with the server's own interpreter.
    command = argv[: argv.index("-m")]
    if command[:1] and command[0] in _PYTHONS:
        command[0] = python
    return _probed("kernel", name, command, spec.get("env", {}), timeout, title)


def _server_command() -> list[str] | None:
    """Find the interpreter that starts ``jupyter``: that of the script on the path."""
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
        beside = Path(path).with_name("python.exe")
        for python in (beside, beside.parent.parent / "python.exe"):
            if python.is_file():
                return [os.fspath(python)]
    return None


def _probed(  # noqa: PLR0917
    role: str,
    name: str,
    command: Sequence[str],
    env: Mapping[str, str],
    timeout: float,
    title: str = "",
) -> Environment:
    probe = Path(__file__).with_name("probe.py").read_text("utf-8")
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
        text = f"its Python did not answer within {timeout:g} s"
        return Environment(role, name, title, problem=text)
    except OSError as error:
        text = f"its Python does not start: {' '.join(command)}: {error.strerror or error}"
        return Environment(role, name, title, problem=text)
    lines = done.stdout.decode(errors="replace").splitlines()
    answer = next((line for line in lines if line.startswith(_MARK)), None)
    if answer is None:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        text = f"its Python failed ({done.returncode}): {' '.join(last)[:200]}"
        return Environment(role, name, title, problem=text)
    return Environment(role, name, title, json.loads(answer.removeprefix(_MARK)))

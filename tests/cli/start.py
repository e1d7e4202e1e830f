"""How the tests start the command line: in this process, or as a process of its own."""

import io
import os
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from tvmdbg_widgets.cli import main

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "tvmdbg_widgets.cli"]
# Typer asks once, on loading this, whether to print colors; kernels in this process ask for them.
with pytest.MonkeyPatch.context() as plain:
    for name in ("FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS"):
        plain.delenv(name, raising=False)
    import_module("typer.rich_utils")

#: What the fixtures give.
Run = Callable[..., subprocess.CompletedProcess[Any]]
_OF_THE_TERMINAL = ("NO_COLOR", "FORCE_COLOR", "COLUMNS")


def environment(**more: str) -> dict[str, str]:
    """Return the environment of this process without what concerns its terminal."""
    kept = {name: value for name, value in os.environ.items() if name not in _OF_THE_TERMINAL}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", **more}


def as_process(
    *arguments: str | os.PathLike[str],
    env: dict[str, str] | None = None,
    text: bool = True,
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    """Run the command as a process, in another folder than the sources' where asked to."""
    if "input" not in options:
        options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(
        [*COMMAND, *map(os.fspath, arguments)],
        env=environment(**(env or {})),
        capture_output=True,
        text=text,
        encoding="utf-8" if text else None,
        timeout=600,
        check=False,
        **options,
    )


def in_process(
    *arguments: str | os.PathLike[str],
    env: dict[str, str] | None = None,
    text: bool = True,
    input: bytes = b"",  # noqa: A002 (subprocess.run's word)
    cwd: os.PathLike[str] | None = None,
) -> subprocess.CompletedProcess[Any]:
    """Run the command in this process: the same answer without the time of a start."""
    asked = environment(COLUMNS="80", **(env or {}))
    out, error = io.BytesIO(), io.BytesIO()
    encoding = asked["PYTHONIOENCODING"]
    streams = {
        "stdin": io.TextIOWrapper(io.BytesIO(input), encoding),
        "stdout": io.TextIOWrapper(out, encoding),
        "stderr": io.TextIOWrapper(error, encoding),
    }
    handler, before = signal.getsignal(signal.SIGTERM), Path.cwd()
    with (
        mock.patch.multiple(sys, argv=["tvmdbg", *map(os.fspath, arguments)], **streams),
        mock.patch.dict(os.environ, asked, clear=True),
        mock.patch.object(tempfile, "tempdir", None),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default")
        os.chdir(cwd or before)
        try:
            status = _status()
        finally:
            os.chdir(before)
            signal.signal(signal.SIGTERM, handler)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    written = (out.getvalue(), error.getvalue())
    told = [each.decode("utf-8") for each in written] if text else list(written)
    return subprocess.CompletedProcess(["tvmdbg", *arguments], status, *told)


def _status() -> int:
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except Exception:  # noqa: BLE001 (the interpreter's own last word)
        traceback.print_exc()
        return 1
    return 0


def refused(done: subprocess.CompletedProcess[Any]) -> str:
    """Return in one line why a call was refused."""
    assert done.returncode == 2, done.stderr
    return " ".join(done.stderr.split())

"""The command line as people start it: a process with arguments, two streams and a status."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from cli.start import COMMAND, environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Let commands be interrupted: what a shell starts with ``&`` ignores SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def tvmdbg() -> Callable[..., subprocess.CompletedProcess[Any]]:
    """Run the command; text unless ``text=False``, in another folder than the sources'."""

    def run(
        *arguments: str | os.PathLike[str],
        env: dict[str, str] | None = None,
        text: bool = True,
        **options: Any,
    ) -> subprocess.CompletedProcess[Any]:
        options.setdefault("stdin", None if "input" in options else subprocess.DEVNULL)
        if "input" in options:
            del options["stdin"]
        return subprocess.run(
            [*COMMAND, *map(os.fspath, arguments)],
            env=environment(**(env or {})),
            capture_output=True,
            text=text,
            encoding="utf-8" if text else None,
            timeout=120,
            check=False,
            **options,
        )

    return run

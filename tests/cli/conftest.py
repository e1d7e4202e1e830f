"""The command line as people use it: arguments, two streams and a status."""

import signal
from collections.abc import Iterator

import pytest
from cli.start import Run, as_process, in_process


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Let commands be interrupted: what a shell starts with ``&`` ignores SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def tvmdbg() -> Run:
    """Run the command in this process; text unless ``text=False``."""
    return in_process


@pytest.fixture(scope="session")
def tvmdbg_process() -> Run:
    """Run the command as a process, for what only a process shows."""
    return as_process

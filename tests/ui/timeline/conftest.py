"""A Chrome trace that no debugger of TVM wrote, and a page of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import tvmdbg_widgets as tvmdbg
from tests.ui.host import serve
from tvmdbg_widgets.run import DebugRun

TRACE = Path(__file__).parents[2] / "data/chrome/viztracer.json"


@pytest.fixture(scope="module")
def trace() -> DebugRun:
    return tvmdbg.open(TRACE)


@pytest.fixture(scope="module")
def trace_address(trace: DebugRun) -> Iterator[str]:
    with serve(trace) as address:
        yield address

"""What every test may ask for, and an account of what was not run."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import hypothesis
import pytest

CORPUS = "TVMDBG_CORPUS"
HOW = f"set {CORPUS} to the folder of recorded runs to run this"
HERE = Path(__file__).parent

# A machine under load is no failure; the same examples everywhere unless asked for more.
hypothesis.settings.register_profile("core", deadline=None, max_examples=100, derandomize=True)
hypothesis.settings.register_profile("long", deadline=None, max_examples=2000)
hypothesis.settings.load_profile("core")

deselected: list[pytest.Item] = []
specification: set[str] = set()


def corpus_path() -> Path | None:
    """Folder of real files that are not part of the repository, where there is one."""
    named = os.environ.get(CORPUS)
    if not named:
        return None
    path = Path(named)
    if not path.is_dir():
        raise pytest.UsageError(f"{CORPUS}={named} is not a folder")
    return path.resolve()


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Folder of recorded runs; skips where it is not set."""
    path = corpus_path()
    if path is None:
        pytest.skip(HOW)
    return path


@pytest.fixture(scope="session")
def data() -> Path:
    """Small files kept beside the tests; data/README.md tells where each is from."""
    return HERE / "data"


def pytest_report_header() -> str:
    path = corpus_path()
    return f"corpus: {path}" if path else f"corpus: none ({HOW})"


def pytest_deselected(items: list[pytest.Item]) -> None:
    deselected.extend(items)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # Playwright leaves an event loop running in this thread, and what starts its own then fails.
    items.sort(key=lambda item: "browser" in getattr(item, "fixturenames", ()))
    specification.update(item.nodeid for item in items if item.get_closest_marker("spec_only"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    write = terminalreporter.write_line
    skips = Counter(_reason(report) for report in terminalreporter.stats.get("skipped", []))
    left_out = Counter(_markers(item) for item in deselected)
    passed = {report.nodeid for report in terminalreporter.stats.get("passed", [])}
    spec_only = sorted(specification & passed)
    if skips or left_out:
        terminalreporter.section("not run")
        for reason, count in skips.most_common():
            write(f"{count:5d} skipped: {reason}")
        for markers, count in left_out.most_common():
            write(f"{count:5d} deselected: {markers}")
    if spec_only:
        terminalreporter.section("rests on the specification alone")
        for nodeid in spec_only:
            write(nodeid)


def _reason(report: pytest.TestReport) -> str:
    where = report.longrepr
    text = where[2] if isinstance(where, tuple) else str(where)
    return text.removeprefix("Skipped: ")


def _markers(item: pytest.Item) -> str:
    names = {mark.name for mark in item.iter_markers()} & {"ui", "lab", "hosts", "slow"}
    return ", ".join(sorted(names)) or "by choice"

"""What every test may ask for, and an account of what was not run."""

from __future__ import annotations

import gc
import importlib
import os
import subprocess
import tomllib
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
from hatch_build import is_current

from tests.answer_schema import hold_answers, is_made, make_schema

if TYPE_CHECKING:
    from tvmdbg_widgets.run import DebugRun

CORPUS = "TVMDBG_CORPUS"
HOW = f"set {CORPUS} to the folder of recorded runs to run this"
HERE = Path(__file__).parent

# A machine under load is no failure; the same examples everywhere unless asked for more.
hypothesis.settings.register_profile("core", deadline=None, max_examples=50, derandomize=True)
hypothesis.settings.register_profile("long", deadline=None, max_examples=2000)
hypothesis.settings.load_profile("core")

# Each may start a Chromium and a Jupyter server.
MOST_PROCESSES = 4

SPEC_ONLY = ("spec_only", True)
LEFT_OUT = "left_out"

left_out: Counter[str] = Counter()


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


@pytest.fixture(scope="session")
def bundles() -> Path:
    """Folder of the bundles, made anew where they are not those of the sources."""
    if not is_current(HERE.parent):
        command = ["node", "js/build.mjs"]
        built = subprocess.run(
            command, cwd=HERE.parent, capture_output=True, text=True, check=False
        )
        if built.returncode != 0:
            warnings.warn(f"a bundle is missing:\n{built.stderr}", stacklevel=1)
    return HERE.parent / "tvmdbg_widgets/static"


@pytest.fixture(scope="module")
def run() -> DebugRun:
    """Run of the sample network, opened anew for each module."""
    import tvmdbg_widgets as tvmdbg

    return tvmdbg.open(tvmdbg.samples.resnet20_cifar)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--slow-pages",
        type=float,
        default=1.0,
        metavar="N",
        help="pages run N times slower and answers come late by chance: what a test does not wait "
        "for, it then misses",
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two processes more than cores: those with a browser wait for it half of the time."""
    from tvmdbg_widgets.model.statistics.passes import cores

    return min(MOST_PROCESSES, cores() + 2)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    if config.getvalue("dist") != "loadfile":
        return None
    from tests.scheduling import BrowsersBeside

    return BrowsersBeside(config, log)


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        gc.disable()  # until all tests are collected: what is made of them lasts
    else:
        make_schema()


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Begin each with a share of all modules: each process would compile every one otherwise."""
    worker = getattr(session.config, "workerinput", None)
    if worker is None or session.config.args != session.config.getini("testpaths"):
        return
    modules = sorted(HERE.rglob("test_*.py"))
    first, step = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
    for path in modules[first::step]:
        # What is wrong with one is told when it is collected.
        with suppress(Exception, pytest.skip.Exception):
            importlib.import_module(".".join(path.relative_to(HERE.parent).with_suffix("").parts))


@pytest.fixture(scope="session", autouse=True)
def _held_answers() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        hold_answers(patch)
        yield


def pytest_report_header() -> str:
    path = corpus_path()
    corpus = f"corpus: {path}" if path else f"corpus: none ({HOW})"
    return corpus if is_made() else f"{corpus}\nanswers: not held to the views' types (npm ci)"


def pytest_deselected(items: list[pytest.Item]) -> None:
    left_out.update(_markers(item) for item in items)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    _mark_slow_cases(items)
    # Playwright leaves an event loop running in this thread, and what starts its own then fails
    # (of several processes tests/scheduling.py sees to that).
    # Of the files with a browser the longest come first: two processes then end together.
    sizes = Counter(item.path for item in items)
    items.sort(key=lambda item: _turn(item, sizes[item.path]))
    for item in items:
        if item.get_closest_marker("spec_only"):
            item.user_properties.append(SPEC_ONLY)


def pytest_collection_finish() -> None:
    """Leave what lasts out of every later collection of garbage: each went through all of it."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(100_000, 20, 50)  # a tree of syntax takes a third of the time


def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[LEFT_OUT] = dict(left_out)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    # Every worker collects, and leaves out, the same.
    left_out.update(getattr(node, "workeroutput", {}).get(LEFT_OUT, {}) if not left_out else {})


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    write = terminalreporter.write_line
    skips = Counter(_reason(report) for report in terminalreporter.stats.get("skipped", []))
    passed = terminalreporter.stats.get("passed", [])
    spec_only = sorted(each.nodeid for each in passed if SPEC_ONLY in each.user_properties)
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


def _mark_slow_cases(items: list[pytest.Item]) -> None:
    """Leave as many cases of a test unmarked as the table says, the others are slow."""
    table = slow_cases()
    cases: dict[tuple[str, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        path = item.path.relative_to(HERE).as_posix()
        name = getattr(item, "originalname", item.name)
        if name in table.get(path, {}) and not item.get_closest_marker("slow"):
            cases[path, name].append(item)
    for (path, name), known in cases.items():
        count = table[path][name]
        kept = {len(known) * turn // count for turn in range(count)}
        for number, item in enumerate(known):
            if number not in kept:
                item.add_marker(pytest.mark.slow)


def slow_cases() -> dict[str, dict[str, int]]:
    """Number of cases that `make test` runs, by file and test."""
    table: dict[str, dict[str, Any]] = tomllib.loads((HERE / "slow_cases.toml").read_text("utf-8"))
    return {
        path: {**dict.fromkeys(names.pop("none", ()), 0), **names} for path, names in table.items()
    }


def _turn(item: pytest.Item, tests: int) -> tuple[int, int]:
    if HERE / "ui" not in item.path.parents:
        return 0, 0
    return (1, 0) if item.get_closest_marker("lab") else (2, -tests)


def _reason(report: pytest.TestReport) -> str:
    where = report.longrepr
    text = where[2] if isinstance(where, tuple) else str(where)
    return text.removeprefix("Skipped: ")


def _markers(item: pytest.Item) -> str:
    names = {mark.name for mark in item.iter_markers()} & {"ui", "lab", "hosts", "slow"}
    return ", ".join(sorted(names)) or "by choice"

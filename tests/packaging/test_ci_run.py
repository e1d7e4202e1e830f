"""What lands: everything passed, or what failed among the others passed alone."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PASSES = "def test_of_{n}(): pass"
# Fails beside others, which it knows by a file, and passes alone.
FLAKY = """
from pathlib import Path
def test_flaky_{n}():
    seen = Path("seen_{n}")
    known = seen.exists()
    seen.touch()
    assert known
"""
FAILS = "def test_bad_{n}(): assert False"
FLAKY_FIXTURE = """
import pytest
from pathlib import Path
@pytest.fixture
def page():
    seen = Path("page_{n}")
    known = seen.exists()
    seen.touch()
    assert known
def test_shown_{n}(page): pass
"""
NO_IMPORT = "import no_such_module\ndef test_imported_{n}(): pass"
SKIPS_ALONE = """
import pytest
from pathlib import Path
def test_skips_{n}():
    seen = Path("skipped_{n}")
    if seen.exists(): pytest.skip("alone")
    seen.touch()
    assert False
"""
BREAKS = "def pytest_sessionfinish(session): raise RuntimeError('broken plugin')"


@dataclass
class Ran:
    code: int
    text: str

    @property
    def last(self) -> str:
        return self.text.rstrip().splitlines()[-1]

    @property
    def flaky(self) -> list[str]:
        return re.findall(r"^flaky: (.+)$", self.text, re.MULTILINE)


@dataclass
class Checkout:
    """A checkout whose `make test` is the Makefile's, over tests of its own."""

    path: Path

    def run(
        self, *tests: str, conftest: str = "", checks: str = "true", environment: str = ""
    ) -> Ran:
        for n, text in enumerate((PASSES, PASSES, *tests)):
            (self.path / f"test_{n}.py").write_text(text.replace("{n}", str(n)))
        (self.path / "conftest.py").write_text(conftest)
        makefile = (ROOT / "Makefile").read_text()
        rules = re.search(r"^define test_with\n.*?^endef\n", makefile, re.DOTALL | re.MULTILINE)
        assert rules
        (self.path / "Makefile").write_text(
            "VENV := .venv\nBIN := .venv/bin\nSHARED := -n 2 --dist loadfile\n"
            f"{rules[0]}\n.PHONY: test check test-js\n"
            f'test:\n\t{environment or ":"}\n\t$(call test_with,-m "not slow and not hosts")\n'
            f"check:\n\t{checks}\ntest-js:\n"
        )
        done = subprocess.run(
            [self.path / ".ci" / "run"],
            capture_output=True,
            text=True,
            check=False,
            env={k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "MAKE"))},
        )
        return Ran(done.returncode, done.stdout + done.stderr)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    if not shutil.which("make"):
        pytest.skip("no make here")
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -B "$@"\n')
    python.chmod(0o755)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  slow: s\n  hosts: h\n")
    return Checkout(tmp_path)


def test_passing_run_ends_with_pytest_summary(checkout: Checkout) -> None:
    ran = checkout.run()
    assert ran.code == 0
    assert re.fullmatch(r"=+ 2 passed in [\d.]+s =+", ran.last)
    assert not ran.flaky


def test_three_flaky_tests_are_reported_and_accepted(checkout: Checkout) -> None:
    ran = checkout.run(FLAKY, FLAKY, FLAKY_FIXTURE)
    assert ran.code == 0
    assert ran.flaky == [
        "test_2.py::test_flaky_2",
        "test_3.py::test_flaky_3",
        "test_4.py::test_shown_4",
    ]
    assert re.search(r"^=+ 3 passed in", ran.text, re.MULTILINE), "the others ran again"
    assert ran.last == "5 passed, 0 failed"


@pytest.mark.parametrize(
    ("tests", "last"),
    [
        ((FLAKY, FAILS), "3 passed, 1 failed"),
        ((SKIPS_ALONE,), "2 passed, 1 failed"),
    ],
    ids=["one of two fails again", "skips alone"],
)
def test_run_with_test_not_passing_alone_is_refused(
    checkout: Checkout, tests: tuple[str, ...], last: str
) -> None:
    ran = checkout.run(*tests)
    assert ran.code
    assert ran.last == last


@pytest.mark.parametrize(
    ("tests", "conftest", "told"),
    [
        ((FLAKY, FLAKY, FLAKY, FLAKY), "", "4 tests failed, and at most 3 are tried alone"),
        ((NO_IMPORT,), "", "test_2.py was not collected"),
        ((), BREAKS, "pytest failed without a test that did"),
    ],
    ids=["four", "a file", "pytest itself"],
)
def test_failures_that_cannot_be_retried_alone_fail_the_run(
    checkout: Checkout, tests: tuple[str, ...], conftest: str, told: str
) -> None:
    ran = checkout.run(*tests, conftest=conftest)
    assert ran.code
    assert told in ran.text
    assert not ran.flaky
    assert re.search(r"\d+ passed", ran.last)


@pytest.mark.parametrize("tests", [(), (FLAKY,)])
def test_failed_checks_are_refused_despite_pytest_result(
    checkout: Checkout, tests: tuple[str, ...]
) -> None:
    ran = checkout.run(*tests, checks="echo found a fault; false")
    assert ran.code
    assert "found a fault" in ran.text
    assert "refused: linters, types or vitest failed" in ran.text
    assert not ran.flaky


def test_make_ending_early_is_refused_despite_earlier_results(checkout: Checkout) -> None:
    checkout.run(FLAKY)
    ran = checkout.run(environment="false")
    assert ran.code
    assert "refused: make ended before the tests did" in ran.text
    assert ran.last == "0 passed, 0 failed"

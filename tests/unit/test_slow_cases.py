"""The table of slow cases names tests that exist."""

import re
from pathlib import Path

from tests.conftest import slow_cases

TESTS = Path(__file__).parents[1]


def test_slow_case_table_names_existing_tests() -> None:
    gone = [
        f"{path}::{name}"
        for path, names in slow_cases().items()
        for name in names
        if not (TESTS / path).exists()
        or not re.search(rf"^\s*def {name}\(", (TESTS / path).read_text("utf-8"), re.MULTILINE)
    ]
    assert not gone

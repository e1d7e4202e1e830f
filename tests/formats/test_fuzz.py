"""A minute of mutants of every real file; ``python -m tests.make.fuzz`` takes as many as asked."""

from __future__ import annotations

import os
import time

import pytest

from tests.make.fuzz import fuzz, input_of
from tests.make.fuzz_seeds import seeds

SECONDS = 60


@pytest.mark.slow
def test_a_minute_of_mutants_shows_no_fault() -> None:
    """Other mutants every day; a fault names its number, which shows it again."""
    day = int(time.time()) // 86_400
    found = fuzz(10**9, first=day * 10**6, seconds=SECONDS, jobs=os.cpu_count())
    assert found.faults == []
    assert found.opened
    assert found.used


def test_an_input_is_the_same_whenever_it_is_made() -> None:
    files = seeds()
    assert {each.kind for each in files} >= {"dump", "graph JSON", "params file", "Chrome trace"}
    for number in (0, 1, 2**40):
        assert input_of(number, files) == input_of(number, files)

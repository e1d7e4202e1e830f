"""Numbers and lines of text that both languages write: Python's, as they are recorded."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.make import lines, numbers


@pytest.mark.parametrize(
    ("path", "made"), [(numbers.PATH, numbers.texts), (lines.PATH, lines.lines)]
)
def test_texts_are_those_that_the_views_are_held_to(path: Path, made: Callable[[], Any]) -> None:
    assert json.loads(json.dumps(made())) == json.loads(path.read_text("utf-8"))

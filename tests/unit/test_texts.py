"""Numbers that both languages write: Python's, as they are recorded."""

from __future__ import annotations

import json

from tests.make import numbers


def test_texts_are_those_that_the_views_are_held_to() -> None:
    assert json.loads(json.dumps(numbers.texts())) == json.loads(numbers.PATH.read_text("utf-8"))

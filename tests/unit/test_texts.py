"""Numbers that both languages write: Python's, as they are recorded."""

import json

from tests.make import numbers


def test_number_texts_match_recorded_file() -> None:
    assert json.loads(json.dumps(numbers.texts())) == json.loads(numbers.PATH.read_text("utf-8"))

"""Questions from the page, honest and hostile."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets.answers.answers import answer
from tvmdbg_widgets.answers.messages import Question, message_id
from tvmdbg_widgets.run import DebugRun

KINDS = ["summary", "graph", "timeline", "tensors", "node", "tensor", "values", "statistics"]
KINDS += ["percentiles", "profile", "channels", "data", "health", "cancelTensor"]
FIELDS = ["node", "entry", "axes", "index", "rows", "cols", "row", "col", "reading", "layout"]
FIELDS += ["sizes", "part", "exact", "format", "scale", "zeroPoint", "percents", "axis", "points"]
FIELDS += ["first", "count"]

plain = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-3, 80)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["packed", "bytes", "__class__", "NCHW", "OIHW2i2o", "hex", "dequantised"])
)
anything = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(anything)
def test_integer_is_in_range_or_an_error(value: Any) -> None:
    question = Question({"kind": "node", "node": value})
    try:
        found = question.integer("node", 0, 100)
    except ValueError as problem:
        assert "node" in str(problem)  # noqa: PT017 (most values are errors, some are not)
    else:
        assert type(found) is int
        assert found == value
        assert 0 <= found <= 100


@given(anything, st.integers(0, 4))
def test_integers_are_a_list_of_ids_or_an_error(value: Any, length: int) -> None:
    question = Question({"kind": "tensor", "index": value})
    try:
        found = question.integers("index", length)
    except ValueError as problem:
        assert "index" in str(problem)  # noqa: PT017 (most values are errors, some are not)
    else:
        assert (found, len(found)) == (list(value), length)
        assert all(type(each) is int and each >= 0 for each in found)


@given(anything)
def test_axes_are_a_pair_or_an_error(value: Any) -> None:
    try:
        found = Question({"kind": "tensor", "axes": value}).axes("axes")
    except ValueError as problem:
        assert "axes" in str(problem)  # noqa: PT017 (most values are errors, some are not)
    else:
        assert list(found) == list(value)


@given(anything)
def test_a_number_is_finite_or_an_error(value: Any) -> None:
    question = Question({"kind": "values", "scale": value, "percents": [value]})
    for found in (lambda: question.number("scale"), lambda: question.numbers("percents", 0, 9, 3)):
        try:
            number = found()
        except ValueError as problem:
            assert str(problem)  # noqa: PT017 (most values are errors, some are not)
        else:
            assert np.isfinite(number).all()


@given(anything)
def test_sizes_are_whole_numbers_by_letter_or_an_error(value: Any) -> None:
    try:
        found = Question({"kind": "tensor", "sizes": value}).sizes("sizes")
    except ValueError as problem:
        assert "sizes" in str(problem)  # noqa: PT017 (most values are errors, some are not)
    else:
        assert found == (value or {})
        assert all(len(letter) == 1 and size >= 1 for letter, size in found.items())


@given(anything)
def test_only_a_mapping_with_a_kind_is_a_question(message: Any) -> None:
    is_question = isinstance(message, dict) and isinstance(message.get("kind"), str)
    try:
        Question(message)
    except ValueError:
        assert not is_question
    else:
        assert is_question
    assert message_id(message) is None or message_id(message) == message["id"]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308, 2**70, -1, 0.5, True, "7", [7]])
def test_numbers_that_are_not_ids_are_refused(value: Any) -> None:
    with pytest.raises(ValueError):
        Question({"kind": "node", "node": value}).integer("node")


def test_a_long_id_or_client_is_not_kept() -> None:
    question = Question({"kind": "node", "id": "x" * 201, "client": "y" * 201})
    assert question.id is None
    assert question.client == ""
    assert len(Question({"kind": "k" * 10_000}).kind) == 200


@given(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(FIELDS), anything))
def test_a_hostile_question_is_answered_or_refused(
    run: DebugRun, kind: str, fields: dict[str, Any]
) -> None:
    honest: dict[str, Any] = {"entry": [4, 0], "axes": [0, 1], "index": [0] * 4, "rows": 4}
    honest |= {"cols": 4, "row": 0, "col": 0, "axis": 2, "points": 4, "first": 0, "count": 2}
    honest |= {"percents": [1, 50], "scale": 1, "zeroPoint": 0}
    for question in (fields, {**honest, **fields}):
        try:
            reply = answer(run.facts, {**question, "kind": kind})
        except (ValueError, LookupError) as problem:
            assert str(problem)  # noqa: PT017 (likewise)
        else:
            json.dumps(reply.result, allow_nan=False)

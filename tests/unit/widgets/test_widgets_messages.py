"""Questions and traits from the page, honest and hostile."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import traitlets
from hypothesis import given
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tests.unit.findings.findings_dump import Op, plant
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
    | st.sampled_from(["packed", "bytes", "__class__", "NCHW", "OIHW2i2o", "hex", "dequantized"])
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


BEYOND = 10**400  # no float64
HOSTILE: tuple[Any, ...] = (
    *(None, True, -1, 10**30, BEYOND, 1.5, float("nan"), float("inf")),
    *("", "x", "\0", "IPY_MODEL_nothing", "anywidget:nothing"),
    *([], [None], [[]], [1, 2], [-1, -1], [BEYOND, BEYOND], [0] * 100_000, ["a"] * 9),
    *({}, {"a": 1}, {"kind": "x"}, {"C": 10**30}, {"node": 0, "dx": BEYOND}, {"": None}),
    *({"steps": [None]}, {"steps": 5, "at": 0}, {"steps": [{"isolate": 3}], "at": 0}),
    {"a": {"focus": {}, "color_by": []}},
)
OF_HOSTS = ("layout", "tabbable", "tooltip")


def made() -> DebugRun:
    values = np.arange(64, dtype=np.float32).reshape(8, 8)
    return plant(Op("data", values), Op("conv", values, "fused_nn_conv2d", [(0, 0)], ns=[5000]))


MADE: dict[str, Callable[[], Any]] = {
    "Debugger": lambda: tvmdbg.Debugger(made()),
    "GraphView": lambda: tvmdbg.GraphView(made()),
    "TensorInspector": lambda: tvmdbg.TensorInspector(made()),
    "Flamechart": lambda: tvmdbg.Flamechart(made()),
    "MemoryView": lambda: tvmdbg.MemoryView(made()),
    "ComparisonView": lambda: tvmdbg.ComparisonView(made(), made()),
}


def display(view: Any) -> None:
    assert json.dumps(view._repr_mimebundle_()[0]["text/plain"])


@pytest.mark.parametrize("kind", [*MADE, "Session", "RunModel"])
def test_values_set_by_a_page_can_be_displayed(kind: str) -> None:
    view = MADE.get(kind, MADE["Debugger"])()
    widget = {"Session": view.session, "RunModel": view.run}.get(kind, view)
    foreign = tvmdbg.GraphView(made())
    parts = (tvmdbg.GraphView, tvmdbg.TensorInspector, tvmdbg.Flamechart)
    tried = {name for part in parts for name in part.class_trait_names(sync=True)}
    for name in sorted({*widget.keys} - (tried if kind == "Debugger" else set())):
        before = getattr(widget, name)
        for value in (*HOSTILE, f"anywidget:{foreign.model_id}", f"IPY_MODEL_{foreign.model_id}"):
            try:
                widget.set_state({name: value})
            except traitlets.TraitError:
                continue
            if getattr(widget, name) is not before:
                display(view)
                widget.set_trait(name, before)


@pytest.mark.parametrize("kind", [*MADE, "Session", "RunModel"])
def test_page_cannot_set_models_code_or_host_traits(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = MADE.get(kind, MADE["Debugger"])()
    widget = {"Session": view.session, "RunModel": view.run}.get(kind, view)
    own = {name: getattr(widget, name) for name in widget.keys if name.startswith("_")}
    own |= {name: getattr(widget, name) for name in OF_HOSTS if name in widget.keys}
    own.pop("_color_paused", None)
    models = ("run", "session", "run_b", "session_b", "title", "content_hash")
    own |= {name: getattr(widget, name) for name in models if name in widget.keys}
    sent: list[str] = []
    monkeypatch.setattr(widget, "send_state", sent.extend)
    for value in (None, "evil", {}):
        sent.clear()
        widget.set_state(dict.fromkeys(own, value))
        assert {name: getattr(widget, name) for name in own} == own
        assert set(sent) == set(own), "the page is told what they are"


def test_valid_traits_from_page_are_set_despite_invalid_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    view = tvmdbg.GraphView(made())
    view.set_state({"session": None, "hops": 2, "_color_paused": True})
    assert (view.hops, view._color_paused) == (2, True)
    view.session.set_state({"selected": [1], "entry": [1, 0], "run": None})
    assert view.session.tensor.name == "conv"
    sent: list[str] = []
    monkeypatch.setattr(view, "send_state", sent.extend)
    with pytest.raises(traitlets.TraitError):
        view.set_state({"hops": -1})
    assert (view.hops, sent) == (2, ["hops"])


def test_python_cannot_replace_or_remove_the_models() -> None:
    view, other = tvmdbg.GraphView(made()), tvmdbg.GraphView(made())
    for name, value in (("session", None), ("session", other), ("run", None), ("run", other.run)):
        with pytest.raises(traitlets.TraitError, match=name):
            setattr(view, name, value)
    view.session = other.session
    display(view)
    pair = tvmdbg.ComparisonView(made(), made())
    for name in ("session_b", "run_b"):
        with pytest.raises(traitlets.TraitError, match=name):
            setattr(pair, name, None)
    with pytest.raises(traitlets.TraitError, match="session must be a Session, not NoneType"):
        tvmdbg.GraphView(made()).session = None

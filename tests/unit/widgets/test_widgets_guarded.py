"""Whatever a page sets, a widget takes nothing that Python's display cannot show."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import traitlets

import tvmdbg_widgets as tvmdbg
from tests.unit.findings.findings_dump import Op, plant
from tvmdbg_widgets.run import DebugRun

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

"""Titles of delegates' calls, the same in every view."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.executorch.etdump import CALL, ETDump, backend_title, named
from tvmdbg_widgets.model.executorch.event_nodes import EventNodes

Instruction = tuple[int, int]


def call_titles(backends: Mapping[Instruction, str]) -> dict[Instruction, str]:
    """Return ``"XNNPACK call 1 of 2"`` by instruction; the only one of a backend has no number."""
    by_backend: dict[str, list[Instruction]] = defaultdict(list)
    for at in sorted(backends):
        by_backend[backend_title(backends[at])].append(at)
    return {
        at: f"{backend} call" + (f" {number} of {len(places)}" if len(places) > 1 else "")
        for backend, places in by_backend.items()
        for number, at in enumerate(places, 1)
    }


def recorded_titles(dump: ETDump, nodes: EventNodes, method: str = "") -> dict[Instruction, str]:
    """Return the titles of a method's calls, by its program and its dump; "" is the open method."""
    events = np.flatnonzero(named(dump, CALL)).tolist()
    ran = [dump.place(event) for event in events if nodes.elsewhere.get(event, "") == method]
    known = () if method else (*nodes.backends, *nodes.calls)
    return call_titles({at: nodes.backends.get(at, "") for at in (*known, *ran)})


def with_operators(title: str, count: int) -> str:
    """Return ``"XNNPACK call 1 of 2 · 20 operators"``; one operator is not counted."""
    return f"{title} · {counted(count, 'operator')}" if count > 1 else title

"""Ids of a Chrome trace as text: what tells its intervals, flows and counters from others."""

from __future__ import annotations

import json
from typing import Any

from tvmdbg_widgets.formats.chrome.event import ChromeEvent

_LONGEST_ID = 64


def plain(value: Any) -> str:
    """Return an id as JSON, "" where there is none."""
    return "" if value is None else _dumped(value)


def bind_id(value: Any) -> str:
    """Return an id; as number or as text, hexadecimal or not, it is one."""
    if type(value) is not str:
        return plain(value)
    try:
        return str(int(value, 0)) if len(value) <= _LONGEST_ID else _dumped(value)
    except ValueError:
        return _dumped(value)


def identity(event: ChromeEvent) -> str:
    """Return what the events of one interval or flow share: scope, id, and whose id it is."""
    local = event.id2
    if isinstance(local, dict) and "local" in local:
        return _dumped([event.scope, event.pid, local["local"]])
    if isinstance(local, dict):
        return _dumped([event.scope, local.get("global")])
    return _dumped([event.scope, event.id])


def _dumped(value: Any) -> str:
    try:
        return json.dumps(value, sort_keys=True, default=str)
    except RecursionError:  # it was just not too deep to be parsed
        return "…"

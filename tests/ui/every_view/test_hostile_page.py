"""Names from a file never run: not in a box, a list, a table, a tooltip, a title or an error."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import tvmdbg_widgets as tvmdbg
from tests.ui.host import serve, visit
from tests.ui.waits import painted

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.ui

ATTACK = '"><img src=x onerror="window.ran=1"><script>window.ran=1</script>${window.ran=1}'


def hostile_run() -> tvmdbg.DebugRun:
    """A graph whose every text is an attack, and the trace of it."""
    attrs = {"func_name": ATTACK, "num_inputs": "1", "num_outputs": "1", "flatten_data": "0"}
    graph = {
        "nodes": [
            {"op": "null", "name": ATTACK + " in", "inputs": []},
            {
                "op": "tvm_op",
                "name": ATTACK,
                "inputs": [[0, 0, 0]],
                "attrs": attrs | {ATTACK: ATTACK},
            },
        ],
        "arg_nodes": [0],
        "heads": [[1, 0, 0]],
        "node_row_ptr": [0, 1, 2],
        "attrs": {
            "shape": ["list_shape", [[2], [2]]],
            "dltype": ["list_str", [ATTACK, ATTACK]],
            "storage_id": ["list_int", [0, 1]],
        },
    }
    events = [
        {"ts": float(i), "tid": 1, "pid": 1, "name": ATTACK + " in" * (i < 2), "ph": "BE"[i % 2]}
        for i in range(4)
    ]
    trace = {"displayTimeUnit": "ns", "traceEvents": events}
    return tvmdbg.open(json.dumps(graph).encode(), json.dumps(trace).encode())


def test_no_name_runs_anywhere(page: Page) -> None:
    with serve(hostile_run()) as address:
        visit(page, f"{address}?views=debugger&width=1400")
        painted(page)
        page.evaluate("tvmdbg.models.session.set('selected', [1])")
        page.evaluate("text => tvmdbg.models.session.set('notes', { 1: text })", ATTACK)
        for view in ("findings", "graph"):
            page.locator(f".tvmdbg-{view}").focus()
            for key in ("d", "d", "s", "?", "Escape", "]", "Enter", "ArrowRight", "y"):
                page.keyboard.press(key)
        page.keyboard.press("Escape")
        page.keyboard.press("/")
        page.keyboard.type("script")
        for button in page.get_by_role("button").all():
            if button.is_visible() and button.is_enabled():
                button.click()
        page.mouse.move(300, 300)
        assert page.evaluate("window.ran") is None
        assert page.locator("img, script[src=x]").count() == 0
        assert page.get_by_text("onerror").count() > 0

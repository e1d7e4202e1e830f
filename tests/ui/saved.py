"""What tests of saved pages share: when one is ready, its selection, runs made for them."""

from typing import Any

from playwright.sync_api import Frame, Page

import tvmdbg_widgets as tvmdbg
from tests.graph_json import chain

READY = """() => document.documentElement.dataset.started === "true"
  && [...document.querySelectorAll("#tvmdbg-views .tvmdbg:not(.tvmdbg-debugger)")]
    .every(each => each.dataset.ready === "true" || each.closest("[hidden]"))"""
ATTACK = "</script></title><img src=x onerror=window.ran=1>\u2028\udc80\"'&amp;${window.ran=1}"


def select(page: Page | Frame, node: int) -> None:
    """Select a node as another view would."""
    page.evaluate(
        """node => {
          const { session } = tvmdbgPage.models;
          session.set("selected", [node]);
          session.set("entry", [node, 0]);
          session.set("source", "test");
        }""",
        node,
    )


def selected(page: Page | Frame, name: str = "selected") -> Any:
    """What the session of a page holds."""
    return page.evaluate("name => tvmdbgPage.models.session.get(name)", name)


def settle(page: Page | Frame) -> None:
    """Until what was asked for is drawn."""
    page.evaluate(
        "() => new Promise(done => setTimeout(() => requestAnimationFrame(() => "
        "requestAnimationFrame(done)), 50))"
    )


def graph_run(names: list[str], func_name: str = "fused_add") -> tvmdbg.DebugRun:
    """A chain: one input, then an operator for each further name."""
    return tvmdbg.open(chain(names, func_name, shapes=[2]))


def long_run(count: int) -> tvmdbg.DebugRun:
    """A graph large enough to be laid out by a worker."""
    return graph_run([f"n{i}" for i in range(count)])


def hostile_run() -> tvmdbg.DebugRun:
    """A graph whose every text is an attack."""
    return graph_run([f"{ATTACK} in", ATTACK], ATTACK)

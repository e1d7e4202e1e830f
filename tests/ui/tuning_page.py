"""A page with the view of a tuning log whose questions are answered by the real Python code."""

import base64
from typing import Any

from playwright.sync_api import Locator, Page

from tests.ui.pointer import box_of
from tvmdbg_widgets.answers.messages import message_id
from tvmdbg_widgets.answers.tuning import TuningAnswers
from tvmdbg_widgets.engine import STATIC
from tvmdbg_widgets.tuning import TuningLog

from .waits import INSPECT, frames, inspected

_SHOW = """async ([state, width]) => {
  const element = document.createElement("div");
  element.style.width = `${width}px`;
  document.body.append(element);
  const ask = async (message, model) => {
    const { content, buffers } = await askPython(message);
    const views = buffers.map((text) => {
      const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
      return new DataView(bytes.buffer);
    });
    return { content, buffers: views };
  };
  window.started = await tvmdbgPage.start({
    models: { log: { content: 0 }, view: { ...state, log: "anywidget:log", session: null } },
    views: [{ view: "tuning", model: "view", element }],
    ask,
  });
}"""
_DEFAULTS: dict[str, Any] = {
    "task": None,
    "trial": None,
    "along": "trial",
    "trial_range": None,
    "query": "",
    "pane": "schedule",
    "sort": "time",
    "height": 680,
}


class TuningPage:
    """The view in a page."""

    def __init__(self, page: Page, log: TuningLog, width: int = 980, **state: Any) -> None:
        self.log = log
        self._page = page
        page.set_content('<!doctype html><html lang="en"><title>tuning</title><body></body></html>')
        page.expose_function("askPython", self._ask)
        page.add_script_tag(content=(STATIC / "page_tuning.js").read_text("utf-8"))
        page.add_style_tag(content=(STATIC / "page_tuning.css").read_text("utf-8"))
        page.evaluate(_SHOW, [_DEFAULTS | state, width])
        page.wait_for_selector(".tvmdbg-tuning[data-ready]")
        frames(page)

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        content: dict[str, Any] = {"id": message_id(message)}
        try:
            reply = TuningAnswers(self.log.facts).answer(message)
        except (ValueError, LookupError) as problem:
            return {"content": content | {"error": str(problem)}, "buffers": []}
        buffers = [base64.b64encode(each).decode() for each in reply.buffers]
        return {"content": content | {"result": reply.result}, "buffers": buffers}

    @property
    def root(self) -> Locator:
        """The view."""
        return self._page.locator(".tvmdbg-tuning")

    def told(self) -> dict[str, Any]:
        """Return what the view tells of its stage."""
        frames(self._page)
        return inspected(self.root)

    def state(self, name: str) -> Any:
        """Return a trait as the view left it."""
        return self._page.evaluate("(name) => started.models.view.get(name)", name)

    def set(self, model: str, name: str, value: Any) -> None:
        """Set a trait as Python does."""
        script = "([model, name, value]) => started.models[model].set(name, value)"
        self._page.evaluate(script, [model, name, value])

    def press(self, *keys: str) -> None:
        """Type keys into the view."""
        self.root.focus()
        for key in keys:
            self._page.keyboard.press(key)
        frames(self._page)

    def place(self, trial: int) -> tuple[float, float]:
        """Return where a trial is drawn, in pixels of the page."""
        frames(self._page)
        script = f"(root, trial) => ({INSPECT})(root).place(trial)"
        x, y = self.root.evaluate(script, trial)
        box = box_of(self._page.locator(".tvmdbg-tuning-base"))
        return box["x"] + x, box["y"] + y

// @vitest-environment happy-dom
import { describe, expect, test } from "vitest";
import { div } from "../../src/shell/dom.ts";
import { Toolbar, type ToolbarMenu, tool } from "../../src/shell/toolbar.ts";

const { signal } = new AbortController();

function bar(menu: ToolbarMenu | null) {
  const state = { on: false, hidden: false };
  const link = tool(["l"], "link", "link the cameras", () => (state.on = !state.on), {
    isOn: () => state.on,
    isHidden: () => state.hidden,
  });
  const toolbar = new Toolbar(div("tvmdbg"), "test", [link], menu, signal);
  return { toolbar, state, button: toolbar.nodeOf(link) };
}

describe("Toolbar", () => {
  test("shows what is on and hidden, with the key in the title", () => {
    const { toolbar, state, button } = bar(null);
    expect(button.title).toBe("link the cameras (l)");
    button.click();
    toolbar.refresh();
    expect(button.getAttribute("aria-pressed")).toBe("true");
    state.hidden = true;
    toolbar.refresh();
    expect(button.hidden).toBe(true);
  });

  test("has its keys in the menu, if there is one", () => {
    const help = "[title='keys (?)']";
    expect(bar(null).toolbar.node.querySelector(".tvmdbg-more")).toBeNull();
    expect(bar(null).toolbar.node.querySelector(`:scope > ${help}`)).not.toBeNull();
    expect(bar({}).toolbar.node.querySelector(`.tvmdbg-more ${help}`)).not.toBeNull();
  });
});

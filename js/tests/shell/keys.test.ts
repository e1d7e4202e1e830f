// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from "vitest";
import { bindKeys, runKey } from "../../src/shell/keys.ts";

const press = (target: Element, key: string, more: KeyboardEventInit = {}) => {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more });
  target.dispatchEvent(event);
  return event;
};

describe("keys of a view", () => {
  const [slowest, left] = [vi.fn(), vi.fn()];
  let root: HTMLElement;
  let ends: AbortController;

  beforeEach(() => {
    vi.resetAllMocks();
    root = document.createElement("div");
    ends = new AbortController();
    bindKeys(
      root,
      [
        { keys: ["s"], does: "go to the slowest node", run: slowest },
        { keys: ["ArrowLeft"], does: "left", run: left },
      ],
      ends.signal,
    );
  });

  it("close the focused help on Escape and return focus to the view", () => {
    document.body.append(root);
    const help = root.querySelector<HTMLElement>(".tvmdbg-help")!;
    press(root, "?");
    expect([help.hidden, help.tabIndex]).toEqual([false, 0]);
    help.focus();
    press(help, "Escape");
    expect([help.hidden, document.activeElement]).toEqual([true, root]);
    root.remove();
  });

  it("ignore case and do not bubble when handled", () => {
    const outside = vi.fn();
    const parent = document.createElement("div");
    parent.append(root);
    parent.addEventListener("keydown", outside);
    expect(press(root, "S").defaultPrevented).toBe(true);
    press(root, "ArrowLeft");
    expect([slowest.mock.calls.length, left.mock.calls.length]).toEqual([1, 1]);
    expect(outside).not.toHaveBeenCalled();
    expect(press(root, "q").defaultPrevented).toBe(false);
    expect(outside).toHaveBeenCalledTimes(1);
  });

  it("run by name, with Shift for a letter in upper case", () => {
    const shifted = () => slowest.mock.lastCall?.[0].shiftKey;
    expect([runKey(root, "s"), shifted()]).toEqual([true, false]);
    expect([runKey(root, "S"), shifted()]).toEqual([true, true]);
    expect(runKey(root, "q")).toBe(false);
  });

  it("leave fields and the browser's own shortcuts alone", () => {
    const field = document.createElement("input");
    root.append(field);
    press(field, "s");
    for (const held of ["ctrlKey", "altKey", "metaKey"]) press(root, "s", { [held]: true });
    expect(slowest).not.toHaveBeenCalled();
  });

  it("suppress notebook shortcuts, and stop working when the view closes", () => {
    expect(root.tabIndex).toBe(0);
    expect(root.hasAttribute("data-lm-suppress-shortcuts")).toBe(true);
    ends.abort();
    press(root, "s");
    expect(slowest).not.toHaveBeenCalled();
  });

  it("are listed on ? and hidden again on Escape", () => {
    const help = root.querySelector<HTMLElement>('[role="note"]')!;
    expect(help.hidden).toBe(true);
    press(root, "?");
    expect(help.hidden).toBe(false);
    expect(help.textContent).toContain("slowest node");
    expect(help.textContent).toContain("←");
    press(root, "Escape");
    expect(help.hidden).toBe(true);
  });
});

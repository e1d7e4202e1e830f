// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from "vitest";
import { bindKeys } from "../../src/shared/ui/keys.ts";

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

  it("leave the list of keys, where one may scroll it, by Escape", () => {
    document.body.append(root);
    const help = root.querySelector<HTMLElement>(".tvmdbg-help")!;
    press(root, "?");
    expect([help.hidden, help.tabIndex]).toEqual([false, 0]);
    help.focus();
    press(help, "Escape");
    expect([help.hidden, document.activeElement]).toEqual([true, root]);
    root.remove();
  });

  it("act on the root, in either case, and go no further", () => {
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

  it("leave fields and the browser's own shortcuts alone", () => {
    const field = document.createElement("input");
    root.append(field);
    press(field, "s");
    for (const held of ["ctrlKey", "altKey", "metaKey"]) press(root, "s", { [held]: true });
    expect(slowest).not.toHaveBeenCalled();
  });

  it("keep the notebook's shortcuts off, and end with the view", () => {
    expect(root.tabIndex).toBe(0);
    expect(root.hasAttribute("data-lm-suppress-shortcuts")).toBe(true);
    ends.abort();
    press(root, "s");
    expect(slowest).not.toHaveBeenCalled();
  });

  it("are listed on ?, and the list goes on Escape", () => {
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

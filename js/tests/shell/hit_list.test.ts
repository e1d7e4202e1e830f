// @vitest-environment happy-dom
import { beforeEach, describe, expect, it } from "vitest";
import { element } from "../../src/shell/dom.ts";
import { HitList, LISTED } from "../../src/shell/hit_list.ts";

const hits = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    label: "conv2d + add + relu",
    id: `#${i}`,
    kind: "convolution",
    value: `${i} ms`,
  }));

describe("the list of hits", () => {
  let field: HTMLInputElement;
  let list: HitList;
  let gone: number[];

  beforeEach(() => {
    gone = [];
    field = element("input", { type: "search" });
    list = new HitList(field, "slices found", (index) => gone.push(index));
    document.body.replaceChildren(field, list.node);
  });

  const rows = () => [...list.node.querySelectorAll<HTMLElement>('[role="option"]')];
  const press = (key: string) => list.key(new KeyboardEvent("keydown", { key }));
  const meant = () => {
    const id = field.getAttribute("aria-activedescendant");
    return id ? rows().findIndex((row) => row.id === id) : -1;
  };

  it("lists the first of many hits and counts the rest", () => {
    list.show(hits(60), 1234);
    expect(rows()).toHaveLength(LISTED);
    expect(rows()[2]!.textContent).toBe("#2 conv2d + add + reluconvolution2\u00a0ms");
    expect(list.node.textContent).toContain("and 1,184 more");
    list.show(hits(3));
    expect(list.node.querySelector(".tvmdbg-hits-more")!.textContent).toBe("");
  });

  it("sets its state and active row on the field", () => {
    expect(field.getAttribute("role")).toBe("combobox");
    list.show(hits(3));
    expect(field.getAttribute("aria-expanded")).toBe("true");
    expect(meant()).toBe(-1);
    press("ArrowDown");
    press("ArrowDown");
    expect(meant()).toBe(1);
    expect(rows().map((row) => row.getAttribute("aria-selected"))).toEqual([
      "false",
      "true",
      "false",
    ]);
    list.hide();
    expect(field.getAttribute("aria-expanded")).toBe("false");
    expect(meant()).toBe(-1);
  });

  it("keeps the field's active row in another list until a key is pressed", () => {
    field.setAttribute("aria-activedescendant", "suggestion-1");
    list.show(hits(3));
    list.show([]);
    expect(field.getAttribute("aria-activedescendant")).toBe("suggestion-1");
    list.show(hits(3));
    press("ArrowDown");
    expect(meant()).toBe(0);
  });

  it("wraps around by arrow keys and stops at the end by PageDown", () => {
    list.show(hits(15));
    press("ArrowUp");
    expect(list.active).toBe(14);
    press("ArrowDown");
    expect(list.active).toBe(0);
    press("PageDown");
    expect(list.active).toBe(10);
    press("PageDown");
    expect(list.active).toBe(14);
  });

  it("goes to a hit on Enter or click, and ignores other keys", () => {
    list.show(hits(3));
    expect(press("Enter")).toBe(false);
    expect(press("Escape")).toBe(false);
    press("ArrowDown");
    expect(press("Enter")).toBe(true);
    rows()[2]!.click();
    expect(gone).toEqual([0, 2]);
    list.show([]);
    expect(list.node.hidden).toBe(true);
    expect(press("ArrowDown")).toBe(false);
  });
});

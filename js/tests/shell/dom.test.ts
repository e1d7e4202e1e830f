// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import { element, keepChildren } from "../../src/shell/dom.ts";

describe("keepChildren", () => {
  const [a, b, c, d] = ["a", "b", "c", "d"].map((each) => element("span", {}, each));
  const cases = [[a, c], [a, b, c], [b, c, d], [d, a], [], [c]] as HTMLElement[][];

  it("keeps the given children, in their order", () => {
    const node = element("div", {}, "text");
    for (const children of cases) {
      keepChildren(node, ...children);
      expect([...node.childNodes]).toEqual(children);
    }
  });

  it("does not move a child that stays", async () => {
    const node = element("div", {}, a!, c!);
    const moved: Node[] = [];
    const observer = new MutationObserver((records) => {
      for (const { addedNodes, removedNodes } of records)
        moved.push(...addedNodes, ...removedNodes);
    });
    observer.observe(node, { childList: true });
    keepChildren(node, a!, b!, c!);
    keepChildren(node, b!, c!, d!);
    await Promise.resolve();
    moved.push(...observer.takeRecords().flatMap((each) => [...each.addedNodes]));
    observer.disconnect();
    expect(moved).not.toContain(c);
  });
});

import { describe, expect, it } from "vitest";
import { changes, type History, leaving, pushed, resolved } from "../../src/graph/options.ts";

const look = (more: object) => ({
  isolate: null,
  hidden: [],
  direction: "down",
  selected: [],
  ...more,
});
const camera = (node: number) => ({ node, dx: 0, dy: 0, scale: 1 });

describe("the history of a view", () => {
  const first = look({});
  const second = look({ hidden: ["kind=input"] });
  const third = look({ hidden: ["kind=input"], selected: [4] });
  const history = pushed(pushed({}, first, second), second, third);

  it("stores each step as its difference from the previous one", () => {
    expect(history).toEqual({
      steps: [
        first,
        { hidden: ["kind=input"], camera: null, selected: [] },
        { camera: null, selected: [4] },
      ],
      at: 2,
    });
    expect(resolved(history, 1)).toEqual({ ...second, camera: null });
    expect(resolved(history, 2)).toEqual({ ...third, camera: null });
  });

  it("keeps the last camera position of a step", () => {
    const left = leaving({ ...history, at: 1 }, { camera: camera(7), selected: [] });
    expect(resolved(left, 1).camera).toEqual(camera(7));
    expect(resolved(left, 2).camera).toBeNull();
    expect(left.at).toBe(1);
  });

  it("forgets undone steps once a new one is taken", () => {
    const other = pushed({ ...history, at: 1 }, second, look({ direction: "right" }));
    expect(other.at).toBe(2);
    expect(resolved(other, 2)).toMatchObject({ hidden: [], direction: "right" });
  });

  it("replaces the previous step on request, but never the first", () => {
    const walked = pushed(history, third, look({ hidden: ["kind=input"], selected: [5] }), true);
    expect(walked.at).toBe(2);
    expect(resolved(walked, 2).selected).toEqual([5]);
    const started = pushed({}, first, look({ selected: [5] }), true);
    expect(started.steps!.length).toBe(2);
  });

  it("keeps only the last fifty steps, the first one complete", () => {
    let long: History = {};
    for (let node = 0; node < 80; node++) {
      long = pushed(long, look({ selected: [node] }), look({ selected: [node + 1] }));
    }
    expect([long.steps!.length, long.at]).toEqual([50, 49]);
    expect(resolved(long, 0)).toEqual({ ...look({ selected: [31] }), camera: null });
    expect(resolved(long, 49).selected).toEqual([80]);
  });

  it("ignores changes of camera and selection", () => {
    expect(changes(first, look({ selected: [1], camera: camera(1) }))).toEqual({});
    expect(changes(first, second)).toEqual({ hidden: ["kind=input"] });
  });
});

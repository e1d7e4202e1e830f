import { describe, expect, it } from "vitest";
import { placeBeside } from "../../src/shell/tooltip.ts";

const ROOM = { width: 1280, height: 720 };

/** Repeatable numbers from 0 up to `most`. */
function numbers(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state / 2 ** 32) * most;
  };
}

describe("the place of a tooltip", () => {
  it("is in the window, and not over the target, for 2,000 targets", () => {
    const next = numbers(7);
    for (let i = 0; i < 2000; i++) {
      const size = { width: 60 + next(340), height: 24 + next(40) };
      const target = { x: next(1200), y: next(690), width: 4 + next(700), height: 4 + next(300) };
      const at = { x: target.x + next(target.width), y: target.y + next(target.height) };
      if (at.x > ROOM.width || at.y > ROOM.height) continue;
      const place = placeBeside(at, target, size, ROOM);
      const text = JSON.stringify({ at, target, size, place });
      expect(place.x >= 0 && place.x + size.width <= ROOM.width, text).toBe(true);
      expect(place.y >= 0 && place.y + size.height <= ROOM.height, text).toBe(true);
      const apart =
        place.x >= target.x + target.width ||
        place.x + size.width <= target.x ||
        place.y >= target.y + target.height ||
        place.y + size.height <= target.y;
      const fills = target.y < 80 && target.y + target.height > ROOM.height - 80;
      expect(apart || fills, text).toBe(true);
    }
  });

  it("is below the target, above it at the lower edge, and beside a tall one", () => {
    const size = { width: 200, height: 50 };
    const below = placeBeside({ x: 110, y: 110 }, box(100, 100, 80, 20), size, ROOM);
    expect(below.y).toBeGreaterThan(120);
    const above = placeBeside({ x: 110, y: 700 }, box(100, 690, 80, 20), size, ROOM);
    expect(above.y).toBe(690 - 6 - 50);
    const beside = placeBeside({ x: 110, y: 350 }, box(100, 10, 80, 700), size, ROOM);
    expect(beside.x).toBe(186);
    expect(beside.y).toBe(350);
  });

  it("is beside the pointer where the target fills the window", () => {
    const place = placeBeside({ x: 600, y: 300 }, box(0, 0, 1280, 720), box(0, 0, 90, 30), ROOM);
    expect(place).toEqual({ x: 614, y: 314 });
  });
});

function box(x: number, y: number, width: number, height: number) {
  return { x, y, width, height };
}

import { expect, it } from "vitest";
import { axisTurn } from "../../src/shell/scrolling.ts";

const turn = (deltaX: number, deltaY: number, shiftKey = false, deltaMode = 0) =>
  axisTurn({ deltaX, deltaY, shiftKey, deltaMode } as WheelEvent);

it("pans on horizontal or Shift scrolling, and zooms otherwise", () => {
  globalThis.WheelEvent ??= { DOM_DELTA_LINE: 1 } as typeof WheelEvent;
  expect(turn(30, 10)).toEqual({ panPx: 30, zoom: 1 });
  expect(turn(0, 10, true)).toEqual({ panPx: 10, zoom: 1 });
  expect(turn(-4, 90, true)).toEqual({ panPx: -4, zoom: 1 });
  expect(turn(3, -10)).toEqual({ panPx: 0, zoom: 1.0018 ** -10 });
  expect(turn(0, 2, false, 1)).toEqual({ panPx: 0, zoom: 1.0018 ** 32 });
});

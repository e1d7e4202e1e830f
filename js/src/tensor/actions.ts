import type { KeyAction } from "../shared/keys.ts";
import { nextMap, nextRange, nextScale } from "./color_controls.ts";
import type { Inspector } from "./inspector.ts";
import { swapped } from "./plane.ts";

const PAGE = 16;
const STRIDE = 10;

/** What the inspector does by key. */
export function actions(inspector: Inspector): KeyAction[] {
  const arrow = (rows: number, cols: number) => (event: KeyboardEvent) => {
    const stride = event.shiftKey ? STRIDE : 1;
    inspector.move(rows * stride, cols * stride);
  };
  const end = Number.MAX_SAFE_INTEGER;
  const list: [keys: string, does: string, run: (event: KeyboardEvent) => void][] = [
    ["ArrowUp", "value above (shift: by ten)", arrow(-1, 0)],
    ["ArrowDown", "value below", arrow(1, 0)],
    ["ArrowLeft", "value to the left", arrow(0, -1)],
    ["ArrowRight", "value to the right", arrow(0, 1)],
    ["Home", "start of the row", () => inspector.move(0, -end)],
    ["End", "end of the row", () => inspector.move(0, end)],
    ["PageUp", `${PAGE} rows up`, () => inspector.move(-PAGE, 0)],
    ["PageDown", `${PAGE} rows down`, () => inspector.move(PAGE, 0)],
    ["Escape", "take the crosshair away", () => inspector.unmark()],
    ["m", "go to the minimum", () => inspector.goToExtreme("argmin")],
    ["x", "go to the maximum", () => inspector.goToExtreme("argmax")],
    ["i", "next NaN or Inf of the picture", () => inspector.goToNext()],
    [", -", "previous index of the first fixed axis", () => inspector.stepIndex(-1)],
    [". +", "next index of the first fixed axis", () => inspector.stepIndex(1)],
    ["s", "swap the two axes", () => inspector.look(swapped)],
    ["[ p", "previous tensor", () => inspector.step(-1)],
    ["] n", "next tensor", () => inspector.step(1)],
    ["/", "search a tensor", () => inspector.search()],
    ["v", "table of values", () => inspector.toggleTable()],
    ["g", "logarithmic counts", () => inspector.toggleCounts()],
    [
      "l",
      "linear or symlog",
      () => inspector.recolor(({ scale }) => ({ scale: nextScale(scale) })),
    ],
    ["c", "next colours", () => inspector.recolor(({ map }) => ({ map: nextMap(map) }))],
    [
      "r",
      "next colour range",
      () => inspector.recolor(({ range }) => ({ range: nextRange(range) })),
    ],
    ["y", "copy Python code for the value", () => inspector.copy()],
  ];
  return list.map(([keys, does, run]) => ({ keys: keys.split(" "), does, run }));
}

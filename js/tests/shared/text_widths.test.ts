import { expect, it } from "vitest";
import recorded from "../../../tests/data/numbers/lines.json";
import { TextWidths, type WidthTables } from "../../src/shared/drawing/text_widths.ts";

// tests/make/lines.py wrote it; Python is held to the same file.
const widths = new TextWidths(recorded.tables as unknown as WidthTables);

it("cuts texts as Python does", () => {
  const cases = recorded.fit as [string, number, number, boolean, string][];
  const found = cases.map(([text, room, size, bold]) => widths.fit(text, room, size, bold));
  expect(found).toEqual(cases.map((each) => each[4]));
});

it("breaks texts into lines as Python does", () => {
  const cases = recorded.wrap as [string, number, number, number, boolean, string[]][];
  const found = cases.map(([text, room, size, lines, bold]) =>
    widths.wrap(text, room, size, lines, bold),
  );
  expect(found).toEqual(cases.map((each) => each[5]));
});

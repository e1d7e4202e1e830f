import { TextWidths } from "../../src/shared/drawing/text_widths.ts";

/** Every letter is as wide as every other: half an em. */
export const HALF_EM = new TextWidths({
  ascii: Array.from({ length: 95 }, () => 0.5),
  narrow: {},
  wide: [],
  other: 0.5,
  joiners: "",
  wideMarks: "",
  bold: 1,
  mono: 0.5,
});

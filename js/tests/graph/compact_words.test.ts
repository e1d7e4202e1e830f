import { describe, expect, it } from "vitest";
import { type BoxLabels, compactWords, VALUE } from "../../src/graph/layout/labels.ts";
import { WORDS } from "./fixture.ts";

const LETTER = 7;
const labels = {
  titleWidth: (text: string) => LETTER * text.length,
  numbered: (node: number, title: string) => `#${node} ${title}`,
} as BoxLabels;
const TITLES = [
  "softmax",
  "a long name of an operator that has no sign",
  "x".repeat(60),
  "conv2d + add + add + relu + multiply",
];
const words = { ...WORDS, title: (node: number) => TITLES[node]! };
const lines = (node: number) => compactWords(words, labels, false).box(node, 0).lines;

describe("compactWords", () => {
  it("breaks a long title at a space into two lines of similar length", () => {
    expect(lines(0)).toEqual(["#0 softmax"]);
    const [first, second] = lines(1)!;
    expect(`${first} ${second}`).toBe(`#1 ${TITLES[1]}`);
    expect(Math.abs(first!.length - second!.length)).toBeLessThan(10);
  });

  it("shortens a long title of fused operators in the middle", () => {
    expect(lines(3)).toEqual(["#3 conv2d + … + multiply"]);
  });

  it("sizes boxes for all title lines and an optional value", () => {
    const plain = compactWords(words, labels, false);
    const valued = compactWords(words, labels, true);
    expect(plain.height(1)).toBeGreaterThan(plain.height(0));
    expect(plain.width(1, 0)).toBeGreaterThan(plain.width(0, 0));
    expect(valued.width(1, 0) - plain.width(1, 0)).toBe(VALUE);
    expect(valued.height(1)).toBe(plain.height(1));
    expect([plain.valued, valued.valued]).toEqual([false, true]);
  });
});

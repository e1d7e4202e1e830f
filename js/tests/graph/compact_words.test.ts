import { describe, expect, it } from "vitest";
import { type BoxLabels, compactWords, VALUE } from "../../src/graph/layout/labels.ts";
import { WORDS } from "./fixture.ts";

const LETTER = 7;
const labels = { titleWidth: (text: string) => LETTER * text.length } as BoxLabels;
const TITLES = ["softmax", "conv2d + add + add + relu + multiply", "x".repeat(60), "data"];
const words = { ...WORDS, title: (node: number) => TITLES[node]! };
const lines = (node: number) => compactWords(words, labels, false).box(node, 0).lines;

describe("compactWords", () => {
  it("breaks a long title at a space into two lines of similar length", () => {
    expect(lines(0)).toEqual(["softmax"]);
    const [first, second] = lines(1)!;
    expect(`${first} ${second}`).toBe(TITLES[1]);
    expect(second!.startsWith("+"), "a sign stays with what is before it").toBe(false);
    expect(Math.abs(first!.length - second!.length)).toBeLessThan(10);
    expect(lines(2), "no blank to break it at").toEqual([TITLES[2]]);
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

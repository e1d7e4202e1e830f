import { describe, expect, it } from "vitest";
import { tensorWords } from "../../src/tensor/descriptions.ts";
import { withPicture } from "../../src/tensor/requested_view.ts";
import { answer, shown } from "./answer.ts";

const trouble = "the file is gone";
const unread = { ...answer({}), tile: null, trouble };

describe("a tensor that cannot be read any more", () => {
  it("keeps the picture of the plane that is shown", () => {
    const before = answer({});
    expect(withPicture(unread, before)).toEqual({ ...before, trouble });
    expect(withPicture(answer({}), { ...before, trouble }).trouble).toBeUndefined();
  });

  it("shows no picture of another plane, layout, reading or tensor", () => {
    const others = [{ index: [1, 0] }, { layout: "NC" }, { reading: "bytes" }, { entry: [2, 0] }];
    for (const other of others) {
      expect(withPicture(unread, { ...answer({}), ...other } as typeof unread)).toBe(unread);
    }
    expect(withPicture(unread, null)).toBe(unread);
    expect(withPicture(unread, unread)).toBe(unread);
  });

  it("states the reason in its description", () => {
    const words = tensorWords({ ...shown({}), answer: unread });
    expect(words).toContain(`Its values could not be read: ${trouble}`);
  });
});

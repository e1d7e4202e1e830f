import { expect, test } from "vitest";
import { formatOf, showOf } from "../../src/tensor/state.ts";

test("saved states of earlier versions open by their own names", () => {
  expect(formatOf("dequantised")).toBe("dequantized");
  expect(formatOf("hex")).toBe("hex");
  expect(formatOf(undefined)).toBe("number");
  expect(showOf("profile")).toBe("line plot");
});

import { expect, it } from "vitest";
import { modelOptions } from "../../src/shell/view.ts";
import { fakeModel } from "../fake_model.ts";

it("tells a view its own changes from those of Python and of another view", () => {
  const { model, inner } = fakeModel({ region: null });
  const { signal } = new AbortController();
  const views = [0, 1].map(() => modelOptions<{ region: number[] | null }>(model));
  const told: (boolean | undefined)[][] = [[], []];
  for (const [at, options] of views.entries()) {
    options.onChange("region", (isOwn) => told[at]!.push(isOwn), signal);
  }
  views[0]!.set("region", [0, 0, 2, 2]);
  inner.set("region", null);
  views[1]!.set("region", [0, 0, 2, 2]);
  views[1]!.set("region", [0, 0, 2, 2]);
  expect(told).toEqual([
    [true, false, false],
    [false, false, true],
  ]);
});

it("still knows a change as its own after a listener has set another option, or failed", () => {
  const { model, inner } = fakeModel({ axes: 0, index: 0 });
  const { signal } = new AbortController();
  const options = modelOptions<{ axes: number; index: number }>(model);
  const told: (boolean | undefined)[] = [];
  options.onChange("axes", () => options.set("index", options.get("axes")), signal);
  options.onChange("axes", (isOwn) => told.push(isOwn), signal);
  options.set("axes", 1);
  inner.set("axes", 2);
  const failing = new AbortController();
  const fail = () => {
    throw new Error("cannot be shown");
  };
  options.onChange("index", fail, failing.signal);
  expect(() => options.set("index", 5)).toThrow("cannot be shown");
  failing.abort();
  inner.set("axes", 3);
  expect(told).toEqual([true, false, false]);
});

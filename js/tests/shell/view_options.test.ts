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

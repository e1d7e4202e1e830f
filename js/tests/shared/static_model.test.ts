import { describe, expect, it, vi } from "vitest";
import { modelOfView, StaticModel } from "../../src/shared/client/page_model.ts";
import { settled } from "../fake_model.ts";

const silent = () => new Promise<never>(() => {});

describe("a static model", () => {
  it("fires named and general change events once per actual change", () => {
    const model = new StaticModel({ selected: [1] }, silent);
    const [named, any] = [vi.fn(), vi.fn()];
    model.on("change:selected", named);
    model.on("change", any);
    model.set("selected", [1]);
    expect(named).not.toHaveBeenCalled();
    model.set("selected", [2]);
    expect([named.mock.calls.length, any.mock.calls.length]).toEqual([1, 1]);
    expect(model.get("selected")).toEqual([2]);
  });

  it("allows a listener to remove itself while running", () => {
    const model = new StaticModel({ n: 0 }, silent);
    const [once, after] = [vi.fn(() => model.off("change:n", once)), vi.fn()];
    model.on("change:n", once);
    model.on("change:n", after);
    model.set("n", 1);
    model.set("n", 2);
    expect([once.mock.calls.length, after.mock.calls.length]).toEqual([1, 2]);
  });

  it("answers with an error if its page cannot answer", async () => {
    const model = new StaticModel({}, () => Promise.reject(new Error("no kernel")));
    const heard = vi.fn();
    model.on("msg:custom", heard);
    model.send({ id: "a" });
    model.send(null);
    await settled();
    expect(heard.mock.calls).toEqual([
      [{ id: "a", error: "no kernel" }, []],
      [{ id: undefined, error: "no kernel" }, []],
    ]);
  });
});

describe("a view's proxy of a model", () => {
  it("receives changes by other views, and drops only its own listeners", () => {
    const model = new StaticModel({ n: 0 }, silent);
    const going = new AbortController();
    const [a, b] = [going, new AbortController()].map(({ signal }) => modelOfView(model, signal));
    const heard = vi.fn();
    a!.on("change:n", () => heard("a"));
    b!.on("change:n", () => heard("b"));
    a!.set("n", 1);
    expect([heard.mock.calls, b!.get("n")]).toEqual([[["a"], ["b"]], 1]);
    going.abort();
    b!.set("n", 2);
    expect(heard.mock.calls.slice(2)).toEqual([["b"]]);
    b!.off("change:n");
    b!.set("n", 3);
    expect(heard).toHaveBeenCalledTimes(3);
  });

  it("removes a single listener of a single event", () => {
    const model = new StaticModel({ n: 0, m: 0 }, silent);
    const view = modelOfView(model, new AbortController().signal);
    const [one, two] = [vi.fn(), vi.fn()];
    for (const event of ["change:n", "change:m"]) {
      view.on(event, one);
      view.on(event, two);
    }
    view.off("change:n", one);
    view.set("n", 1);
    view.set("m", 1);
    expect([one.mock.calls.length, two.mock.calls.length]).toEqual([1, 2]);
  });
});

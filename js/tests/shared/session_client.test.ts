import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { goToStep, SessionClient, stepOf } from "../../src/shared/client/session_client.ts";
import { fakeModel, settled } from "../fake_model.ts";

const START = {
  selected: [],
  entry: null,
  slice: null,
  time_range: null,
  hovered: null,
  source: "",
};

/** Sources that two views with the same session are told, one array a view. */
function pair() {
  const { model } = fakeModel(START);
  const { signal } = new AbortController();
  const views = [new SessionClient(model as never), new SessionClient(model as never)] as const;
  const told: (string | null)[][] = [[], []];
  for (const [at, view] of views.entries()) {
    view.onChange((source) => told[at]!.push(source), signal, ["selected", "entry"]);
  }
  return { model, views, told };
}

describe("the source of a change", () => {
  it("is known to the view that made it, not to another view of its kind", async () => {
    const { views, told } = pair();
    views[0].select(4, "graph");
    await settled();
    views[1].select(5, "graph");
    await settled();
    expect(told).toEqual([
      ["graph", null],
      [null, "graph"],
    ]);
  });

  it("is that of the write, not what an earlier one left in the session", async () => {
    const { model, views, told } = pair();
    views[0].select(4, "graph");
    await settled();
    model.set("selected", [5]);
    await settled();
    expect(told[0]).toEqual(["graph", null]);
  });

  it("is none where several have changed the selection in one burst", async () => {
    const { model, views, told } = pair();
    views[0].select(4, "graph");
    model.set("selected", [5]);
    views[0].toggle(6, "graph");
    await settled();
    views[0].select(7, "palette");
    views[0].select(8, "graph");
    await settled();
    expect(told[0]).toEqual([null, null]);
  });
});

function make() {
  const { model, inner } = fakeModel(START);
  const saves = vi.spyOn(inner, "save_changes");
  return { model, saves, session: new SessionClient(model as never) };
}

describe("a selection", () => {
  it("sets node, entry, slice and source, and is saved once", () => {
    const { model, saves, session } = make();
    session.select(4, "graph", { output: 1, occurrence: 2 });
    expect([session.selected, session.node, session.entry, session.slice]).toEqual([
      [4],
      4,
      [4, 1],
      [4, 2],
    ]);
    expect(model.get("source")).toBe("graph");
    session.select(4, "tensor", { output: 1, occurrence: 2 });
    expect([saves.mock.calls.length, model.get("source")]).toEqual([1, "graph"]);
    session.select(null, "graph");
    expect([session.selected, session.entry, session.slice]).toEqual([[], null, null]);
  });

  it("makes the last of several nodes current", () => {
    const { session } = make();
    session.select(4, "graph");
    session.toggle(7, "graph");
    expect([session.selected, session.node, session.entry]).toEqual([[4, 7], 7, [4, 0]]);
    session.toggle(4, "graph");
    expect([session.selected, session.entry]).toEqual([[7], [7, 0]]);
    session.selectMany([1, 2], "timeline");
    expect([session.node, session.slice]).toEqual([2, null]);
  });

  it("sends Python its current entry", () => {
    const { model, session } = make();
    session.select(57, "graph", { output: 2, occurrence: 1 });
    session.selectMany([13, 57], "graph");
    expect(model.get("entry")).toEqual([57, 2]);
    session.selectMany([13], "graph");
    expect(model.get("entry")).toEqual([13, 0]);
    session.select(57, "graph", { output: 2, occurrence: 1 });
    session.toggle(13, "graph");
    expect([model.get("entry"), model.get("slice")]).toEqual([
      [57, 2],
      [57, 1],
    ]);
    session.toggle(57, "graph");
    expect([model.get("entry"), model.get("slice")]).toEqual([[13, 0], null]);
    session.toggle(13, "graph");
    expect([model.get("entry"), session.entry]).toEqual([null, null]);
  });

  it("drops entry and slice of nodes that Python deselected", () => {
    const { model, session } = make();
    session.select(4, "graph", { output: 1, occurrence: 0 });
    model.set("selected", [9]);
    expect([session.entry, session.slice]).toEqual([[9, 0], null]);
  });
});

describe("a listener", () => {
  it("is called once a burst, only for its parts, until its signal aborts", async () => {
    const { model, session } = make();
    const controller = new AbortController();
    const [all, hover] = [vi.fn(), vi.fn()];
    session.onChange(all, controller.signal);
    session.onChange(hover, controller.signal, ["hovered"]);
    session.select(4, "graph", { occurrence: 0 });
    await settled();
    expect([all.mock.calls.length, hover.mock.calls.length]).toEqual([1, 0]);
    model.set("hovered", 3);
    controller.abort();
    await settled();
    model.set("hovered", 5);
    await settled();
    expect([all.mock.calls.length, hover.mock.calls.length]).toEqual([1, 0]);
  });
});

describe("the pointer", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("updates the page at once, and Python when it rests", () => {
    const { saves, session } = make();
    session.hover(1);
    session.hover(2);
    expect([session.hovered, saves.mock.calls.length]).toEqual([2, 0]);
    vi.advanceTimersByTime(299);
    expect(saves).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(saves).toHaveBeenCalledTimes(1);
    session.hover(2);
    vi.advanceTimersByTime(1000);
    expect(saves).toHaveBeenCalledTimes(1);
  });
});

describe("notes", () => {
  it("are read by node, in node order", () => {
    const { model, session } = make();
    expect([session.notes, session.note(4)]).toEqual([[], ""]);
    model.set("notes", { 38: "b", 4: "a" });
    expect(session.notes).toEqual([
      [4, "a"],
      [38, "b"],
    ]);
    expect([session.note(38), session.note(5)]).toEqual(["b", ""]);
  });
});

describe("a tour", () => {
  const plain = { nodes: [], entry: null, slice: null, time_range: null, view: null };
  const TOUR = [
    { ...plain, text: "one", nodes: [4, 38], entry: [38, 0] },
    { ...plain, text: "two", nodes: [7], slice: [7, 1], entry: [7, 0], time_range: [1, 2] },
    { ...plain, text: "three" },
  ];

  it("selects everything a step refers to, and saves once per step", () => {
    const { model, saves, session } = make();
    expect(stepOf(session)).toBeNull();
    goToStep(session, 0);
    expect([stepOf(session), saves.mock.calls.length]).toEqual([null, 0]);
    model.set("tour", TOUR);
    goToStep(session, 1);
    expect([stepOf(session), session.selected, session.slice, session.timeRange]).toEqual([
      1,
      [7],
      [7, 1],
      [1, 2],
    ]);
    expect([saves.mock.calls.length, model.get("source")]).toEqual([1, "tour"]);
    goToStep(session, 0);
    expect([session.node, session.entry, session.slice, session.timeRange]).toEqual([
      38,
      [38, 0],
      null,
      null,
    ]);
    goToStep(session, 2);
    expect(session.selected).toEqual([]);
    goToStep(session, 3);
    expect(stepOf(session)).toBe(2);
    session.select(9, "graph");
    goToStep(session, null);
    expect([stepOf(session), session.selected]).toEqual([null, [9]]);
  });
});

import { expect, it } from "vitest";
import { GraphCommands } from "../../src/graph/commands.ts";
import { GraphModel } from "../../src/graph/data/model.ts";
import { Folding } from "../../src/graph/folding.ts";
import { type Arrangement, arrange } from "../../src/graph/layout/layouts.ts";
import { laidOut, shareLayout } from "../../src/graph/layout/wrapping.ts";
import type { GraphView } from "../../src/graph/view.ts";
import { isAbort } from "../../src/shared/client/request.ts";
import { columns } from "./fixture.ts";

// Node imports no Blobs.
shareLayout(laidOut);

const MEASURE = { title: (text: string) => 7 * text.length, small: (text: string) => text.length };
const ARRANGEMENT: Arrangement = {
  fold: true,
  direction: "down",
  isolation: null,
  hidden: [],
  label: "",
  grouped: false,
  open: null,
  wanted: -1,
  wrapped: null,
  dense: false,
  stage: { width: 600, height: 400 },
};

function arranged(model: GraphModel, signal: AbortSignal) {
  const beginning = { node: 0, show: () => {} };
  return arrange(model, ARRANGEMENT, beginning, signal, () => {});
}

function chain() {
  const nodes = Array.from({ length: 50 }, (_, node) => (node ? { inputs: [[node - 1]] } : {}));
  return new GraphModel(columns(nodes as never), null, MEASURE as never);
}

it("finishes the layout for one view after another view aborts", async () => {
  const model = chain();
  const [one, other] = [new AbortController(), new AbortController()];
  const stopped = arranged(model, one.signal);
  const going = arranged(model, other.signal);
  one.abort(new DOMException("stopped", "AbortError"));
  await expect(stopped).rejects.toSatisfy(isAbort);
  expect((await going).scene.count).toBe(50);
});

it("aborts the layout for the aborting view only, not for an earlier one", async () => {
  const model = chain();
  const [one, other] = [new AbortController(), new AbortController()];
  const going = arranged(model, one.signal);
  const stopped = arranged(model, other.signal);
  other.abort();
  await expect(stopped).rejects.toSatisfy(isAbort);
  expect((await going).scene.count).toBe(50);
});

it("opens a group while others are being opened", () => {
  const set: unknown[] = [];
  const view = {
    chosen: { openGroups: [1], group: null },
    placed: { scene: { open: Uint8Array.of(0, 0, 0, 0) } },
    placing: {},
    mirror: { say: () => {} },
    model: { groups: { title: String, has: () => false } },
    context: { options: { set: (...change: unknown[]) => set.push(change) } },
  };
  new Folding(view as unknown as GraphView).set([2], true, 2);
  expect(set).toEqual([["open_groups", [1, 2]]]);
});

it.each(["query", "view"])("selects no search hit once the %s has changed", async (changed) => {
  const gone = new AbortController();
  let found = () => {};
  const hits = {
    ready: new Promise<void>((resolve) => {
      found = resolve;
    }),
    next: () => 7,
  };
  const view = { hits, node: null, context: { signal: gone.signal } };
  const acts = new GraphCommands(view as unknown as GraphView);
  let selected: number | null = null;
  acts.select = (node) => {
    selected = node;
  };
  const asked = acts.nextHit(1);
  if (changed === "view") gone.abort();
  else hits.ready = Promise.resolve();
  found();
  await asked;
  expect(selected).toBeNull();
});

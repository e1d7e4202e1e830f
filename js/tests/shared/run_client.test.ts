import { describe, expect, it } from "vitest";
import { clientOf } from "../../src/shared/client/client.ts";
import { isAbort } from "../../src/shared/client/request.ts";
import type { TensorRequest } from "../../src/shared/client/tensor_questions.ts";
import { timelineOf } from "../../src/shared/client/timeline_client.ts";
import { fakeModel, settled } from "../fake_model.ts";

type Message = { id: string; kind: string; client: string };

const question: TensorRequest = {
  entry: [1, 0],
  axes: [0, 1],
  index: [0, 0],
  part: null,
  rows: 1,
  cols: 1,
  exact: false,
  reading: null,
  layout: null,
  sizes: {},
};

function counting() {
  const buffer = new DataView(new Float64Array([1, 2]).buffer);
  const columns = [{ name: "nodeNs", kind: "f8", offset: 0, length: 2 }];
  return fakeModel({ content_hash: "h" }, async (message) => {
    const { id, kind } = message as Message;
    if (kind === "timeline") return { content: { id, result: null }, buffers: [] };
    if (kind === "tensors") return { content: { id, error: "broken" }, buffers: [] };
    return { content: { id, result: { columns, info: { n: 1 } } }, buffers: [buffer] };
  });
}

describe("columns of a run", () => {
  it("are requested once per page and content, and again after the last view is gone", async () => {
    const { model, sent } = counting();
    const views = [new AbortController(), new AbortController()];
    const [a, b] = views.map(({ signal }) => clientOf(model, "once", signal));
    const [graph, same] = await Promise.all([a!.ask("graph"), b!.ask("graph")]);
    expect(graph).toBe(same);
    expect(Array.from(graph!.nodeNs)).toEqual([1, 2]);
    expect(sent).toHaveLength(1);
    views[0]!.abort();
    expect(await b!.ask("graph")).toBe(graph);
    views[1]!.abort();
    await clientOf(model, "once", new AbortController().signal).ask("graph");
    expect(sent).toHaveLength(2);
  });

  it("are not mixed between runs, nor between contents of one run", async () => {
    const { model, sent } = counting();
    const { signal } = new AbortController();
    await clientOf(model, "one", signal).ask("graph");
    await clientOf(model, "other", signal).ask("graph");
    model.set("content_hash", "changed");
    await clientOf(model, "one", signal).ask("graph");
    expect(sent).toHaveLength(3);
  });

  it("are null if the run lacks them, and requested again after an error", async () => {
    const { model, sent } = counting();
    const client = clientOf(model, "lacking", new AbortController().signal);
    expect(await timelineOf(client)).toBeNull();
    await expect(client.ask("tensors")).rejects.toThrow("broken");
    await expect(client.ask("tensors")).rejects.toThrow("broken");
    expect(sent.map(({ kind }) => kind)).toEqual(["timeline", "tensors", "tensors"]);
  });

  it("are requested again by waiting views when the asking view goes", async () => {
    const { model, sent, waiting } = fakeModel({ content_hash: "h" });
    const first = new AbortController();
    const gone = clientOf(model, "gone", first.signal).ask("graph");
    const stays = clientOf(model, "gone", new AbortController().signal).ask("graph");
    first.abort();
    await expect(gone).rejects.toThrow();
    await settled();
    expect(sent).toHaveLength(2);
    waiting[1]!({ id: sent[1]!.id, result: { columns: [] } });
    expect(await stays).toEqual({});
  });
});

describe("clients", () => {
  it("have distinct ids for the kernel", async () => {
    const { model, sent } = counting();
    const { signal } = new AbortController();
    for (const reference of ["a", "b"]) {
      const client = clientOf(model, reference, signal);
      await client.ask("node", { node: 1 }, signal);
      await client.ask("tensor", question, signal).catch(() => {});
    }
    const clients = sent.map(({ client }) => client);
    expect(clients[0]).toBe(clients[1]);
    expect(clients[2]).toBe(clients[3]);
    expect(clients[0]).not.toBe(clients[2]);
  });
});

describe("cells of an answer", () => {
  const sent = (columns: Record<string, number[]>) => {
    const buffer = new ArrayBuffer(8 * 4 * 4);
    const headers = Object.entries(columns).map(([name, values], i) => {
      const kind = name === "flags" ? "u1" : "f4";
      const array = kind === "u1" ? Uint8Array : Float32Array;
      new array(buffer, 32 * i, values.length).set(values);
      return { name, kind, offset: 32 * i, length: values.length };
    });
    const { model } = fakeModel({ content_hash: "h" }, async (message) => {
      const { id } = message as Message;
      const result = { tile: { rows: 1, cols: 2, columns: headers } };
      return { content: { id, result }, buffers: [new DataView(buffer)] };
    });
    return clientOf(model, "cells", new AbortController().signal);
  };

  it("default missing bounds to the mean and missing flags to zero", async () => {
    const { tile } = await sent({ mean: [1.5, Number.NaN] }).ask("tensor", question);
    expect(tile!.minimum).toBe(tile!.mean);
    expect(tile!.maximum).toBe(tile!.mean);
    expect(Array.from(tile!.mean)).toEqual([1.5, Number.NaN]);
    expect(Array.from(tile!.flags)).toEqual([0, 0]);
  });

  it("keep the columns that were sent", async () => {
    const columns = { mean: [1, 2], minimum: [0, 1], maximum: [3, 4], flags: [0, 5] };
    const { tile } = await sent(columns).ask("tensor", question);
    for (const [name, values] of Object.entries(columns)) {
      expect(Array.from(tile![name as keyof typeof columns])).toEqual(values);
    }
  });
});

describe("a long question", () => {
  const percents = { entry: [1, 0] as const, reading: null, percents: [50] };

  it("is cancelled in the kernel when the page aborts it", async () => {
    const { model, sent } = fakeModel({ content_hash: "h" });
    const client = clientOf(model, "stopped", new AbortController().signal);
    const stopped = new AbortController();
    const asked = client.ask("percentiles", percents, stopped.signal);
    expect(sent.map(({ kind }) => kind)).toEqual(["percentiles"]);
    stopped.abort();
    await expect(asked).rejects.toSatisfy(isAbort);
    expect(sent.map(({ kind, what }) => [kind, what])).toEqual([
      ["percentiles", undefined],
      ["cancel", "percentiles"],
    ]);
    expect(sent[1]!.client).toBe(sent[0]!.client);
  });

  it("does not cancel an answered question", async () => {
    const { model, sent } = fakeModel({ content_hash: "h" }, async (message) => {
      return { content: { id: (message as Message).id, result: [] }, buffers: [] };
    });
    const view = new AbortController();
    const client = clientOf(model, "ended", view.signal);
    expect(await client.ask("percentiles", percents, view.signal)).toEqual([]);
    view.abort();
    expect(sent).toHaveLength(1);
  });
});

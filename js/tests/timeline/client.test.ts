import { describe, expect, it } from "vitest";
import { clientOf } from "../../src/shared/client/client.ts";
import { isAbort } from "../../src/shared/client/request.ts";
import { slicesOf, timelineOf } from "../../src/shared/client/timeline_client.ts";
import { fakeModel, settled } from "../fake_model.ts";

type Message = { id: string; kind: string; first: number; last: number; what?: string };
type Numbers = Record<string, { kind: "f8" | "u4" | "u2" | "i4"; values: number[] }>;

const COUNT = 100_000;
const KINDS = { start: "f8", duration: "u4", name: "u2" } as const;
/** Slices of one part: a mebibyte of 14 bytes each. */
const STEP = Math.floor(2 ** 20 / 14);

function packed(columns: Numbers, names: string[] = []) {
  const array = { f8: Float64Array, u4: Uint32Array, u2: Uint16Array, i4: Int32Array };
  const parts: Uint8Array[] = [];
  let at = 0;
  const put = (values: ArrayBuffer) => {
    const offset = at;
    const padded = new Uint8Array(Math.ceil(values.byteLength / 8) * 8);
    padded.set(new Uint8Array(values));
    parts.push(padded);
    at += padded.length;
    return offset;
  };
  const headers: object[] = Object.entries(columns).map(([name, { kind, values }]) => ({
    name,
    kind,
    offset: put(array[kind].from(values).buffer as ArrayBuffer),
    length: values.length,
  }));
  const bytes = names.map((each) => new TextEncoder().encode(each));
  const ends = [0];
  for (const each of bytes) ends.push(ends.at(-1)! + each.length);
  const text = Uint8Array.from(bytes.flatMap((each) => [...each]));
  for (const name of names.length ? ["names", "nameKinds", "nameLabels"] : []) {
    headers.push({
      name,
      kind: "strings",
      length: names.length,
      unique: names.length,
      codes: put(Int32Array.from(names.keys()).buffer as ArrayBuffer),
      offsets: put(Int32Array.from(ends).buffer as ArrayBuffer),
      bytes: put(text.buffer as ArrayBuffer),
    });
  }
  const buffer = new Uint8Array(at);
  let next = 0;
  for (const part of parts) {
    buffer.set(part, next);
    next += part.length;
  }
  return { headers, buffers: [new DataView(buffer.buffer)] };
}

const range = (first: number, last: number) =>
  Array.from({ length: last - first }, (_, i) => first + i);

/** What a kernel answers of slices that start one after the other, and carry their number as name. */
function answered(message: Message, names = 3) {
  const { kind, first, last } = message;
  if (kind === "timeline") {
    const { headers, buffers } = packed({}, ["a", "b"].slice(0, names));
    const info = { whole: true, bins: 8, slices: COUNT, names, columns: KINDS };
    return { result: { columns: headers, info }, buffers };
  }
  if (kind === "names") {
    const { headers, buffers } = packed({}, ["c"]);
    return { result: { columns: headers }, buffers };
  }
  const { headers, buffers } = packed({
    start: { kind: "f8", values: range(first, last).map((each) => each * 10) },
    duration: { kind: "u4", values: range(first, last).map((each) => 2 ** 32 - 1 - each) },
    name: { kind: "u2", values: range(first, last).map((each) => each % 3) },
  });
  return { result: { columns: headers }, buffers };
}

/** A kernel that answers a part only when it is told to. */
function slow() {
  const kernel = fakeModel({ content_hash: "h" });
  const open: Message[] = [];
  const step = async () => {
    await settled();
    for (const [at, message] of kernel.sent.entries()) {
      const wanted = message as unknown as Message;
      if (open.includes(wanted) || wanted.kind === "cancel") continue;
      open.push(wanted);
      if (wanted.kind === "slices") continue;
      const { result, buffers } = answered(wanted);
      kernel.waiting[at]!({ id: wanted.id, result }, buffers);
      await settled();
    }
  };
  const parts = () =>
    kernel.sent.map((each) => each as unknown as Message).filter(({ kind }) => kind === "slices");
  const answer = async (part: Message) => {
    const { result, buffers } = answered(part);
    kernel.waiting[kernel.sent.indexOf(part as never)]!({ id: part.id, result }, buffers);
    await settled();
  };
  return { ...kernel, step, parts, answer };
}

describe("the slices of a long timeline", () => {
  it("are assembled from parts of a mebibyte, with all names", async () => {
    const { model, sent } = fakeModel({ content_hash: "h" }, async (message) => {
      const { result, buffers } = answered(message as Message);
      return { content: { id: (message as Message).id, result }, buffers };
    });
    const client = clientOf(model, "parts", new AbortController().signal);
    const told: number[] = [];
    const slices = (await slicesOf(client, (done, total) => told.push(done / total)))!;
    expect(sent.filter(({ kind }) => kind === "slices").map(({ first }) => first)).toEqual(
      range(0, Math.ceil(COUNT / STEP)).map((each) => each * STEP),
    );
    expect(slices.start).toEqual(Float64Array.from(range(0, COUNT), (each) => each * 10));
    expect(slices.duration).toEqual(Uint32Array.from(range(0, COUNT), (i) => 2 ** 32 - 1 - i));
    expect(range(0, 3).map((code) => slices.names.at(code))).toEqual(["a", "b", "c"]);
    expect(slices.names.at(slices.name[5]!)).toBe("c");
    expect([slices.self, slices.node, slices.source, slices.trust]).toEqual([
      null,
      null,
      null,
      null,
    ]);
    expect(told.at(-1)).toBe(1);
    expect(await slicesOf(client)).toBe(slices);
    expect(sent.filter(({ kind }) => kind === "timeline")).toHaveLength(1);
  });

  it("are requested two parts at a time, once for all views of a page", async () => {
    const kernel = slow();
    const views = [new AbortController(), new AbortController()];
    const told: number[] = [];
    const [a, b] = views.map(({ signal }) => clientOf(kernel.model, "two", signal));
    const both = [slicesOf(a!), slicesOf(b!, (done) => told.push(done))];
    await kernel.step();
    await kernel.step();
    await kernel.step();
    expect(kernel.parts()).toHaveLength(2);
    await kernel.answer(kernel.parts()[1]!);
    await kernel.answer(kernel.parts()[0]!);
    const [first, second] = await Promise.all(both);
    expect(first).toBe(second);
    expect(kernel.parts()).toHaveLength(Math.ceil(COUNT / STEP));
    expect(told.at(-1)).toBe(COUNT);
  });

  it("keep arriving for other views when the asking view goes", async () => {
    const kernel = slow();
    const views = [new AbortController(), new AbortController()];
    const [a, b] = views.map(({ signal }) => clientOf(kernel.model, "gone", signal));
    const gone = slicesOf(a!);
    const stays = slicesOf(b!);
    for (let i = 0; i < 3; i++) await kernel.step();
    await kernel.answer(kernel.parts()[0]!);
    views[0]!.abort();
    await expect(gone).rejects.toSatisfy(isAbort);
    await kernel.step();
    const asked = kernel.parts();
    expect(asked.map(({ first }) => first)).toEqual([0, STEP, STEP]);
    await kernel.answer(asked[2]!);
    expect((await stays)!.start[COUNT - 1]).toBe((COUNT - 1) * 10);
  });

  it("are no longer requested when nobody waits", async () => {
    const kernel = slow();
    const view = new AbortController();
    const gone = slicesOf(clientOf(kernel.model, "nobody", view.signal));
    for (let i = 0; i < 3; i++) await kernel.step();
    view.abort();
    await expect(gone).rejects.toSatisfy(isAbort);
    const asked = kernel.parts().length;
    await kernel.step();
    expect(kernel.parts()).toHaveLength(asked);
  });
});

describe("questions that replace earlier ones", () => {
  it("abort earlier ones in the page and in the kernel", async () => {
    const kernel = slow();
    const { signal } = new AbortController();
    const client = clientOf(kernel.model, "newest", signal);
    await Promise.all([timelineOf(client), kernel.step()]);
    const area = (to: number) => client.ask("area", { from: 0, to });
    const [old, latest] = [area(1), area(2)];
    await expect(old).rejects.toSatisfy(isAbort);
    const asked = kernel.sent.filter(({ kind }) => kind === "area" || kind === "cancel");
    expect(asked.map(({ kind, what }) => what ?? kind)).toEqual(["area", "area", "area"]);
    expect(asked.map(({ kind }) => kind)).toEqual(["area", "cancel", "area"]);
    const at = kernel.sent.indexOf(asked[2]!);
    kernel.waiting[at]!({ id: asked[2]!.id, result: { count: 7 } });
    expect((await latest).count).toBe(7);
  });
});

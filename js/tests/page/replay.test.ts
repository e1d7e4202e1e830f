import { expect, it } from "vitest";
import { storedAnswers } from "../../src/page/stored_data.ts";

/** A binary as `record` of `export/page/pack.py` writes it. */
function recorded(replies: object, body: Uint8Array): ArrayBuffer {
  const text = JSON.stringify({ version: 1, tables: {}, replies });
  const head = new TextEncoder().encode(text + " ".repeat((8 - (text.length % 8)) % 8));
  const data = new Uint8Array(16 + head.length + body.length);
  data.set(new TextEncoder().encode("TVMDBGP1"));
  new DataView(data.buffer).setUint32(8, head.length, true);
  data.set(head, 16);
  data.set(body, 16 + head.length);
  return data.buffer;
}

const COLUMNS = [{ name: "rows", kind: "i4", offset: 0, length: 2 }];
/** 3 and 4 as differences, all first bytes first. */
const BODY = Uint8Array.of(3, 1, 0, 0, 0, 0, 0, 0);
const ask = storedAnswers(
  recorded(
    {
      '{"kind": "note", "range": {"from": 1, "to": 2}, "task": null}': ["said"],
      '{"kind": "rows"}': [{ columns: COLUMNS, info: null }, [0, 8]],
    },
    BODY,
  ),
);

it("replays a reply whatever the order of a question's fields and whatever carries it", async () => {
  const range = { to: 2, from: 1 };
  const message = {
    id: "n:1",
    client: "a",
    near: true,
    goOn: true,
    task: null,
    range,
    kind: "note",
  };
  expect(await ask(message)).toEqual({ content: { id: "n:1", result: "said" }, buffers: [] });
});

it("replays columns, every time from the stored bytes", async () => {
  for (const id of ["1", "2"]) {
    const { content, buffers } = await ask({ id, kind: "rows" });
    expect(content).toEqual({ id, result: { columns: COLUMNS, info: null } });
    expect([...new Int32Array(buffers[0]!.buffer as ArrayBuffer)]).toEqual([3, 4]);
  }
});

it.each([{ kind: "rows", task: 1 }, { kind: "note" }, { kind: "toString" }])(
  "says that %j is missing",
  async (asked) => {
    const { content } = await ask({ id: "1", ...asked });
    expect(content).toEqual({ id: "1", error: expect.stringContaining("in a notebook") });
  },
);

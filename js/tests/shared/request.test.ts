import { describe, expect, it } from "vitest";
import { isAbort, NewestWins, request, tell } from "../../src/shared/client/request.ts";
import { hinted } from "../../src/shell/message.ts";
import { fakeModel, settled } from "../fake_model.ts";

const never = new AbortController().signal;

describe("a request", () => {
  it("gets the answer with its id, in any order of arrival", async () => {
    const { model, sent, waiting } = fakeModel();
    const [a, b] = [request(model, "x", { n: 1 }, never), request(model, "x", { n: 2 }, never)];
    expect(sent.map(({ kind, n }) => [kind, n])).toEqual([
      ["x", 1],
      ["x", 2],
    ]);
    expect(sent[0]!.id).not.toBe(sent[1]!.id);
    const view = new DataView(new ArrayBuffer(2));
    waiting[1]!({ id: sent[1]!.id, result: "second" }, [view]);
    waiting[0]!({ id: sent[0]!.id, result: "first" });
    expect(await a).toEqual({ result: "first", buffers: [] });
    expect(await b).toEqual({ result: "second", buffers: [view] });
  });

  it("rejects with the error in the answer", async () => {
    const { model, sent, waiting } = fakeModel();
    const asked = request(model, "x", {}, never);
    waiting[0]!({ id: sent[0]!.id, error: "no such node" });
    await expect(asked).rejects.toThrow("no such node");
  });

  it("reports what to do after the kernel's model is gone", async () => {
    const { model } = fakeModel();
    model.send = () => {
      throw new Error("Cannot send");
    };
    const error = await request(model, "x", {}, never).catch((problem: unknown) => problem);
    expect(hinted(error, "Or retry.")).toBe(
      "The kernel no longer knows this view: it was restarted or stopped. Run the cell again.",
    );
    expect(hinted(new Error("broken"), "Or retry.")).toBe("broken\nOr retry.");
    expect(() => tell(model, "cancel", {})).not.toThrow();
  });

  it("rejects when its signal aborts, and sends nothing more", async () => {
    const { model, sent, waiting } = fakeModel();
    const controller = new AbortController();
    const asked = request(model, "x", {}, controller.signal);
    controller.abort();
    await expect(asked).rejects.toSatisfy(isAbort);
    waiting[0]!({ id: sent[0]!.id, result: 1 });
    await settled();
    await expect(request(model, "x", {}, controller.signal)).rejects.toSatisfy(isAbort);
    expect(sent).toHaveLength(1);
  });
});

describe("the newest of several questions", () => {
  it("is sent after the pending one, skipping those between", async () => {
    const newest = new NewestWins();
    const asked: number[] = [];
    const finish: ((value: string) => void)[] = [];
    const ask = (n: number) =>
      newest.ask(() => {
        asked.push(n);
        return new Promise<string>((resolve) => finish.push(resolve));
      });
    const all = Promise.allSettled([ask(1), ask(2), ask(3)]);
    await settled();
    expect(asked).toEqual([1]);
    finish[0]!("one");
    await settled();
    expect(asked).toEqual([1, 3]);
    finish[1]!("three");
    const [first, second, third] = await all;
    expect(first).toMatchObject({ value: "one" });
    expect(second).toMatchObject({ status: "rejected", reason: { name: "AbortError" } });
    expect(third).toMatchObject({ value: "three" });
  });

  it("is sent even if the previous one failed", async () => {
    const newest = new NewestWins();
    const [failed, next] = [
      newest.ask(() => Promise.reject(new Error("broken"))),
      newest.ask(() => Promise.resolve("next")),
    ];
    await expect(failed).rejects.toThrow("broken");
    expect(await next).toBe("next");
  });
});

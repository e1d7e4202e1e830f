import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { FindingsAnswer } from "../../src/shared/client/answers.ts";
import { Scan } from "../../src/shared/client/health.ts";

const at = (state: FindingsAnswer["state"], done: number): FindingsAnswer => ({
  state,
  done,
  total: 9,
  findings: [],
});

function make(...answers: (FindingsAnswer | Error)[]) {
  const asked: string[] = [];
  const next = async () => {
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer ?? at("done", 9);
  };
  const run = {
    ask: (_: AbortSignal, goOn: boolean) => {
      asked.push(goOn ? "go on" : "ask");
      return next();
    },
    stop: () => {
      asked.push("cancel");
      return next();
    },
  };
  const [seen, errors] = [[] as number[], [] as unknown[]];
  const controller = new AbortController();
  const events = {
    answered: (answer: FindingsAnswer) => seen.push(answer.done),
    failed: (error: unknown) => errors.push(error),
  };
  return { scan: new Scan(run, events, controller.signal), asked, seen, errors, controller };
}

describe("a scan", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("is polled every 400 ms until it is done, even before it has begun", async () => {
    const { scan, asked, seen } = make(at("none", 0), at("scanning", 3), at("done", 9));
    void scan.start();
    await vi.advanceTimersByTimeAsync(399);
    expect(asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(5000);
    expect([asked, seen]).toEqual([
      ["ask", "ask", "ask"],
      [0, 3, 9],
    ]);
  });

  it("is not polled while stopped", async () => {
    const { scan, asked, seen } = make(at("scanning", 3), at("cancelled", 4), at("scanning", 5));
    void scan.start();
    await vi.advanceTimersByTimeAsync(100);
    await scan.stop();
    await vi.advanceTimersByTimeAsync(5000);
    expect([asked, seen]).toEqual([
      ["ask", "cancel"],
      [3, 4],
    ]);
    void scan.start(true);
    await vi.advanceTimersByTimeAsync(5000);
    expect([asked.slice(2), seen]).toEqual([
      ["go on", "ask"],
      [3, 4, 5, 9],
    ]);
  });

  it("stops when its view closes or after reporting an error", async () => {
    const { scan, asked, errors, controller } = make(new Error("gone"), at("scanning", 1));
    await scan.start();
    expect(errors).toEqual([new Error("gone")]);
    void scan.start();
    await vi.advanceTimersByTimeAsync(10);
    controller.abort();
    await vi.advanceTimersByTimeAsync(5000);
    expect(asked).toHaveLength(2);
  });
});

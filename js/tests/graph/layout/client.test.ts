import code from "worker:../../../src/graph/layout/layout.worker.ts";
import { afterEach, describe, expect, it, vi } from "vitest";
import { layout, layoutSteps } from "../../../src/graph/layout/layout.ts";
import type { WorkerMessage } from "../../../src/graph/layout/layout.worker.ts";
import { layoutGraph, layoutInSlices } from "../../../src/graph/layout/layout_client.ts";
import { shareLayout } from "../../../src/graph/layout/wrapping.ts";
import { network } from "./graphs.ts";

// Node imports no Blobs; tests/ui/graph/test_graph_page.py has a page that does.
shareLayout(layoutSteps);

const input = network(2000, 4);
const expected = layout(input);

class Silent {
  static made: Silent[] = [];
  onmessage: ((event: { data: WorkerMessage }) => void) | null = null;
  onerror: ((event: { preventDefault(): void }) => void) | null = null;
  terminated = false;
  constructor() {
    Silent.made.push(this);
  }
  postMessage(): void {}
  terminate(): void {
    this.terminated = true;
  }
}

/** Runs the real worker's text in a scope of its own, messages cloned as a browser does. */
class Real extends Silent {
  readonly #scope: {
    onmessage?: (event: object) => void;
    postMessage(m: WorkerMessage, t?: Transferable[]): void;
  };
  constructor(url: string) {
    super();
    this.#scope = {
      postMessage: (message, transfer = []) => {
        const data = structuredClone(message, { transfer });
        queueMicrotask(() => this.onmessage?.({ data }));
      },
    };
    void fetch(url)
      .then((response) => response.text())
      .then((text) => new Function("globalThis", text)(this.#scope));
  }
  override postMessage(message?: object, transfer: Transferable[] = []): void {
    const data = structuredClone(message, { transfer });
    queueMicrotask(() => this.#scope.onmessage?.({ data }));
  }
}

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
  Silent.made = [];
});

describe("layout client", () => {
  it("runs in a worker without detaching the caller's arrays", async () => {
    vi.stubGlobal("Worker", Real);
    const result = await layoutGraph(input, code);
    expect(result).toEqual(expected);
    expect(input.source.length).toBe(expected.routes.offsets.length - 1);
    expect(Silent.made[0]!.terminated).toBe(true);
  });

  it("passes on errors of the layout", async () => {
    vi.stubGlobal("Worker", Real);
    const target = input.target.slice();
    target[7] = -1;
    await expect(layoutGraph({ ...input, target }, code)).rejects.toThrow(/edge 7/);
  });

  it("works on the main thread where workers are forbidden", async () => {
    vi.stubGlobal("Worker", undefined);
    const result = await layoutGraph(input, code);
    expect(result.x).toEqual(expected.x);
  });

  it("works on the main thread if the worker stays silent for two seconds", async () => {
    vi.stubGlobal("Worker", Silent);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const running = layoutGraph(input, code);
    await vi.advanceTimersByTimeAsync(1900);
    expect(Silent.made[0]!.terminated).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    expect(Silent.made[0]!.terminated).toBe(true);
    vi.useRealTimers();
    await vi.waitFor(async () => expect((await running).x).toEqual(expected.x));
  });

  it("works on the main thread where the worker breaks", async () => {
    vi.stubGlobal("Worker", Silent);
    const running = layoutGraph(input, code);
    Silent.made[0]!.onerror!({ preventDefault() {} });
    expect((await running).x).toEqual(expected.x);
  });

  it("stops on request, in the worker and on the main thread", async () => {
    vi.stubGlobal("Worker", Silent);
    const stop = new AbortController();
    const running = layoutGraph(input, code, { signal: stop.signal });
    stop.abort();
    await expect(running).rejects.toThrow(/abort/i);
    expect(Silent.made[0]!.terminated).toBe(true);

    const other = new AbortController();
    const big = network(20_000, 1);
    const sliced = layoutInSlices(big, code, {
      signal: other.signal,
      onProgress: () => other.abort(),
    });
    await expect(sliced).rejects.toThrow(/abort/i);
  });

  it("reports progress that never decreases", async () => {
    const fractions: number[] = [];
    await layoutInSlices(network(20_000, 1), code, {
      onProgress: (p) => fractions.push(p.fraction),
    });
    expect(fractions.length).toBeGreaterThan(2);
    expect([...fractions].sort((a, b) => a - b)).toEqual(fractions);
  });
});

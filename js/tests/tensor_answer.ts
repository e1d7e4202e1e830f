import type { TensorAnswer } from "../src/shared/run_client.ts";

interface Asked {
  low?: number | null;
  high?: number | null;
  mean?: number[];
  nan?: number;
  posInf?: number;
  negInf?: number;
  size?: number;
  counts?: number[];
  edges?: number[];
}

/** An answer about a tensor of 2 x 2 values, as far as a test cares. */
export function answer(asked: Asked): TensorAnswer {
  const mean = Float32Array.from(asked.mean ?? [0, 1, 2, 3]);
  const number = (value: number | null) => ({
    text: value === null ? "none" : String(value),
    value,
  });
  const [nan, posInf, negInf] = [asked.nan ?? 0, asked.posInf ?? 0, asked.negInf ?? 0];
  const size = asked.size ?? 4;
  return {
    entry: [3, 0],
    name: "conv",
    key: "conv____topo-index:3____output-num:0",
    dtype: "float32",
    shape: [2, 2],
    viewShape: [2, 2],
    nbytes: 16,
    offset: 100,
    file: "output_tensors.params",
    trust: "exact",
    notes: [],
    readings: [],
    reading: null,
    axes: [0, 1],
    index: [0, 0],
    statistics: {
      size,
      finite: size - nan - posInf - negInf,
      nan,
      posInf,
      negInf,
      zero: 0,
      negative: 0,
      minimum: number(asked.low === undefined ? 0 : asked.low),
      maximum: number(asked.high === undefined ? 3 : asked.high),
      mean: number(1),
      std: number(1),
      argmin: [0, 0],
      argmax: [1, 1],
    },
    histogram: asked.counts ? { counts: asked.counts, edges: asked.edges ?? [] } : null,
    tile: {
      rows: 2,
      cols: 2,
      rowStep: 1,
      colStep: 1,
      planeRows: 2,
      planeCols: 2,
      minimum: mean,
      maximum: mean,
      mean,
      flags: new Uint8Array(4),
    },
  };
}

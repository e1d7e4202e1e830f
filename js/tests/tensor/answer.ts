import type {
  StatisticsAnswer,
  TensorAnswer,
  Tile,
} from "../../src/shared/client/tensor_questions.ts";
import type { ShownTensor } from "../../src/tensor/state.ts";

interface LayoutRequest {
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

/** What is shown of a tensor of 2 x 2 values, as far as a test cares. */
export function shown(
  asked: LayoutRequest,
): ShownTensor & { answer: TensorAnswer; statistics: StatisticsAnswer } {
  const found = { answer: answer(asked), statistics: statistics(asked) };
  return {
    ...found,
    entry: found.answer.entry,
    show: "heatmap",
    along: null,
    region: null,
    colors: { scale: "auto", map: "auto", range: "auto" },
    scale: null,
    cells: "mean",
    values: { format: "number", scale: 1, zeroPoint: 0 },
  };
}

/** Its cells and its statistics. */
export function known(asked: LayoutRequest): { tile: Tile; statistics: StatisticsAnswer } {
  return { tile: answer(asked).tile!, statistics: statistics(asked) };
}

export function statistics(asked: LayoutRequest): StatisticsAnswer {
  const number = (value: number | null) => ({
    text: value === null ? "none" : String(value),
    value,
  });
  const [nan, posInf, negInf] = [asked.nan ?? 0, asked.posInf ?? 0, asked.negInf ?? 0];
  const size = asked.size ?? 4;
  return {
    state: "exact",
    done: size,
    total: size,
    statistics: {
      size,
      finite: size - nan - posInf - negInf,
      nan,
      posInf,
      negInf,
      zero: 0,
      negative: 0,
      denormal: 0,
      atLowest: 0,
      atHighest: 0,
      minimum: number(asked.low === undefined ? 0 : asked.low),
      maximum: number(asked.high === undefined ? 3 : asked.high),
      mean: number(1),
      std: number(1),
      argmin: [0, 0],
      argmax: [1, 1],
      firstNan: null,
      firstPosInf: null,
      firstNegInf: null,
      specials: ["nan", "posInf", "negInf"],
      atEnds: 0,
      verdict: "good",
    },
    reason: "",
    histogram: asked.counts
      ? { counts: asked.counts, edges: asked.edges ?? [], exact: true }
      : null,
    percentiles: [],
    robust: null,
    linear: null,
    scale: "linear",
    crowd: 0,
    distribution: null,
    limits: null,
  };
}

export function answer(asked: LayoutRequest): TensorAnswer {
  const mean = Float32Array.from(asked.mean ?? [0, 1, 2, 3]);
  return {
    entry: [3, 0],
    name: "conv",
    title: "conv2d #7",
    key: "conv____topo-index:3____output-num:0",
    dtype: "float32",
    valueDtype: "float32",
    shape: [2, 2],
    viewShape: [2, 2],
    nbytes: 16,
    offset: 100,
    file: "output_tensors.params",
    trust: "exact",
    notes: [],
    missingLanes: false,
    captured: "node",
    readings: [],
    reading: null,
    layouts: [],
    layout: "",
    sizes: {},
    axisNames: [],
    along: [0, 1],
    storedAxes: [[0], [1]],
    storedShape: [2, 2],
    axes: [0, 1],
    index: [0, 0],
    tile: {
      row: 0,
      col: 0,
      rows: 2,
      cols: 2,
      rowStep: 1,
      colStep: 1,
      planeRows: 2,
      planeCols: 2,
      exact: true,
      minimum: mean,
      maximum: mean,
      mean,
      flags: new Uint8Array(4),
    },
  };
}

import type { TensorAnswer } from "../../shared/client/tensor_questions.ts";
import type { Point } from "../plane.ts";
import type { Region, Shown, ValueLook } from "../state.ts";

/**
 * Python that gives just what is shown: the region that is marked, else the value at a point, else the plane or the
 * part of it in sight; all planes along an axis; or what a line plot along it tells.
 */
export function codeText(
  shown: Shown,
  point: Point | null,
  marked: Region | null = null,
): string | null {
  const { answer, show, along } = shown;
  if (!answer) return null;
  if (along !== null && show === "profile") return profileText(answer, along);
  if (along !== null && show === "channels") {
    return looked(channelsText(answer, along), shown.values);
  }
  return looked(windowText(answer, marked ?? point ?? shown.region), shown.values);
}

/** One plane after the other along an axis. */
function channelsText(answer: TensorAnswer, along: number): string {
  const { axes, index } = answer;
  const order = [along, ...axes].filter((axis) => axis !== null);
  const places = index.map((each, axis) => (order.includes(axis) ? ":" : each));
  const kept = [...order].sort((a, b) => a - b);
  const turned = order.map((axis) => kept.indexOf(axis));
  const code = `${arrayText(answer, false)}[${places.join(", ")}]`;
  return turned.every((axis, k) => axis === k) ? code : `${code}.transpose(${turned.join(", ")})`;
}

/** Least, largest and mean of the finite values along one axis. */
function profileText(answer: TensorAnswer, axis: number): string {
  const others = answer.viewShape.map((_, each) => each).filter((each) => each !== axis);
  const values = `np.ma.masked_invalid(np.asarray(${arrayText(answer, true)}).astype("float64"))`;
  const over = `axis=(${others.join(", ")}${others.length === 1 ? "," : ""})`;
  return `import numpy as np; x = ${values}; x.min(${over}), x.max(${over}), x.mean(${over})`;
}

/** The array whose axes are those shown; a layout without blocks only names them. */
function arrayText({ entry, reading, layout, sizes }: TensorAnswer, whole: boolean): string {
  const tensor = `run.tensors[${entry.join(", ")}]`;
  if (/[a-z]/.test(layout)) {
    const known = Object.entries(sizes).map(([name, size]) => `${JSON.stringify(name)}: ${size}`);
    const more = [
      JSON.stringify(layout),
      ...(known.length ? [`{${known.join(", ")}}`] : []),
      ...(reading === null ? [] : [`reading=${JSON.stringify(reading)}`]),
    ];
    return `${tensor}.unfold(${more.join(", ")})`;
  }
  if (reading !== null) return `${tensor}.numpy(${JSON.stringify(reading)})`;
  return whole ? `${tensor}.numpy()` : tensor;
}

function windowText(answer: TensorAnswer, place: Point | Region | null): string {
  const [down, across] = answer.axes;
  const code = `${arrayText(answer, false)}${placeText(answer, place)}`;
  const turned = !(place && "row" in place) && down !== null && across !== null && down > across;
  return turned ? `${code}.T` : code;
}

/** The index of a point, or the slice of a part of the plane; null stands for all of it. */
export function placeText(
  { axes: [down, across], index, viewShape }: TensorAnswer,
  place: Point | Region | null,
): string {
  const point = place && "row" in place ? place : null;
  const region = place && !("row" in place) ? place : null;
  const part = (axis: number, start: number, length: number) =>
    start === 0 && length >= viewShape[axis]! ? ":" : `${start}:${start + length}`;
  const places = index.map((each, axis) => {
    if (axis === down) return point ? point.row : region ? part(axis, region[0], region[2]) : ":";
    if (axis === across) return point ? point.col : region ? part(axis, region[1], region[3]) : ":";
    return each;
  });
  return `[${places.length ? places.join(", ") : "()"}]`;
}

function looked(code: string, { format, scale, zeroPoint }: ValueLook): string {
  if (format === "hex" || format === "bits") {
    const name = format === "hex" ? "hex_text" : "bit_text";
    return `from tvmdbg_widgets.model.base.number_text import ${name}; ${name}(${code})`;
  }
  if (format !== "dequantised") return code;
  const shift = zeroPoint < 0 ? `+ ${-zeroPoint}` : `- ${zeroPoint}`;
  return `(${code}.astype("float64") ${shift}) * ${scale}`;
}

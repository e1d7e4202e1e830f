import type { TensorAnswer } from "../../shared/client/tensor_questions.ts";
import { counted } from "../../shared/format.ts";
import type { Point } from "../plane.ts";
import type { Region, ShownTensor, ValueLook } from "../state.ts";

/** Python for the marked region, the value at a point, the visible plane, planes along an axis, or a line plot. */
export function codeText(
  shown: ShownTensor,
  point: Point | null,
  marked: Region | null = null,
): string | null {
  const { answer, show, along } = shown;
  if (!answer) return null;
  if (along !== null && show === "line plot") return profileText(answer, along);
  if (along !== null && show === "channels") {
    return looked(channelsText(answer, along), shown.values);
  }
  return looked(windowText(answer, marked ?? point ?? shown.region), shown.values);
}

/** Python that saves what is shown in a file. */
export function savingText(kind: "npy" | "csv" | "png", shown: ShownTensor): string {
  const number = { ...shown.values, format: "number" } as const;
  const look = shown.values.format === "dequantized" ? shown.values : number;
  const code = codeText({ ...shown, values: look }, null) ?? "";
  const rows = shown.show === "channels" ? `np.vstack(${code})` : code;
  if (kind === "csv") return `np.savetxt("values.csv", ${rows}, delimiter=",", fmt="%s")`;
  return kind === "npy" ? `np.save("values.npy", ${code})` : code;
}

/** Planes one after the other along an axis. */
function channelsText(answer: TensorAnswer, along: number): string {
  const { axes, index } = answer;
  const order = [along, ...axes].filter((axis) => axis !== null);
  const places = index.map((value, axis) => (order.includes(axis) ? ":" : value));
  const kept = [...order].sort((a, b) => a - b);
  const turned = order.map((axis) => kept.indexOf(axis));
  const code = `${arrayText(answer, false)}[${places.join(", ")}]`;
  return turned.every((axis, k) => axis === k) ? code : `${code}.transpose(${turned.join(", ")})`;
}

/** Minimum, maximum and mean of the finite values along one axis. */
function profileText(answer: TensorAnswer, axis: number): string {
  const others = answer.viewShape.map((_, axisAt) => axisAt).filter((other) => other !== axis);
  const values = `np.ma.masked_invalid(np.asarray(${arrayText(answer, true)}).astype("float64"))`;
  const over = `axis=(${others.join(", ")}${others.length === 1 ? "," : ""})`;
  return `import numpy as np; x = ${values}; x.min(${over}), x.max(${over}), x.mean(${over})`;
}

/** Array with the shown axes; a layout without blocks only names them. */
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

/** Index of a point, or slice of a part of the plane; null stands for all of it. */
export function placeText(
  { axes: [down, across], index, viewShape }: TensorAnswer,
  place: Point | Region | null,
): string {
  const point = place && "row" in place ? place : null;
  const region = place && !("row" in place) ? place : null;
  const part = (axis: number, start: number, length: number) =>
    start === 0 && length >= viewShape[axis]! ? ":" : `${start}:${start + length}`;
  const places = index.map((value, axis) => {
    if (axis === down) return point ? point.row : region ? part(axis, region[0], region[2]) : ":";
    if (axis === across) return point ? point.col : region ? part(axis, region[1], region[3]) : ":";
    return value;
  });
  return `[${places.length ? places.join(", ") : "()"}]`;
}

function looked(code: string, { format, scale, zeroPoint }: ValueLook): string {
  if (format === "hex" || format === "bits") {
    const name = format === "hex" ? "hex_text" : "bit_text";
    return `from tvmdbg_widgets.model.base.number_text import ${name}; ${name}(${code})`;
  }
  if (format !== "dequantized") return code;
  const shift = zeroPoint < 0 ? `+ ${-zeroPoint}` : `- ${zeroPoint}`;
  return `(${code}.astype("float64") ${shift}) * ${scale}`;
}

/** Copies selected numbers in full, and with the minus sign of code. */
export function copyNumbers(root: HTMLElement, signal: AbortSignal): void {
  const copy = (event: ClipboardEvent) => {
    const text = event.defaultPrevented ? "" : selectedText(root);
    if (!text || !event.clipboardData) return;
    event.clipboardData.setData("text/plain", text);
    event.preventDefault();
  };
  root.addEventListener("copy", copy, { signal });
}

/** The selected text; a partly selected single number counts completely. */
function selectedText(root: HTMLElement): string {
  const selection = getSelection();
  if (!selection || selection.isCollapsed) return "";
  let text = String(selection);
  let from = 0;
  for (const node of root.querySelectorAll<HTMLElement>("[data-copy]")) {
    if (!selection.containsNode(node, true)) continue;
    const [shown, full] = [node.textContent ?? "", node.dataset.copy!];
    const at = text.indexOf(shown, from);
    if (at < 0) return shown.includes(text.trim()) ? full : text.replaceAll("−", "-");
    text = `${text.slice(0, at)}${full}${text.slice(at + shown.length)}`;
    from = at + full.length;
  }
  return text.replaceAll("−", "-");
}

/** A typed index, `0,3,2,1`, `[0, 3, 2, 1]` or `0 3 2 1`, negative from the end; or an error. */
export function typedIndex(text: string, shape: readonly number[]): number[] | string {
  const plain = text.replace(/^\s*[[(]|[\])]\s*$/g, "").trim();
  const words = plain.split(/[\s,]+/).filter(Boolean);
  if (!words.every((word) => /^[-−]?\d+$/.test(word))) return "expected integers, such as 0,3,2,1";
  const axes = counted(shape.length, "axis");
  if (words.length !== shape.length) return `the tensor has ${axes}: [${shape.join(", ")}]`;
  const index = words.map((word, axis) => {
    const at = Number(word.replace("−", "-"));
    return at < 0 ? at + shape[axis]! : at;
  });
  const wrong = index.findIndex((at, axis) => at < 0 || at >= shape[axis]!);
  return wrong < 0 ? index : `axis ${wrong} has indices 0 to ${shape[wrong]! - 1}`;
}

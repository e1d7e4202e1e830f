import { button, element } from "../shared/dom.ts";
import { bytes as byteText, integer, shapeText } from "../shared/format.ts";
import { errorText } from "../shared/message.ts";
import { isAbort } from "../shared/request.ts";
import type { RunClient } from "../shared/run_client.ts";
import { readTheme } from "../shared/theme.ts";
import { codeText } from "./code_text.ts";
import { csvText } from "./csv.ts";
import { download, downloadProblem, fileName } from "./download.ts";
import { fetchBytes, fetchTexts } from "./fetch_view.ts";
import { itemSize, npyHeader, numbersOf } from "./npy.ts";
import { part } from "./parts.ts";
import { snapshot } from "./snapshot.ts";
import { type Region, type Shown, viewOf } from "./state.ts";

/** Values a file made in the page may hold; more is quicker in Python. */
const MOST = { npy: 2 ** 25, csv: 2 ** 20 } as const;

interface Source {
  /** The picture that is on screen. */
  canvas(): HTMLCanvasElement | null;
}

type Kind = "npy" | "csv" | "png";

/** Saves just what is shown: its values as numpy's file or as text, or its picture. */
export class Saving {
  readonly node: HTMLElement;
  readonly #root: HTMLElement;
  readonly #run: RunClient;
  readonly #source: Source;
  readonly #say: (text: string) => void;
  readonly #signal: AbortSignal;
  readonly #menu: HTMLElement;
  readonly #button: HTMLButtonElement;
  readonly #status = element("div", { class: "tvmdbg-tensor-save-status" });
  readonly #bar = element("progress", { max: 1, value: 0, hidden: true, "aria-label": "Fetched" });
  readonly #cancel: HTMLButtonElement;
  #shown: Shown | null = null;
  #busy: AbortController | null = null;

  constructor(
    root: HTMLElement,
    run: RunClient,
    source: Source,
    say: (text: string) => void,
    signal: AbortSignal,
  ) {
    this.#root = root;
    this.#run = run;
    this.#source = source;
    this.#say = say;
    this.#signal = signal;
    this.#button = button("save", "Save what is shown (w)", () => this.toggle());
    this.#cancel = button("cancel", "Stop saving", () => this.#busy?.abort());
    this.#cancel.hidden = true;
    const kinds = (["npy", "csv", "png"] as const).map((kind) =>
      button(kind, TITLES[kind], () => this.#save(kind)),
    );
    this.#menu = part(
      "save-menu",
      part("save-kinds", ...kinds),
      this.#bar,
      this.#cancel,
      this.#status,
    );
    this.#menu.hidden = true;
    this.#menu.setAttribute("role", "group");
    this.#menu.setAttribute("aria-label", "Save what is shown");
    this.#button.setAttribute("aria-expanded", "false");
    this.node = part("save", this.#button, this.#menu);
    this.#menu.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.toggle();
      this.#root.focus({ preventScroll: true });
    });
  }

  show(shown: Shown): void {
    this.#shown = shown;
    this.node.hidden = !shown.answer?.tile;
  }

  toggle(): void {
    if (this.node.hidden) return;
    this.#menu.hidden = !this.#menu.hidden;
    this.#button.setAttribute("aria-expanded", String(!this.#menu.hidden));
    if (this.#menu.hidden) return;
    this.#tell(this.#what());
    this.#menu.querySelector("button")?.focus({ preventScroll: true });
  }

  /** The window that is shown, in values of the plane. */
  get #window(): Region {
    const tile = this.#shown?.answer?.tile;
    return this.#shown?.region ?? [0, 0, tile?.planeRows ?? 0, tile?.planeCols ?? 0];
  }

  #what(): string {
    const [, , rows, cols] = this.#window;
    return `${shapeText([rows, cols])} values of what is shown; png saves the picture.`;
  }

  #tell(text: string): void {
    this.#status.textContent = text;
    this.#say(text);
  }

  async #save(kind: Kind): Promise<void> {
    const shown = this.#shown;
    if (!shown?.answer || this.#busy) return;
    const problem = downloadProblem();
    const [, , rows, cols] = this.#window;
    const most = kind === "png" ? Infinity : MOST[kind];
    if (problem || rows * cols > most) {
      const why = problem || `${integer(rows * cols)} values are more than a page should hold.`;
      this.#tell(`${why} In Python: ${pythonFor(kind, shown)}`);
      return;
    }
    this.#busy = new AbortController();
    this.#cancel.hidden = this.#bar.hidden = kind === "png";
    this.#bar.value = 0;
    const signal = AbortSignal.any([this.#busy.signal, this.#signal]);
    try {
      const [blob, note] = await this.#make(kind, shown, signal);
      const { entry, name, index, axes } = shown.answer;
      const place = index.map((each, axis) => (axes.includes(axis) ? "x" : each)).join("-");
      const file = fileName([entry.join("-"), name, place], kind);
      download(file, blob);
      this.#tell(`${file}, ${byteText(blob.size)}.${note ? ` ${note}.` : ""}`);
    } catch (error) {
      this.#tell(isAbort(error) ? "Not saved: stopped." : `Not saved: ${errorText(error)}`);
    } finally {
      this.#busy = null;
      this.#cancel.hidden = this.#bar.hidden = true;
    }
  }

  #make(kind: Kind, shown: Shown, signal: AbortSignal): Promise<[Blob, note: string]> {
    if (kind === "npy") return this.#npy(shown, signal);
    return kind === "csv" ? this.#csv(shown, signal) : this.#png(shown);
  }

  readonly #progress = (done: number, total: number) => {
    this.#bar.value = total > 0 ? done / total : 1;
  };

  async #npy({ answer, values }: Shown, signal: AbortSignal): Promise<[Blob, string]> {
    const window = this.#window;
    const fetched = await fetchBytes(this.#run, viewOf(answer!), window, this.#progress, signal);
    const shape = planeShape(answer!.axes, window);
    const { descr, bytes, note } = fetched;
    if (values.format !== "dequantised") {
      return [new Blob([npyHeader(descr, shape), bytes]), note];
    }
    const numbers = numbersOf(descr, new DataView(bytes.buffer));
    if (!numbers) throw new Error("these values are no real numbers, which could be dequantised");
    const real = numbers.map((value) => (value - values.zeroPoint) * values.scale);
    const size = itemSize("<f8");
    const out = new DataView(new ArrayBuffer(real.length * size));
    for (const [k, value] of real.entries()) out.setFloat64(k * size, value, true);
    const how = `(value − ${values.zeroPoint}) × ${values.scale} as float64`;
    return [new Blob([npyHeader("<f8", shape), out.buffer]), how];
  }

  async #csv({ answer, values }: Shown, signal: AbortSignal): Promise<[Blob, string]> {
    const view = viewOf(answer!);
    const rows = await fetchTexts(this.#run, view, values, this.#window, this.#progress, signal);
    const how = values.format === "number" ? "" : `as ${values.format}`;
    return [new Blob([csvText(rows)], { type: "text/csv" }), how];
  }

  async #png(shown: Shown): Promise<[Blob, string]> {
    const picture = this.#source.canvas();
    const { answer } = shown;
    if (!picture || !answer) throw new Error("there is no picture");
    const exact = answer.tile?.exact ? "every value" : "sampled";
    const layout = answer.layout ? `, unfolded from ${answer.layout}` : "";
    const words = [
      `${answer.entry.join(":")} ${answer.name}`,
      `${answer.dtype} ${shapeText(answer.viewShape)}${layout}, ${exact}`,
      codeText(
        { ...shown, show: "picture", values: { ...shown.values, format: "number" } },
        null,
      ) ?? "",
    ];
    const canvas = snapshot(picture, shown, words, readTheme(this.#root));
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve));
    if (!blob) throw new Error("the browser made no file of the picture");
    return [blob, ""];
  }
}

const TITLES: Record<Kind, string> = {
  npy: "Save the values as a file of numpy (.npy)",
  csv: "Save the values as text (.csv)",
  png: "Save the picture with its legend (.png)",
};

/** As many axes as the copied code gives. */
function planeShape(
  [down, across]: readonly (number | null)[],
  [, , rows, cols]: Region,
): number[] {
  if (across === null) return [];
  return down === null ? [cols] : [rows, cols];
}

function pythonFor(kind: Kind, shown: Shown): string {
  const number = { ...shown.values, format: "number" } as const;
  const look = shown.values.format === "dequantised" ? shown.values : number;
  const code = codeText({ ...shown, show: "picture", values: look }, null) ?? "";
  if (kind === "csv") return `np.savetxt("values.csv", ${code}, delimiter=",", fmt="%.17g")`;
  return kind === "npy" ? `np.save("values.npy", ${code})` : "run.tensors[…].figure()";
}

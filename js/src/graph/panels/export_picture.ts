import { errorText } from "../../shared/client/message.ts";
import { bytes } from "../../shared/format.ts";
import { button, element } from "../../shared/ui/dom.ts";
import { download, downloadProblem, fileName } from "../../shared/ui/download.ts";
import { SvgCanvas } from "../paint/svg.ts";
import type { GraphParts } from "../parts.ts";
import type { Camera } from "../stage/camera.ts";
import type { Popup } from "./popup.ts";

/** A whole graph of more boxes is saved without texts. */
const MOST_READ = 20_000;
const FLAT_SCALE = 0.3;
/** What browsers take of a canvas. */
const MOST_SIDE = 16_000;
const MOST_PIXELS = 100e6;

type Kind = "svg" | "png";
type What = "view" | "whole graph";

const CHOICES = [
  ["svg", "view"],
  ["svg", "whole graph"],
  ["png", "view"],
  ["png", "whole graph"],
] as const satisfies [Kind, What][];

/** What it needs of the view. */
export type Saved = Pick<
  GraphParts,
  "context" | "chosen" | "placed" | "stage" | "mirror" | "palette"
>;

/** Saves what is drawn as a picture: just what is on the stage, or the whole graph. */
export class Saves {
  readonly #view: Saved;
  readonly #popup: Popup;

  constructor(view: Saved, popup: Popup) {
    this.#view = view;
    this.#popup = popup;
  }

  /** The choices, below a control of the view. */
  open(control: HTMLElement): void {
    const status = element("div", { class: "tvmdbg-muted", role: "status" });
    const items = CHOICES.map(([kind, what]) => {
      const label = `${kind.toUpperCase()} of the ${what}`;
      return button(label, label, async () => {
        status.textContent = await this.#save(kind, what);
        this.#view.mirror.say(status.textContent);
      });
    });
    this.#popup.below(control, "dialog", "export a picture", [...items, status]);
  }

  /** Saves a picture; returns what there is to say of it. */
  async #save(kind: Kind, what: What): Promise<string> {
    const problem = downloadProblem();
    if (problem) {
      return `${problem} In Python: view.save("graph.${kind}"${what === "view" ? "" : ', what="whole"'})`;
    }
    const { context, placed, stage } = this.#view;
    try {
      const { title } = await context.run.summary();
      const isFlat = (placed?.scene.count ?? 0) > MOST_READ;
      const camera = what === "view" ? stage.camera : stage.whole(isFlat ? FLAT_SCALE : 1);
      const [blob, note] = kind === "svg" ? this.#svg(camera, title) : await this.#png(camera);
      const file = fileName([title, what === "view" ? "graph view" : "graph"], kind);
      download(file, blob);
      return `${file}, ${bytes(blob.size)}.${note}`;
    } catch (error) {
      return `Not saved: ${errorText(error)}`;
    }
  }

  #svg(camera: Camera, title: string): [Blob, string] {
    const context = new SvgCanvas();
    this.#view.stage.drawInto(context as unknown as CanvasRenderingContext2D, camera);
    const { palette, chosen } = this.#view;
    const words = `Graph of ${title}, colored by ${chosen.colorBy}`;
    const text = context.text(camera.width, camera.height, words, palette.hatched);
    return [new Blob([text], { type: "image/svg+xml" }), ""];
  }

  async #png({ x, y, scale, width, height }: Camera): Promise<[Blob, string]> {
    const ratio = Math.min(
      devicePixelRatio || 1,
      MOST_SIDE / Math.max(width, height),
      Math.sqrt(MOST_PIXELS / (width * height)),
    );
    // What would be drawn smaller than on screen is drawn as at that scale, so that texts stay legible or go.
    const part = Math.min(1, ratio);
    const camera = Object.assign(this.#view.stage.whole(1), { x, y, scale: scale * part });
    camera.resize(width * part, height * part);
    const canvas = document.createElement("canvas");
    canvas.width = Math.round((camera.width * ratio) / part);
    canvas.height = Math.round((camera.height * ratio) / part);
    const context = canvas.getContext("2d");
    if (!context) throw new Error("this browser has no 2-D canvas");
    context.scale(ratio / part, ratio / part);
    this.#view.stage.drawInto(context, camera);
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve));
    if (!blob) throw new Error("the browser could not encode the picture");
    return [blob, part < 1 ? " It is smaller than on screen; an SVG is not." : ""];
  }
}

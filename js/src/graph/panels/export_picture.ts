import { errorText } from "../../shared/client/request.ts";
import { layer } from "../../shared/drawing/canvas.ts";
import { SvgContext, type TextRuler } from "../../shared/drawing/svg_context.ts";
import { escaped, markup } from "../../shared/drawing/svg_marks.ts";
import { bytes } from "../../shared/format.ts";
import {
  button,
  download,
  downloadProblem,
  element,
  fileName,
  KEEP_KEYS,
  raised,
} from "../../shell/dom.ts";
import type { Camera } from "../camera.ts";
import { type GraphHost, GraphPart } from "../parts.ts";

/** Popup over the view that closes when it loses the keyboard: a menu, a few controls. */
export class Popup {
  readonly node = raised("tvmdbg-more-menu tvmdbg-column tvmdbg-scrolls tvmdbg-graph-popup", {
    tabindex: -1,
    ...KEEP_KEYS,
  });
  readonly #root: HTMLElement;

  constructor(root: HTMLElement) {
    this.#root = root;
    const { node } = this;
    node.addEventListener("focusout", ({ relatedTarget }) => {
      if (!node.contains(relatedTarget as Node | null)) node.hidden = true;
    });
    node.addEventListener("keydown", (event) => {
      const by = { ArrowDown: 1, ArrowUp: -1, Home: 0, End: 0 }[event.key];
      if (by === undefined || (by === 0 && event.target instanceof HTMLInputElement)) return;
      event.preventDefault();
      const items = Array.from(node.querySelectorAll<HTMLElement>("button, input"));
      const at = items.indexOf(document.activeElement as HTMLElement);
      const to = event.key === "Home" ? 0 : event.key === "End" ? -1 : (at + by) % items.length;
      items.at(to)?.focus();
    });
  }

  /** Shows the items at a point of the view, inside it; the first of them gets the keyboard. */
  open(role: "menu" | "dialog", label: string, x: number, y: number, items: readonly Node[]): void {
    const { node } = this;
    node.setAttribute("role", role);
    node.setAttribute("aria-label", label);
    node.replaceChildren(...items);
    node.hidden = false;
    const { clientWidth, clientHeight } = this.#root;
    node.style.maxHeight = `${clientHeight - 8}px`;
    node.style.left = `${Math.max(4, Math.min(x, clientWidth - node.offsetWidth - 4))}px`;
    node.style.top = `${Math.max(4, Math.min(y, clientHeight - node.offsetHeight - 4))}px`;
    node.scrollTop = 0;
    (node.querySelector<HTMLElement>("button, input") ?? node).focus({ preventScroll: true });
  }

  below(
    control: HTMLElement,
    role: "menu" | "dialog",
    label: string,
    items: readonly Node[],
  ): void {
    const seen = control.checkVisibility() ? control : this.#root.querySelector(".tvmdbg-more");
    const [at, root] = [seen ?? control, this.#root].map((element) =>
      element.getBoundingClientRect(),
    );
    this.open(role, label, at!.left - root!.left, at!.bottom - root!.top + 2, items);
  }

  close(): void {
    this.#root.focus({ preventScroll: true });
    this.node.hidden = true;
  }
}

export class SvgCanvas extends SvgContext {
  constructor() {
    super(rulerOf(layer("").context));
  }

  text(width: number, height: number, title: string): string {
    const [wide, high] = [width, height].map((side) => String(Math.round(side * 100) / 100));
    return [
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${wide} ${high}" width="${wide}" height="${high}">`,
      `<title>${escaped(title)}</title>`,
      markup(this.marks),
      "</svg>\n",
    ].join("\n");
  }
}

function rulerOf(context: CanvasRenderingContext2D): TextRuler {
  const shifts = new Map<string, number>();
  return {
    exact: true,
    family: "",
    width(text, font) {
      context.font = font;
      return context.measureText(text).width;
    },
    shift(font, baseline) {
      const key = `${baseline} ${font}`;
      const known = shifts.get(key);
      if (known !== undefined) return known;
      context.font = font;
      const ascent = (line: CanvasTextBaseline) => {
        context.textBaseline = line;
        return context.measureText("x").actualBoundingBoxAscent;
      };
      const shift = ascent("alphabetic") - ascent(baseline);
      shifts.set(key, shift);
      return shift;
    },
  };
}

/** Number of boxes from which a complete graph is saved without texts. */
const MOST_READ = 20_000;
const FLAT_SCALE = 0.3;
/** Largest canvas side in browsers. */
const MOST_SIDE = 16_000;
const MOST_PIXELS = 100e6;

type PictureFormat = "svg" | "png";
type What = "view" | "whole graph";

const CHOICES = [
  ["svg", "view"],
  ["svg", "whole graph"],
  ["png", "view"],
  ["png", "whole graph"],
] as const satisfies [PictureFormat, What][];

export class PictureExport extends GraphPart {
  readonly #popup: Popup;

  constructor(view: GraphHost, popup: Popup) {
    super(view);
    this.#popup = popup;
  }

  open(control: HTMLElement): void {
    const status = element("div", { class: "tvmdbg-muted", role: "status" });
    const items = CHOICES.map(([kind, what]) => {
      const label = `${kind.toUpperCase()} of the ${what}`;
      return button(label, label, async () => {
        status.textContent = await this.#save(kind, what);
        this.view.mirror.say(status.textContent);
      });
    });
    this.#popup.below(control, "dialog", "export a picture", [...items, status]);
  }

  async #save(kind: PictureFormat, what: What): Promise<string> {
    const problem = downloadProblem();
    if (problem) {
      return `${problem} In Python: view.save("graph.${kind}"${what === "view" ? "" : ', what="whole"'})`;
    }
    const { context, placed, stage } = this.view;
    try {
      const { title } = await context.run.ask("summary");
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
    this.view.stage.drawInto(context as unknown as CanvasRenderingContext2D, camera);
    const words = `Graph of ${title}, colored by ${this.view.chosen.colorBy}`;
    const text = context.text(camera.width, camera.height, words);
    return [new Blob([text], { type: "image/svg+xml" }), ""];
  }

  async #png(camera: Camera): Promise<[Blob, string]> {
    const { width, height } = camera;
    const ratio = Math.min(
      devicePixelRatio || 1,
      MOST_SIDE / Math.max(width, height),
      Math.sqrt(MOST_PIXELS / (width * height)),
    );
    const { canvas, context } = layer("");
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    context.scale(ratio, ratio);
    this.view.stage.drawInto(context, camera);
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve));
    if (!blob) throw new Error("the browser could not encode the picture");
    return [blob, ratio < 1 ? " It is smaller than on screen; an SVG is not." : ""];
  }
}

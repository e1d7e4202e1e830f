import type { MemoryOptions } from "../shared/client/options.ts";
import type { Layer } from "../shared/drawing/canvas.ts";
import { readTheme, type Theme } from "../shared/drawing/theme.ts";
import { counted, integer } from "../shared/format.ts";
import { AxisCamera, type AxisView } from "../shell/axis_camera.ts";
import { CodeCopy, titleOf } from "../shell/code_copy.ts";
import { div, element, KEEP_KEYS, type Mirror } from "../shell/dom.ts";
import type { Gesture, PointerHandlers, PointerSpot } from "../shell/pointer.ts";
import { Stage, type StagePainters } from "../shell/stage.ts";
import { factList, Tooltip } from "../shell/tooltip.ts";
import type { ViewContext } from "../shell/view.ts";
import { MemoryPainter } from "./painter.ts";
import { legend } from "./panel.ts";
import { type Plan, PlanDescriptions } from "./plan.ts";
import { type MemoryHit, MemoryOverlay, MemoryScene } from "./scene.ts";

export type { MemoryOptions };

const SOURCE = "memory";
/** Exact bytes behind rounded ones; on screen they are in the title of their line. */
const EXACT = /(?<=[KMGT]iB) \([\d,]+\)/g;

/** A memory view: connects its parts with each other and with the session. */
export class MemoryView implements AxisView, PointerHandlers, StagePainters {
  readonly scene: MemoryScene;
  readonly stage: Stage;
  readonly camera: AxisCamera;
  readonly tooltip: Tooltip;
  /** The visible range, for the toolbar. */
  readonly range = element("output", { class: "tvmdbg-muted", "aria-label": "visible range" });
  /** Called after changes that the toolbar shows. */
  changed: () => void = () => {};
  readonly details = element("section", {
    class: "tvmdbg-memory-details tvmdbg-shaded tvmdbg-anywhere",
    "aria-label": "details",
    tabindex: 0,
    ...KEEP_KEYS,
  });
  readonly legend = div("tvmdbg-memory-legend tvmdbg-wrap tvmdbg-gap-12");
  readonly #plan: Plan;
  readonly #words: PlanDescriptions;
  readonly #root: HTMLElement;
  readonly #context: ViewContext<MemoryOptions>;
  readonly #mirror: Mirror;
  readonly #copier: CodeCopy;
  #painter!: MemoryPainter;
  #overlay!: MemoryOverlay;
  #drawn = {};
  #spoken = "[]";

  constructor(root: HTMLElement, context: ViewContext<MemoryOptions>, plan: Plan, mirror: Mirror) {
    const { run, session, signal } = context;
    this.#root = root;
    this.#context = context;
    this.#plan = plan;
    this.#mirror = mirror;
    this.legend.ariaLabel = "colors";
    this.scene = new MemoryScene(plan);
    this.#words = new PlanDescriptions(plan, session);
    const say = (text: string) => mirror.say(text);
    this.#copier = new CodeCopy(root, () => this.#code, say, titleOf(run), signal);
    this.tooltip = new Tooltip(signal);
    const painters = (base: Layer, over: Layer) => {
      this.#painter = new MemoryPainter(this.scene, this.#words, base.context);
      this.#overlay = new MemoryOverlay(this.scene, over.context);
      return this;
    };
    this.stage = new Stage(root, "tvmdbg-memory-base", painters, signal);
    this.camera = new AxisCamera(this, signal);
  }

  base(theme: Theme, width: number, height: number): void {
    this.scene.resize(width, height);
    this.#drawn = this.#painter.paint(theme);
  }

  over(theme: Theme): void {
    this.#overlay.paint(theme);
  }

  inspect(): object {
    const { viewport, current, hovered } = this.scene;
    return { ...this.#drawn, view: [viewport.start, viewport.end], current, hovered };
  }

  moved(): void {
    this.stage.changed();
    this.tooltip.hide();
  }

  keep(range: [start: number, end: number] | null): void {
    this.#context.options.set("step_range", range);
  }

  look(): void {
    const { options } = this.#context;
    this.scene.parameters = options.get("parameters");
    this.scene.bySize = options.get("color_by") === "size";
    this.legend.replaceChildren(...legend(this.#plan, this.scene.bySize, readTheme(this.#root)));
    this.camera.follow(options.get("step_range"));
    this.stage.changed();
    this.changed();
  }

  showParameters(): void {
    const { options } = this.#context;
    options.set("parameters", !options.get("parameters"));
    this.look();
    this.#mirror.say(`parameters ${this.scene.parameters ? "shown" : "hidden"}`);
  }

  nextColor(): void {
    const by = this.scene.bySize ? "kind" : "size";
    this.colorBy(by);
    this.#mirror.say(`entries colored by ${by}`);
  }

  colorBy(by: "kind" | "size"): void {
    this.#context.options.set("color_by", by);
    this.look();
  }

  zoom(factor: number): void {
    const { pointer } = this.scene;
    const step = this.#step;
    this.camera.zoom(
      factor,
      pointer ? this.scene.at(pointer.x) : step < 0 ? Number.NaN : step + 0.5,
    );
  }

  /** The step of the selected node, -1 if it does not run. */
  get #step(): number {
    const { node } = this.#context.session;
    return node === null ? -1 : (this.#plan.stepOf[node] ?? -1);
  }

  zoomToSelection(): void {
    const { current } = this.scene;
    const { first, last } = this.#plan.columns;
    if (current < 0) this.camera.all();
    else this.camera.move((viewport) => viewport.show(first[current]! - 2, last[current]! + 3));
  }

  center(): void {
    const { current } = this.scene;
    const { first, last } = this.#plan.columns;
    if (current < 0) return;
    this.camera.move((viewport) => viewport.center((first[current]! + last[current]! + 1) / 2));
  }

  peak(): void {
    const [node] = this.#plan.columns.info.peakNodes;
    if (node === undefined) return;
    this.#context.session.select(node, SOURCE);
    this.sync();
    this.#mirror.say(`peak ${this.#words.stepSentence(this.#plan.stepOf[node]!)}`);
  }

  pick(entry: number, toggle?: boolean): void {
    if (entry < 0) this.#pickNode(null);
    else this.#pickNode(this.#plan.owner[entry]!, toggle, this.#plan.output(entry));
  }

  #pickNode(node: number | null, toggle?: boolean, output = 0): void {
    const { session } = this.#context;
    if (node !== null && toggle) session.toggle(node, SOURCE);
    else session.select(node, SOURCE, { output });
    this.sync();
  }

  click({ x, y }: PointerSpot, event: MouseEvent): void {
    const hit = this.scene.hit(x, y);
    const toggle = event.ctrlKey || event.metaKey;
    if (hit && hit.row < 0) this.pickStep(hit.step, toggle);
    else this.pick(hit?.entry ?? -1, toggle);
  }

  doubleClick(): void {
    this.zoomToSelection();
  }

  drag({ x, y }: PointerSpot, { last }: Gesture): void {
    this.#hoverAt(null, x, y);
    this.camera.panBy(last.x - x);
    this.camera.move(() => this.scene.scrollBy(last.y - y));
  }

  pinch(factor: number, { x }: PointerSpot): void {
    this.camera.zoom(1 / factor, this.scene.at(x));
  }

  hover({ x, y }: PointerSpot): void {
    this.scene.pointer = { x, y };
    this.#hoverAt(this.scene.hit(x, y), x, y);
  }

  leave(): void {
    this.scene.pointer = null;
    this.#hoverAt(null, 0, 0);
  }

  pickStep(step: number, toggle?: boolean): void {
    const node = this.#plan.columns.order[step];
    if (node !== undefined) this.#pickNode(node, toggle);
  }

  move(by: number): void {
    const { order } = this.#plan.columns;
    const { viewport } = this.scene;
    const step = this.#step;
    const from = step < 0 ? Math.floor(viewport.start) - (by > 0 ? 1 : 0) : step;
    const next = Math.min(Math.max(0, from + by), order.length - 1);
    if (next >= 0) this.pickStep(next);
  }

  /** Entry of the next slot while the current node runs. */
  otherSlot(by: number): void {
    const { current } = this.scene;
    const { first } = this.#plan.columns;
    const rows = this.#plan.slots.length;
    const here = current < 0 ? -1 : this.#plan.rowOfEntry(current);
    const step = current < 0 ? Math.floor(this.scene.viewport.start) : first[current]!;
    for (let row = here < 0 && by < 0 ? rows - 1 : here + by; row >= 0 && row < rows; row += by) {
      const entry = this.#plan.at(row, step);
      if (entry >= 0) {
        this.pick(entry);
        return;
      }
    }
  }

  /** Scrolls through the slots, by a share of the visible ones. */
  scroll(share: number): void {
    const { height, rowsTop } = this.scene;
    this.camera.move(() => this.scene.scrollBy(share * (height - rowsTop)));
  }

  /** The next or previous entry of the same slot. */
  sameSlot(by: number): void {
    const { current } = this.scene;
    const next = current < 0 ? -1 : this.#plan.beside(current, by);
    if (next >= 0) this.pick(next);
  }

  copy(): void {
    this.#copier.copy();
  }

  get #code(): string {
    const { entry } = this.#context.session;
    if (!entry) return "run.memory_plan()";
    const [node, output] = entry;
    return `run.memory_plan().entry(${output ? `${node}, ${output}` : node})`;
  }

  #hoverAt(hit: MemoryHit | null, x: number, y: number): void {
    const entry = hit?.entry ?? -1;
    const { order } = this.#plan.columns;
    const node =
      entry >= 0 ? this.#plan.owner[entry]! : hit && hit.row < 0 ? order[hit.step] : null;
    this.scene.hovered = entry;
    this.#context.session.hover(node ?? null);
    this.stage.touched();
    if (!hit) {
      this.tooltip.hide();
      return;
    }
    this.tooltip.tell(this.#lines(hit), this.stage.node, x, y, this.scene.target(hit));
  }

  #lines({ entry, row, step }: MemoryHit): string[] {
    const words = this.#words;
    if (entry >= 0) return words.brief(entry);
    const { order } = this.#plan.columns;
    const title = order.length ? words.node(order[step]!) : "before anything runs";
    const [head, facts] = row >= 0 ? words.free(row, step) : [title, words.step(step)];
    const short = facts.filter(([name]) => name !== "parameters");
    return [head, ...short.map((fact) => fact.join(" "))];
  }

  /** Follows the session; scrolls to a new entry. */
  sync(anew = false): void {
    const { selected, entry, node } = this.#context.session;
    const spoken = JSON.stringify([selected, entry]);
    if (!anew && spoken === this.#spoken) return;
    const before = this.scene.current;
    this.scene.current = entry && node !== null ? this.#entry(...entry) : -1;
    this.scene.selected = selected;
    this.#spoken = spoken;
    const { current } = this.scene;
    if (current >= 0 && current !== before) {
      this.camera.move(() => this.scene.reveal(current, this.#step));
    }
    this.stage.touched();
    this.#tell();
  }

  /** Number of an entry, -1 if the graph has none such. */
  #entry(node: number, output: number): number {
    const { entryOffsets } = this.#plan.graph;
    const entry = (entryOffsets[node] ?? 0) + output;
    return entry < (entryOffsets[node + 1] ?? 0) ? entry : -1;
  }

  syncHover(): void {
    const { hovered } = this.#context.session;
    const own = this.scene.hovered;
    if (hovered !== null && own >= 0 && this.#plan.owner[own] === hovered) return;
    this.scene.hovered = this.#entry(hovered ?? -1, 0);
    this.stage.touched();
  }

  #tell(): void {
    const { selected, node } = this.#context.session;
    const { current } = this.scene;
    if (selected.length > 1) {
      const title = `${counted(selected.length, "node")} selected`;
      const facts = this.#words.nodes(selected);
      this.#show(title, facts);
      this.#mirror.say(`${title}; ${facts[0]!.join(" ")}`);
    } else if (current >= 0) {
      const step = this.#step;
      const facts = this.#words.entry(current);
      this.#show(
        this.#words.title(current),
        step < 0 ? facts : [...facts, ...this.#words.step(step)],
      );
      this.#mirror.say(this.#words.sentence(current));
    } else {
      const { said: notes, wrong } = this.#plan.columns.info;
      this.details.replaceChildren(
        ...notes.map((text) =>
          element(
            "p",
            { class: wrong.includes(text) ? "tvmdbg-error" : undefined, title: text },
            text.replace(EXACT, ""),
          ),
        ),
      );
      this.#mirror.say(`${notes.join(". ")}. ${node === null ? "Nothing is selected." : ""}`);
    }
  }

  #show(title: string, facts: Parameters<typeof factList>[0]): void {
    this.details.replaceChildren(element("h4", {}, title), factList(facts));
  }

  painted(): void {
    const { all, start, end } = this.scene.viewport;
    const { steps } = this.#plan;
    const part = `steps ${integer(Math.floor(start) + 1)} – ${integer(Math.ceil(end))} of ${integer(steps)}`;
    const text = all ? `${counted(steps, "step")}` : part;
    if (this.range.textContent !== text) {
      this.range.textContent = text;
      this.changed();
    }
    this.#root.dataset.ready = "true";
  }
}

import { element } from "../shared/dom.ts";
import { integer } from "../shared/format.ts";
import { errorText, message } from "../shared/message.ts";
import { Mirror } from "../shared/mirror.ts";
import { isAbort } from "../shared/request.ts";
import { type GraphColumns, NodeKind, type TimelineColumns } from "../shared/run_client.ts";
import { onThemeChange, readTheme } from "../shared/theme.ts";
import type { ViewContext } from "../shared/view.ts";
import { Describe, plural } from "./describe.ts";
import { Details } from "./details.ts";
import { Labels } from "./labels.ts";
import type { Direction } from "./layout/types.ts";
import { type Arrangement, arrange } from "./layouts.ts";
import { Legend } from "./legend.ts";
import { Links } from "./links.ts";
import { measureFor } from "./measure.ts";
import type { GraphOptions } from "./options.ts";
import { Palette } from "./palette.ts";
import type { ColorBy } from "./picture.ts";
import type { Placed } from "./placed.ts";
import { boxesOf } from "./scene.ts";
import { NodeSearch } from "./search.ts";
import { type Inspection, Stage } from "./stage.ts";
import { Times } from "./times.ts";
import { Toolbar } from "./toolbar.ts";
import { Tooltip } from "./tooltip.ts";
import { type Step, Walk } from "./walk.ts";

const SOURCE = "graph";
const BUSY_MS = 300;
const NARROW = 700;
const HEIGHT = 420;

/** One view of one graph: what is shown of it, what is selected, and all that can be done by hand or by key. */
export class GraphView {
  readonly #root: HTMLElement;
  readonly #context: ViewContext<GraphOptions>;
  readonly #links: Links;
  readonly #times: Times;
  readonly #labels: Labels;
  readonly #describe: Describe;
  readonly #searcher: NodeSearch;
  readonly #stage: Stage;
  readonly #toolbar: Toolbar;
  readonly #legend: Legend;
  readonly #details: Details;
  readonly #mirror = new Mirror();
  readonly #tooltip = new Tooltip();
  readonly #notice = element("div", { class: "tvmdbg-graph-busy", hidden: true });
  readonly #body = element("div", { class: "tvmdbg-graph-body" });
  /** What was wrong with the data from the start. */
  readonly #problem: string;
  #palette: Palette;
  #placed: Placed | null = null;
  #walk: Walk | null = null;
  #layout: AbortController | null = null;
  #highlight: string | null = null;
  #detailsOpen = false;
  #hits: Int32Array = new Int32Array(0);
  #hitBoxes: ReadonlySet<number> = new Set();
  #own = "";

  constructor(
    root: HTMLElement,
    context: ViewContext<GraphOptions>,
    graph: GraphColumns,
    timeline: TimelineColumns | null,
    problem: string,
  ) {
    const { signal, run } = context;
    this.#root = root;
    this.#context = context;
    this.#problem = problem;
    this.#links = new Links(graph);
    this.#times = new Times(graph, timeline);
    this.#palette = new Palette(readTheme(root));
    this.#labels = new Labels(graph, this.#times, measureFor(this.#palette.theme.font));
    this.#describe = new Describe(this.#links, this.#labels, this.#times);
    this.#searcher = new NodeSearch(graph);
    this.#stage = new Stage(() => this.#drawn(), signal);
    this.#legend = new Legend(graph, this.#times, (kind) => this.highlight(kind));
    const model = { links: this.#links, times: this.#times, describe: this.#describe, run };
    this.#details = new Details(model, (node, output) => this.select(node, output), signal);
    this.#toolbar = new Toolbar(
      {
        search: (query) => context.options.set("search", query),
        nextHit: (by) => this.nextHit(by),
        colorBy: (mode) => context.options.set("color_by", mode),
        fold: (on) => context.options.set("fold_parameters", on),
        direction: (to) => context.options.set("direction", to),
        zoom: (factor) => this.#stage.zoom(factor),
        fit: () => this.fitAll(),
        slowest: () => this.slowest(),
        details: (on) => this.showDetails(on),
        everything: () => context.options.set("hops", null),
        leave: () => root.focus({ preventScroll: true }),
      },
      signal,
    );
    this.#stage.node.append(this.#notice, this.#tooltip.node);
    this.#body.append(this.#stage.node, this.#details.node);
    root.replaceChildren(this.#toolbar.node, this.#legend.node, this.#body, this.#mirror.node);
    this.#listen();
    this.#sized();
    // Below the stage they take from its height: there they wait until they are asked for.
    this.showDetails(root.clientWidth === 0 || root.clientWidth >= NARROW);
    this.#searched();
    this.#arrange(true);
  }

  get stage(): Stage {
    return this.#stage;
  }

  /** The selected node that details and keys speak of. */
  get node(): number | null {
    const { node } = this.#context.session;
    return node !== null && node >= 0 && node < this.#links.graph.kinds.length ? node : null;
  }

  select(node: number | null, output?: number): void {
    this.#own = JSON.stringify(node === null ? [] : [node]);
    this.#context.session.select(node, SOURCE, output === undefined ? {} : { output });
    const box = node === null ? -1 : (this.#placed?.boxOf(node) ?? -1);
    if (box >= 0) this.#stage.goTo(box);
  }

  /** Selects what is drawn at a point of the stage; nothing where the point is empty. */
  pick(x: number, y: number, add: boolean): void {
    const box = this.#stage.boxAt(x, y);
    const node = box < 0 ? null : this.#placed!.scene.node[box]!;
    if (!add) this.select(node);
    else if (node !== null) {
      this.#own = "toggled";
      this.#context.session.toggle(node, SOURCE);
    }
  }

  hover(x: number, y: number): void {
    const box = this.#stage.boxAt(x, y);
    const node = box < 0 ? null : this.#placed!.scene.node[box]!;
    this.#context.session.hover(node);
    const text = node === null ? null : this.#describe.tooltip(node, this.#placed!.scene);
    this.#tooltip.show(text, x, y, this.#stage.node);
    this.#stage.canvas.classList.toggle("tvmdbg-pointing", node !== null);
  }

  leave(): void {
    this.#tooltip.show(null, 0, 0, this.#stage.node);
    this.#context.session.hover(null);
  }

  /** Steps along an edge, or into the graph where nothing is selected. */
  walk(step: Step): void {
    const placed = this.#placed;
    if (!placed || placed.scene.count === 0) return;
    const here = this.node === null ? -1 : placed.boxOf(this.node);
    const there = here < 0 ? placed.layout.order[0]! : this.#walk!.step(here, step);
    if (there === null) this.#mirror.say(`${NOTHING[step]} ${this.#describeHere()}.`);
    else this.select(placed.scene.node[there]!);
  }

  /** The next drawn node in execution order. */
  inOrder(by: number): void {
    const placed = this.#placed;
    if (!placed || placed.scene.count === 0) return;
    const { node, count } = placed.scene;
    const here = this.node === null ? -1 : placed.boxOf(this.node);
    const next = here < 0 ? (by > 0 ? 0 : count - 1) : here + by;
    if (next >= 0 && next < count) this.select(node[next]!);
  }

  nextHit(by: number): void {
    if (this.#hits.length === 0) return;
    const at = this.node ?? -1;
    const hits = Array.from(this.#hits);
    const after = by > 0 ? hits.find((hit) => hit > at) : hits.findLast((hit) => hit < at);
    this.select(after ?? (by > 0 ? hits[0]! : hits.at(-1)!));
  }

  slowest(): void {
    if (!this.#times.known) return;
    this.select(this.#times.slowest);
    this.focusNode();
  }

  /** Puts the selected node in the middle, at a scale at which it can be read. */
  focusNode(): void {
    const box = this.node === null ? -1 : (this.#placed?.boxOf(this.node) ?? -1);
    if (box >= 0) this.#stage.goTo(box, true);
  }

  fitAll(): void {
    if (this.#placed) this.#stage.fit(this.#placed.layout.bounds);
  }

  /** Fits the selected node and its neighbours; the whole graph where nothing is selected. */
  fitSelected(): void {
    const placed = this.#placed;
    const box = this.node === null ? -1 : (placed?.boxOf(this.node) ?? -1);
    if (!placed || box < 0) {
      this.fitAll();
      return;
    }
    const boxes = [box, ...this.#walk!.producers(box), ...this.#walk!.consumers(box)];
    const all = boxes.map((each) => placed.rectangle(each));
    this.#stage.fit({
      minX: Math.min(...all.map(({ x }) => x)),
      minY: Math.min(...all.map(({ y }) => y)),
      maxX: Math.max(...all.map(({ x, width }) => x + width)),
      maxY: Math.max(...all.map(({ y, height }) => y + height)),
    });
  }

  showDetails(on = !this.#detailsOpen): void {
    this.#detailsOpen = on;
    this.#details.node.hidden = !on;
    this.#showToolbar();
  }

  /** Centres the selected node; where it is centred already, gives the keyboard to its details. */
  enter(): void {
    const box = this.node === null ? -1 : (this.#placed?.boxOf(this.node) ?? -1);
    if (box >= 0 && !this.#stage.centred(box)) this.focusNode();
    else {
      this.showDetails(true);
      this.#details.focus();
    }
  }

  focusSearch(): void {
    this.#toolbar.focusSearch();
  }

  highlight(opKind: string | null): void {
    this.#highlight = opKind;
    this.#repaint();
  }

  /** Takes back, one at a time: the highlighted kind, the search, the selection. */
  escape(): void {
    const { options } = this.#context;
    if (this.#highlight !== null) this.highlight(null);
    else if (options.get("search")) options.set("search", "");
    else this.select(null);
  }

  cycleColors(): void {
    const { options } = this.#context;
    options.set("color_by", this.#colorBy === "kind" ? "time" : "kind");
  }

  toggleFold(): void {
    const { options } = this.#context;
    options.set("fold_parameters", !this.#fold);
  }

  get direction(): Direction {
    return this.#context.options.get("direction") === "right" ? "right" : "down";
  }

  get #colorBy(): ColorBy {
    return this.#context.options.get("color_by") === "time" ? "time" : "kind";
  }

  get #fold(): boolean {
    return this.#context.options.get("fold_parameters") !== false;
  }

  /** The node that the option names, and what is wrong with it where it names none. */
  get #focus(): { node: number | null; problem: string } {
    const focus = this.#context.options.get("focus") ?? null;
    const { names, kinds } = this.#links.graph;
    if (focus === null) return { node: null, problem: "" };
    if (typeof focus === "number") {
      return focus >= 0 && focus < kinds.length
        ? { node: focus, problem: "" }
        : { node: null, problem: `focus ${focus}: node ids end at ${kinds.length - 1}` };
    }
    const code = names.unique.indexOf(focus);
    const node = code < 0 ? -1 : names.codes.indexOf(code);
    return node < 0
      ? { node: null, problem: `focus: no node is named ${focus}` }
      : { node, problem: "" };
  }

  #listen(): void {
    const { session, options, signal } = this.#context;
    session.onChange(() => this.#selected(), signal, ["selected", "entry"]);
    session.onChange(() => this.#mark(), signal, ["hovered"]);
    options.onChange("color_by", () => this.#repaint(), signal);
    options.onChange("height", () => this.#sized(), signal);
    options.onChange("search", () => this.#searched(), signal);
    for (const name of ["fold_parameters", "direction", "focus", "hops"] as const) {
      options.onChange(name, () => this.#arrange(name === "direction" || name === "focus"), signal);
    }
    const recolor = () => {
      this.#palette = new Palette(readTheme(this.#root));
      this.#repaint();
    };
    // The root's own class follows the host's theme through an observer of its own, which may run after ours.
    onThemeChange(() => requestAnimationFrame(recolor), signal);
    this.#root.addEventListener(
      "tvmdbg:inspect",
      (event) => this.#stage.inspect((event as CustomEvent<Inspection>).detail),
      { signal },
    );
    this.#root.addEventListener(
      "keydown",
      (event) => {
        if (event.key !== "Escape" || event.target === this.#root) return;
        this.#root.focus({ preventScroll: true });
      },
      { signal },
    );
    const width = new ResizeObserver(() => {
      this.#root.classList.toggle("tvmdbg-graph-narrow", this.#root.clientWidth < NARROW);
    });
    width.observe(this.#root);
    signal.addEventListener("abort", () => width.disconnect());
    signal.addEventListener("abort", () => this.#layout?.abort());
  }

  #sized(): void {
    const height = this.#context.options.get("height");
    this.#root.style.setProperty("--tvmdbg-graph-height", `${height > 0 ? height : HEIGHT}px`);
  }

  async #arrange(opens: boolean): Promise<void> {
    this.#layout?.abort();
    const layout = new AbortController();
    this.#layout = layout;
    const { node: focus, problem } = this.#focus;
    const hops = this.#context.options.get("hops") ?? null;
    const centre = hops === null ? null : (focus ?? this.node);
    const arrangement: Arrangement = {
      fold: this.#fold,
      direction: this.direction,
      focus: centre,
      hops: centre === null ? null : hops,
    };
    const started = performance.now();
    let phase = "";
    const busy = setInterval(() => {
      const elapsed = ((performance.now() - started) / 1000).toFixed(1);
      this.#say(
        `laying out ${plural(this.#links.graph.kinds.length, "node")} … ${elapsed} s${phase}`,
      );
    }, BUSY_MS);
    try {
      const placed = await arrange(this.#links, this.#labels, arrangement, layout.signal, (at) => {
        phase = `, ${at.phase}`;
      });
      if (layout.signal.aborted) return;
      clearInterval(busy);
      this.#say([this.#problem, problem].filter(Boolean).join("; "));
      this.#place(placed, opens, focus);
    } catch (error) {
      if (layout.signal.aborted || isAbort(error)) return;
      const said = message("error", "The graph could not be laid out", errorText(error));
      this.#notice.replaceChildren(said);
      this.#notice.hidden = false;
    } finally {
      clearInterval(busy);
    }
  }

  /** Shows the placed scene; unless it opens anew, what was looked at stays where it was. */
  #place(placed: Placed, opens: boolean, focus: number | null): void {
    const before = this.#placed;
    const { camera } = this.#stage;
    this.#placed = placed;
    this.#walk = new Walk(placed);
    const anchor = this.node ?? focus ?? (before && nearest(before, camera.x, camera.y));
    const box = anchor === null ? -1 : placed.boxOf(anchor);
    const was = before && anchor !== null ? before.boxOf(anchor) : -1;
    if (opens || !before || box < 0 || was < 0) {
      const opening = [focus, this.node, this.#times.slowest].map((node) =>
        node === null || node < 0 ? -1 : placed.boxOf(node),
      );
      const first = opening.find((each) => each >= 0) ?? null;
      this.#repaint(() => this.#stage.open(first));
    } else {
      this.#repaint(() => {
        camera.x += placed.layout.x[box]! - before.layout.x[was]!;
        camera.y += placed.layout.y[box]! - before.layout.y[was]!;
        this.#stage.changed();
      });
    }
    this.#foundBoxes();
    this.#mark();
    this.#tell();
  }

  #repaint(place: (() => void) | null = null): void {
    this.#showToolbar();
    const [colorBy, highlight, palette] = [this.#colorBy, this.#highlight, this.#palette];
    this.#legend.show({ colorBy, highlight, palette });
    if (!this.#placed) return;
    const [placed, camera, times] = [this.#placed, this.#stage.camera, this.#times];
    const { graph } = this.#links;
    this.#stage.show({ graph, times, placed, camera, palette, colorBy, highlight }, place);
  }

  #selected(): void {
    const { selected } = this.#context.session;
    const own = this.#own === "toggled" || this.#own === JSON.stringify(selected);
    this.#own = "";
    const box = this.node === null ? -1 : (this.#placed?.boxOf(this.node) ?? -1);
    if (!own && box >= 0) this.#stage.goTo(box);
    this.#showToolbar();
    this.#mark();
    this.#tell();
  }

  #tell(): void {
    if (!this.#placed) return;
    const { scene } = this.#placed;
    void this.#details.show(this.#context.session.selected, scene);
    const { graph } = this.#links;
    this.#mirror.say(
      this.node === null
        ? `Graph of ${plural(graph.kinds.length, "node")}; nothing is selected.`
        : this.#describe.sentence(this.node, scene),
    );
  }

  #mark(): void {
    const placed = this.#placed;
    if (!placed) return;
    const { selected, hovered } = this.#context.session;
    this.#stage.mark({
      selected: selected.flatMap((node) => Array.from(boxesOf(placed.scene, node)).reverse()),
      hovered: hovered === null ? -1 : placed.boxOf(hovered),
      hits: this.#hitBoxes,
    });
  }

  #searched(): void {
    const query = this.#context.options.get("search") ?? "";
    this.#toolbar.query = query;
    this.#hits = this.#searcher.find(query);
    this.#foundBoxes();
    this.#showToolbar();
    this.#mark();
  }

  #foundBoxes(): void {
    const scene = this.#placed?.scene;
    this.#hitBoxes = new Set(
      scene ? Array.from(this.#hits).flatMap((node) => Array.from(boxesOf(scene, node))) : [],
    );
  }

  #showToolbar(): void {
    const { graph } = this.#links;
    const query = this.#context.options.get("search") ?? "";
    const at = this.node === null ? -1 : this.#hits.indexOf(this.node);
    const found = this.#hits.length ? `${at < 0 ? "–" : at + 1}/${this.#hits.length}` : "no hit";
    let operators = 0;
    for (const kind of graph.kinds) if (kind >= NodeKind.OPERATOR) operators += 1;
    this.#toolbar.show({
      title: `${plural(operators, "operator")} of ${plural(graph.kinds.length, "node")}`,
      colorBy: this.#colorBy,
      fold: this.#fold,
      direction: this.direction,
      details: this.#detailsOpen,
      hits: query.trim() ? found : "",
      part: this.#part(),
    });
  }

  #part(): string {
    const { scene } = this.#placed ?? {};
    const hops = this.#context.options.get("hops") ?? null;
    if (!scene || hops === null) return "";
    let shown = 0;
    for (let node = 0; node + 1 < scene.boxStart.length; node++) {
      if (scene.boxStart[node + 1]! > scene.boxStart[node]!) shown += 1;
    }
    if (shown === scene.boxStart.length - 1) return "";
    return `${plural(hops, "hop")}: ${integer(shown)} of ${integer(scene.boxStart.length - 1)} nodes `;
  }

  #describeHere(): string {
    return this.node === null ? "the graph" : this.#describe.short(this.node);
  }

  #say(text: string): void {
    this.#notice.hidden = text === "";
    this.#notice.textContent = text;
  }

  #drawn(): void {
    this.#root.dataset.ready = "true";
  }
}

const NOTHING: Record<Step, string> = {
  up: "No producer of",
  down: "No consumer of",
  left: "Nothing before",
  right: "Nothing after",
};

/** The node whose box is nearest to a point of the graph. */
function nearest({ scene, layout }: Placed, x: number, y: number): number | null {
  let [best, distance] = [-1, Number.POSITIVE_INFINITY];
  for (let box = 0; box < scene.count; box++) {
    const away = Math.hypot(layout.x[box]! - x, layout.y[box]! - y);
    if (away < distance) [best, distance] = [box, away];
  }
  return best < 0 ? null : scene.node[best]!;
}

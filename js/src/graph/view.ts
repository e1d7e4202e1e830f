import { nodesCode } from "../shared/code.ts";
import { CodeCopy } from "../shared/code_copy.ts";
import { element } from "../shared/dom.ts";
import { counted, integer } from "../shared/format.ts";
import { healthScan } from "../shared/health.ts";
import { helpButton } from "../shared/keys.ts";
import { errorText } from "../shared/message.ts";
import { Mirror } from "../shared/mirror.ts";
import { type GraphColumns, NodeKind, type TimelineColumns } from "../shared/run_client.ts";
import { isUnderWay, type Scan } from "../shared/scan.ts";
import type { HealthAnswer } from "../shared/tensor_questions.ts";
import { onThemeChange, readTheme } from "../shared/theme.ts";
import type { ViewContext } from "../shared/view.ts";
import { Arranger } from "./arranger.ts";
import { Chosen } from "./chosen.ts";
import { Details } from "./details.ts";
import { BoxHealth, NodeHealth } from "./health.ts";
import { Hits } from "./hits.ts";
import { Legend } from "./legend.ts";
import { measureFor } from "./measure.ts";
import { GraphModel } from "./model.ts";
import { notedBoxes, notesAt } from "./noted.ts";
import type { GraphOptions } from "./options.ts";
import { Palette } from "./palette.ts";
import type { Placed } from "./placed.ts";
import { boxesOf, shownNodes } from "./scene.ts";
import { type Inspection, Stage } from "./stage.ts";
import { Toolbar } from "./toolbar.ts";
import { Tooltip } from "./tooltip.ts";
import { type Step, Walk } from "./walk.ts";

const SOURCE = "graph";
const NARROW = 700;

/** One view of one graph: what is shown of it, what is selected, and all that can be done by hand or by key. */
export class GraphView {
  readonly chosen: Chosen;
  readonly #root: HTMLElement;
  readonly #context: ViewContext<GraphOptions>;
  readonly #model: GraphModel;
  readonly #arranger: Arranger;
  readonly #hits: Hits;
  readonly #stage: Stage;
  readonly #toolbar: Toolbar;
  readonly #legend: Legend;
  readonly #details: Details;
  readonly #mirror = new Mirror();
  readonly #code: CodeCopy;
  readonly #tooltip = new Tooltip();
  readonly #health: Scan<HealthAnswer>;
  readonly #body = element("div", { class: "tvmdbg-graph-body" });
  /** What was wrong with the data from the start. */
  readonly #problem: string;
  #palette: Palette;
  #placed: Placed | null = null;
  #walk: Walk | null = null;
  #highlight: string | null = null;
  #detailsOpen = false;
  #detailsChosen = false;
  #own = "";
  #healthAsked = false;

  constructor(
    root: HTMLElement,
    context: ViewContext<GraphOptions>,
    graph: GraphColumns,
    timeline: TimelineColumns | null,
    problem: string,
  ) {
    const { signal, run } = context;
    this.chosen = new Chosen(context.options);
    this.#root = root;
    this.#context = context;
    this.#problem = problem;
    this.#palette = new Palette(readTheme(root));
    const model = new GraphModel(graph, timeline, measureFor(this.#palette.theme.font));
    this.#model = model;
    this.#arranger = new Arranger(model, signal);
    this.#hits = new Hits(model.search);
    this.#stage = new Stage(() => this.#drawn(), signal);
    this.#health = healthScan(
      run,
      { answer: (answer) => this.#judged(answer), error: (error) => this.#notJudged(error) },
      signal,
    );
    this.#legend = new Legend(
      graph,
      model.times,
      (kind) => this.highlight(kind),
      {
        next: (verdict) => this.nextOf(verdict),
        stop: () => void this.#health.stop(),
        goOn: () => void this.#health.start(true),
      },
      signal,
    );
    this.#details = new Details(
      model,
      run,
      context.session,
      (node, output) => this.select(node, output),
      signal,
    );
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
        copy: () => this.copy(),
        everything: () => context.options.set("hops", null),
        leave: () => root.focus({ preventScroll: true }),
      },
      helpButton(root),
      signal,
    );
    this.#stage.node.append(this.#arranger.node, this.#tooltip.node);
    this.#body.append(this.#stage.node, this.#details.node);
    root.replaceChildren(this.#toolbar.node, this.#legend.node, this.#body, this.#mirror.node);
    const selected = () => context.session.selected.filter((node) => model.has(node));
    this.#code = new CodeCopy(
      root,
      () => nodesCode(selected()),
      (text) => this.#mirror.say(text),
      context,
    );
    this.#listen();
    this.#sized();
    // Below the stage they take from its height: there they wait until they are asked for.
    this.#layOut();
    this.#searched();
    this.#recolored();
    this.#arrange(true);
  }

  get stage(): Stage {
    return this.#stage;
  }

  /** The selected node that details and keys speak of. */
  get node(): number | null {
    const { node } = this.#context.session;
    return node !== null && this.#model.has(node) ? node : null;
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
    const text =
      node === null
        ? null
        : [
            this.#model.describe.tooltip(node, this.#placed!.scene),
            ...notesAt(this.#placed!.scene, this.#context.session, box),
          ].join("\n");
    this.#tooltip.show(text, x, y, this.#stage.node);
    this.#stage.canvas.classList.toggle("tvmdbg-pointing", node !== null);
  }

  copy(): void {
    this.#code.copy();
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
    const next = this.#hits.next(this.node, by);
    if (next !== null) this.select(next);
  }

  /** Selects the slowest of the nodes that are shown. */
  slowest(): void {
    const { ranked } = this.#model.times;
    const node = ranked.find((each) => (this.#placed?.boxOf(each) ?? -1) >= 0);
    if (node === undefined) return;
    this.select(node);
    this.focusNode();
  }

  /** Selects the next node of a verdict in execution order. */
  nextOf(verdict: number): void {
    const next = this.#model.describe.health?.next(verdict, this.node ?? -1) ?? -1;
    if (next < 0) return;
    this.select(next);
    this.focusNode();
  }

  /** Puts the selected node in the middle, at a scale at which it can be read. */
  focusNode(): void {
    const box = this.node === null ? -1 : (this.#placed?.boxOf(this.node) ?? -1);
    if (box >= 0) this.#stage.goTo(box, true);
  }

  fitAll(): void {
    this.#stage.fitAll();
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
    this.#stage.fit(placed.bounds(boxes));
  }

  showDetails(on = !this.#detailsOpen): void {
    this.#detailsChosen = true;
    this.#openDetails(on);
  }

  #openDetails(on: boolean): void {
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
    else if (this.chosen.query) options.set("search", "");
    else this.select(null);
  }

  #listen(): void {
    const { session, options, signal } = this.#context;
    session.onChange(() => this.#selected(), signal, ["selected", "entry"]);
    session.onChange(() => this.#mark(), signal, ["hovered"]);
    session.onChange(
      () => {
        this.#mark();
        this.#tell();
      },
      signal,
      ["notes"],
    );
    options.onChange("color_by", () => this.#recolored(), signal);
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
    const width = new ResizeObserver(() => this.#layOut());
    width.observe(this.#root);
    signal.addEventListener("abort", () => width.disconnect());
  }

  /** Details stand beside a wide stage from the start; on a narrow one, and once chosen, by choice. */
  #layOut(): void {
    const narrow = this.#root.clientWidth < NARROW;
    this.#root.classList.toggle("tvmdbg-graph-narrow", narrow);
    if (!this.#detailsChosen) this.#openDetails(!narrow);
  }

  #sized(): void {
    this.#root.style.setProperty("--tvmdbg-graph-height", `${this.chosen.height}px`);
  }

  async #arrange(opens: boolean): Promise<void> {
    const { hops, fold, direction } = this.chosen;
    const { node: focus, problem } = this.#model.find(this.chosen.focus);
    const centre = hops === null ? null : (focus ?? this.node);
    const placed = await this.#arranger.place(
      {
        fold,
        direction,
        focus: centre,
        hops: centre === null ? null : hops,
      },
      [this.#problem, problem].filter(Boolean).join("; "),
    );
    if (placed) this.#place(placed, opens, focus);
  }

  /** Shows the placed scene; unless it opens anew, what was looked at stays where it was. */
  #place(placed: Placed, opens: boolean, focus: number | null): void {
    const before = this.#placed;
    const { camera } = this.#stage;
    this.#placed = placed;
    this.#walk = new Walk(placed);
    const anchor = this.node ?? focus ?? before?.nearest(camera.x, camera.y) ?? null;
    const box = anchor === null ? -1 : placed.boxOf(anchor);
    const was = before && anchor !== null ? before.boxOf(anchor) : -1;
    if (opens || !before || box < 0 || was < 0) {
      const wanted = before ? [this.node, focus] : [focus, this.node];
      const opening = [...wanted, this.#model.times.slowest].map((node) =>
        node === null || node < 0 ? -1 : placed.boxOf(node),
      );
      const first = opening.find((each) => each >= 0) ?? null;
      const asked = this.node;
      this.#repaint(() => {
        const { node } = this;
        const since = node === null || node === asked ? -1 : placed.boxOf(node);
        this.#stage.open(since >= 0 ? since : first);
      });
    } else {
      this.#repaint(() => {
        camera.x += placed.layout.x[box]! - before.layout.x[was]!;
        camera.y += placed.layout.y[box]! - before.layout.y[was]!;
        this.#stage.changed();
      });
    }
    this.#hits.locate(placed.scene);
    this.#mark();
    this.#tell();
  }

  #repaint(place: (() => void) | null = null): void {
    this.#showToolbar();
    const [colorBy, highlight, palette] = [this.chosen.colorBy, this.#highlight, this.#palette];
    const known = this.#model.describe.health;
    this.#legend.show({ colorBy, health: known, highlight, palette });
    if (!this.#placed) return;
    const [placed, camera, times] = [this.#placed, this.#stage.camera, this.#model.times];
    const { graph } = this.#model;
    const health = known && new BoxHealth(known, placed.scene);
    this.#stage.show({ graph, times, placed, camera, palette, colorBy, health, highlight }, place);
  }

  /** Health is asked for once somebody wants to see it. */
  #recolored(): void {
    this.#repaint();
    if (this.chosen.colorBy !== "health" || this.#healthAsked) return;
    this.#healthAsked = true;
    void this.#health.start();
  }

  #judged(answer: HealthAnswer): void {
    this.#model.describe.health = new NodeHealth(answer, this.#model.graph.kinds.length);
    this.#repaint();
    if (!isUnderWay(answer)) this.#tell();
  }

  #notJudged(error: unknown): void {
    this.#healthAsked = false;
    this.#mirror.say(`The health of the run is not known: ${errorText(error)}`);
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
    const { graph } = this.#model;
    const { node } = this;
    const note = node === null ? "" : this.#context.session.note(node);
    this.#mirror.say(
      node === null
        ? `Graph of ${counted(graph.kinds.length, "node")}; nothing is selected.`
        : `${this.#model.describe.sentence(node, scene)}${note ? ` Note: ${note}` : ""}`,
    );
  }

  #mark(): void {
    const placed = this.#placed;
    if (!placed) return;
    const { selected, hovered } = this.#context.session;
    this.#stage.mark({
      selected: selected.flatMap((node) => Array.from(boxesOf(placed.scene, node)).reverse()),
      hovered: hovered === null ? -1 : placed.boxOf(hovered),
      hits: this.#hits.boxes,
      noted: notedBoxes(placed.scene, this.#context.session, this.#model),
    });
  }

  #searched(): void {
    const { query } = this.chosen;
    this.#toolbar.query = query;
    this.#hits.find(query);
    if (this.#placed) this.#hits.locate(this.#placed.scene);
    this.#showToolbar();
    this.#mark();
  }

  #showToolbar(): void {
    const { graph } = this.#model;
    let operators = 0;
    for (const kind of graph.kinds) if (kind >= NodeKind.OPERATOR) operators += 1;
    this.#toolbar.show({
      title: `${counted(operators, "operator")} of ${counted(graph.kinds.length, "node")}`,
      colorBy: this.chosen.colorBy,
      fold: this.chosen.fold,
      direction: this.chosen.direction,
      details: this.#detailsOpen,
      hits: this.#hits.text(this.node),
      timed: this.#model.times.known,
      part: this.#part(),
    });
  }

  #part(): string {
    const { hops } = this.chosen;
    if (!this.#placed || hops === null) return "";
    const [shown, all] = [shownNodes(this.#placed.scene), this.#model.graph.kinds.length];
    return shown === all
      ? ""
      : `${counted(hops, "hop")}: ${integer(shown)} of ${integer(all)} nodes `;
  }

  #describeHere(): string {
    return this.node === null ? "the graph" : this.#model.describe.short(this.node);
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

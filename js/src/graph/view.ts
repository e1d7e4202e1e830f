import { nodesCode } from "../shared/code.ts";
import { CodeCopy } from "../shared/code_copy.ts";
import { element } from "../shared/dom.ts";
import { counted, integer } from "../shared/format.ts";
import { helpButton } from "../shared/keys.ts";
import { Mirror } from "../shared/mirror.ts";
import { type GraphColumns, NodeKind, type TimelineColumns } from "../shared/run_client.ts";
import { onThemeChange, readTheme } from "../shared/theme.ts";
import type { ViewContext } from "../shared/view.ts";
import { Acts } from "./acts.ts";
import { Arranger } from "./arranger.ts";
import { Chosen } from "./chosen.ts";
import { Details } from "./details.ts";
import { BoxHealth } from "./health.ts";
import { Hits } from "./hits.ts";
import { Judge } from "./judge.ts";
import { Legend } from "./legend.ts";
import { measureFor } from "./measure.ts";
import { GraphModel } from "./model.ts";
import { notedBoxes } from "./noted.ts";
import type { GraphOptions } from "./options.ts";
import { Palette } from "./palette.ts";
import type { Placed } from "./placed.ts";
import { boxesOf, shownNodes } from "./scene.ts";
import { type Inspection, Stage } from "./stage.ts";
import { Toolbar } from "./toolbar.ts";
import { Tooltip } from "./tooltip.ts";
import { Walk } from "./walk.ts";

const NARROW = 700;

/** One view of one graph: what is shown of it and what is selected; what can be done to it is in `acts`. */
export class GraphView {
  readonly root: HTMLElement;
  readonly context: ViewContext<GraphOptions>;
  readonly chosen: Chosen;
  readonly model: GraphModel;
  readonly acts: Acts;
  readonly hits: Hits;
  readonly stage: Stage;
  readonly toolbar: Toolbar;
  readonly details: Details;
  readonly mirror = new Mirror();
  readonly tooltip = new Tooltip();
  readonly code: CodeCopy;
  /** What is shown now; null until the first layout is there. */
  placed: Placed | null = null;
  walk: Walk | null = null;
  /** The op kind that alone keeps its colour. */
  highlighted: string | null = null;
  readonly #arranger: Arranger;
  readonly #legend: Legend;
  readonly #judge: Judge;
  /** What was wrong with the data from the start. */
  readonly #problem: string;
  #palette: Palette;
  #detailsOpen = false;
  #detailsChosen = false;
  #own = "";

  constructor(
    root: HTMLElement,
    context: ViewContext<GraphOptions>,
    graph: GraphColumns,
    timeline: TimelineColumns | null,
    problem: string,
  ) {
    const { signal, run } = context;
    this.chosen = new Chosen(context.options);
    this.root = root;
    this.context = context;
    this.#problem = problem;
    this.#palette = new Palette(readTheme(root));
    const model = new GraphModel(graph, timeline, measureFor(this.#palette.theme.font));
    this.model = model;
    const acts = new Acts(this);
    this.acts = acts;
    this.#arranger = new Arranger(model, signal);
    this.hits = new Hits(model.search);
    this.stage = new Stage(() => this.#drawn(), signal);
    this.#judge = new Judge(this);
    this.#legend = new Legend(
      graph,
      model.times,
      (kind) => this.highlight(kind),
      {
        next: (verdict) => acts.nextOf(verdict),
        stop: () => this.#judge.stop(),
        goOn: () => this.#judge.goOn(),
      },
      signal,
    );
    this.details = new Details(
      model,
      run,
      context.session,
      (node, output) => acts.select(node, output),
      signal,
    );
    this.toolbar = new Toolbar(
      {
        search: (query) => context.options.set("search", query),
        nextHit: (by) => acts.nextHit(by),
        colorBy: (mode) => context.options.set("color_by", mode),
        fold: (on) => context.options.set("fold_parameters", on),
        direction: (to) => context.options.set("direction", to),
        zoom: (factor) => this.stage.zoom(factor),
        fit: () => acts.fitAll(),
        slowest: () => acts.slowest(),
        details: (on) => this.showDetails(on),
        copy: () => this.code.copy(),
        everything: () => context.options.set("hops", null),
        leave: () => root.focus({ preventScroll: true }),
      },
      helpButton(root),
      signal,
    );
    this.stage.node.append(this.#arranger.node, this.tooltip.node);
    const body = element("div", { class: "tvmdbg-graph-body" });
    body.append(this.stage.node, this.details.node);
    root.replaceChildren(this.toolbar.node, this.#legend.node, body, this.mirror.node);
    const selected = () => context.session.selected.filter((node) => model.has(node));
    this.code = new CodeCopy(
      root,
      () => nodesCode(selected()),
      (text) => this.mirror.say(text),
      context,
    );
    this.#listen();
    this.#sized();
    // Below the stage they take from its height: there they wait until they are asked for.
    this.#layOut();
    this.#searched();
    this.#recolored();
    void this.arrange(true);
  }

  /** The selected node that details and keys speak of. */
  get node(): number | null {
    const { node } = this.context.session;
    return node !== null && this.model.has(node) ? node : null;
  }

  /** The box that keys start from, -1 where there is none. */
  get box(): number {
    return this.node === null ? -1 : (this.placed?.boxOf(this.node) ?? -1);
  }

  /** The selection that this view itself is about to make: it moves the camera as it likes. */
  expects(selection: string): void {
    this.#own = selection;
  }

  showDetails(on = !this.#detailsOpen): void {
    this.#detailsChosen = true;
    this.#openDetails(on);
  }

  highlight(opKind: string | null): void {
    this.highlighted = opKind;
    this.repaint();
  }

  /** Builds the scene that the traits ask for, lays it out and shows it; what was looked at stays unless it `opens`. */
  async arrange(opens: boolean): Promise<void> {
    const { hops, fold, direction, grouped, openGroups } = this.chosen;
    const { node: focus, problem } = this.model.find(this.chosen.focus);
    const centre = hops === null ? null : (focus ?? this.node);
    const placed = await this.#arranger.place(
      {
        fold,
        direction,
        focus: centre,
        hops: centre === null ? null : hops,
        grouped,
        open: openGroups,
      },
      [this.#problem, problem].filter(Boolean).join("; "),
    );
    if (placed) this.#place(placed, opens, focus);
  }

  /** Draws the picture anew; `place` sets the camera once the stage has a size. */
  repaint(place: (() => void) | null = null): void {
    this.#showToolbar();
    const [colorBy, highlight, palette] = [this.chosen.colorBy, this.highlighted, this.#palette];
    const known = this.model.describe.health;
    this.#legend.show({ colorBy, health: known, highlight, palette });
    if (!this.placed) return;
    const [placed, camera, times] = [this.placed, this.stage.camera, this.model.times];
    const { graph } = this.model;
    const health = known && new BoxHealth(known, placed.scene);
    this.stage.show({ graph, times, placed, camera, palette, colorBy, health, highlight }, place);
  }

  /** Says what is selected, in the details and to screen readers. */
  tell(): void {
    if (!this.placed) return;
    const { scene } = this.placed;
    void this.details.show(this.context.session.selected, scene);
    const { graph } = this.model;
    const { node } = this;
    const note = node === null ? "" : this.context.session.note(node);
    this.mirror.say(
      node === null
        ? `Graph of ${counted(graph.kinds.length, "node")}; nothing is selected.`
        : `${this.model.describe.sentence(node, scene)}${note ? ` Note: ${note}` : ""}`,
    );
  }

  /** Draws anew what is marked over the picture. */
  mark(): void {
    const { placed } = this;
    if (!placed) return;
    const { selected, hovered } = this.context.session;
    this.stage.mark({
      selected: selected.flatMap((node) => Array.from(boxesOf(placed.scene, node)).reverse()),
      hovered: hovered === null ? -1 : placed.boxOf(hovered),
      hits: this.hits.boxes,
      noted: notedBoxes(placed.scene, this.context.session, this.model),
    });
  }

  #openDetails(on: boolean): void {
    this.#detailsOpen = on;
    this.details.node.hidden = !on;
    this.#showToolbar();
  }

  #listen(): void {
    const { session, options, signal } = this.context;
    session.onChange(() => this.#selected(), signal, ["selected", "entry"]);
    session.onChange(() => this.mark(), signal, ["hovered"]);
    session.onChange(
      () => {
        this.mark();
        this.tell();
      },
      signal,
      ["notes"],
    );
    options.onChange("color_by", () => this.#recolored(), signal);
    options.onChange("height", () => this.#sized(), signal);
    options.onChange("search", () => this.#searched(), signal);
    for (const name of [
      "fold_parameters",
      "direction",
      "focus",
      "hops",
      "grouped",
      "open_groups",
    ] as const) {
      options.onChange(
        name,
        () => void this.arrange(name === "direction" || name === "focus"),
        signal,
      );
    }
    const recolor = () => {
      this.#palette = new Palette(readTheme(this.root));
      this.repaint();
    };
    // The root's own class follows the host's theme through an observer of its own, which may run after ours.
    onThemeChange(() => requestAnimationFrame(recolor), signal);
    this.root.addEventListener(
      "tvmdbg:inspect",
      (event) => this.stage.inspect((event as CustomEvent<Inspection>).detail),
      { signal },
    );
    this.root.addEventListener(
      "keydown",
      (event) => {
        if (event.key !== "Escape" || event.target === this.root) return;
        this.root.focus({ preventScroll: true });
      },
      { signal },
    );
    const width = new ResizeObserver(() => this.#layOut());
    width.observe(this.root);
    signal.addEventListener("abort", () => width.disconnect());
  }

  /** Details stand beside a wide stage from the start; on a narrow one, and once chosen, by choice. */
  #layOut(): void {
    const narrow = this.root.clientWidth < NARROW;
    this.root.classList.toggle("tvmdbg-graph-narrow", narrow);
    if (!this.#detailsChosen) this.#openDetails(!narrow);
  }

  #sized(): void {
    this.root.style.setProperty("--tvmdbg-graph-height", `${this.chosen.height}px`);
  }

  /** Shows the placed scene; unless it opens anew, what was looked at stays where it was. */
  #place(placed: Placed, opens: boolean, focus: number | null): void {
    const before = this.placed;
    const { camera } = this.stage;
    this.placed = placed;
    this.walk = new Walk(placed);
    const anchor = this.node ?? focus ?? before?.nearest(camera.x, camera.y) ?? null;
    const box = anchor === null ? -1 : placed.boxOf(anchor);
    const was = before && anchor !== null ? before.boxOf(anchor) : -1;
    if (opens || !before || box < 0 || was < 0) {
      const wanted = before ? [this.node, focus] : [focus, this.node];
      const opening = [...wanted, this.model.times.slowest].map((node) =>
        node === null || node < 0 ? -1 : placed.boxOf(node),
      );
      const first = opening.find((each) => each >= 0) ?? null;
      const asked = this.node;
      this.repaint(() => {
        const { node } = this;
        const since = node === null || node === asked ? -1 : placed.boxOf(node);
        this.stage.open(since >= 0 ? since : first);
      });
    } else {
      this.repaint(() => {
        camera.x += placed.layout.x[box]! - before.layout.x[was]!;
        camera.y += placed.layout.y[box]! - before.layout.y[was]!;
        this.stage.changed();
      });
    }
    this.hits.locate(placed.scene);
    this.mark();
    this.tell();
  }

  #recolored(): void {
    this.repaint();
    if (this.chosen.colorBy === "health") this.#judge.ask();
  }

  #selected(): void {
    const { selected } = this.context.session;
    const own = this.#own === "toggled" || this.#own === JSON.stringify(selected);
    this.#own = "";
    const { box } = this;
    if (!own && box >= 0) this.stage.goTo(box);
    this.#showToolbar();
    this.mark();
    this.tell();
  }

  #searched(): void {
    const { query } = this.chosen;
    this.toolbar.query = query;
    this.hits.find(query);
    if (this.placed) this.hits.locate(this.placed.scene);
    this.#showToolbar();
    this.mark();
  }

  #showToolbar(): void {
    const { graph } = this.model;
    let operators = 0;
    for (const kind of graph.kinds) if (kind >= NodeKind.OPERATOR) operators += 1;
    this.toolbar.show({
      title: `${counted(operators, "operator")} of ${counted(graph.kinds.length, "node")}`,
      colorBy: this.chosen.colorBy,
      fold: this.chosen.fold,
      direction: this.chosen.direction,
      details: this.#detailsOpen,
      hits: this.hits.text(this.node),
      timed: this.model.times.known,
      part: this.#part(),
    });
  }

  #part(): string {
    const { hops } = this.chosen;
    if (!this.placed || hops === null) return "";
    const [shown, all] = [shownNodes(this.placed.scene), this.model.graph.kinds.length];
    return shown === all
      ? ""
      : `${counted(hops, "hop")}: ${integer(shown)} of ${integer(all)} nodes `;
  }

  #drawn(): void {
    this.root.dataset.ready = "true";
  }
}

import { onThemeChange, readTheme } from "../shared/drawing/theme.ts";
import { counted } from "../shared/format.ts";
import { CodeCopy, nodesCode, titleOf } from "../shell/code_copy.ts";
import { div, Mirror, onResize } from "../shell/dom.ts";
import { Tooltip } from "../shell/tooltip.ts";
import { Appearance } from "./appearance.ts";
import { GraphCommands } from "./commands.ts";
import { Hits } from "./data/hits.ts";
import type { GraphModel } from "./data/model.ts";
import type { Walk } from "./data/walk.ts";
import { Folding, overlayOf } from "./folding.ts";
import { layoutCode } from "./layout/layout_client.ts";
import { LayoutController } from "./layout/layouts.ts";
import type { PlacedScene } from "./layout/placed_scene.ts";
import { CameraRestorer, NavigationHistory, STEP_TRAITS } from "./navigation_history.ts";
import { Navigator } from "./navigator.ts";
import { Palette } from "./paint/palette.ts";
import { DetailsPanel } from "./panels/details.ts";
import { groupPath, groupSentence } from "./panels/details_parts.ts";
import { Menus } from "./panels/menus.ts";
import { GraphToolbar } from "./panels/toolbar.ts";
import { ChosenOptions, type GraphContext, SOURCE } from "./parts.ts";
import { type GraphInspection, GraphStage } from "./stage.ts";

const NARROW = 700;

/** One view of one graph; commands on it are in `commands`. */
export class GraphView {
  readonly root: HTMLElement;
  readonly context: GraphContext;
  readonly chosen: ChosenOptions;
  readonly model: GraphModel;
  readonly commands: GraphCommands;
  readonly folding: Folding;
  readonly placing: CameraRestorer;
  readonly hits: Hits;
  readonly appearance: Appearance;
  readonly stage: GraphStage;
  readonly toolbar: GraphToolbar;
  readonly details: DetailsPanel;
  readonly mirror = new Mirror();
  readonly tooltip: Tooltip;
  readonly code: CodeCopy;
  /** The scene on the stage; null until the first layout is done. */
  placed: PlacedScene | null = null;
  walk: Walk | null = null;
  readonly navigator: Navigator;
  readonly navigation: NavigationHistory;
  readonly menus: Menus;
  /** How the user got here ("operand 2 of …"); announced once. */
  walked = "";
  /** Last announcement, repeated when a late answer changes it. */
  #announced = { place: "", along: "" };
  /** The op kind that keeps its color while others fade. */
  highlighted: string | null = null;
  readonly #layoutController: LayoutController;
  /** Error of the data, known from the start. */
  readonly #problem: string;
  palette: Palette;
  #isArranging = false;
  detailsOpen = false;
  #detailsChosen = false;
  /** The node selected before the first picture, or -1. */
  #opensOn = -1;
  #soon = false;
  #opens = false;

  constructor(root: HTMLElement, context: GraphContext, model: GraphModel, problem: string) {
    const { signal, run } = context;
    this.chosen = new ChosenOptions(context.options);
    this.root = root;
    this.tooltip = new Tooltip(signal);
    this.context = context;
    this.#problem = problem;
    this.palette = new Palette(readTheme(root));
    this.model = model;
    model.fetchFacts = () => run.ask("facts");
    model.fetchLayout = () => layoutCode(run);
    const commands = new GraphCommands(this);
    this.commands = commands;
    this.folding = new Folding(this);
    this.placing = new CameraRestorer(this);
    this.navigator = new Navigator(this);
    this.navigation = new NavigationHistory(this);
    this.menus = new Menus(this);
    this.#layoutController = new LayoutController(model, () => void this.arrange(false), signal);
    this.hits = new Hits(model, () => this.#showHits());
    signal.addEventListener("abort", () => this.hits.stop());
    this.stage = new GraphStage(this, signal);
    this.appearance = new Appearance(this, signal);
    this.details = new DetailsPanel(this);
    this.toolbar = new GraphToolbar(this);
    this.stage.node.append(this.#layoutController.node);
    const body = div("tvmdbg-graph-body tvmdbg-fill");
    body.append(this.stage.node, this.details.node);
    root.replaceChildren(
      ...[this.toolbar.node, this.toolbar.part, this.appearance.legend.node, body],
      ...[this.menus.node, this.tooltip.node, this.mirror.node],
    );
    const selected = () => context.session.selected.filter((node) => model.has(node));
    this.code = new CodeCopy(
      root,
      () => nodesCode(selected()),
      (text) => this.mirror.say(text),
      titleOf(context.run),
      context.signal,
    );
    this.#listen();
    this.#sized();
    // Panels below the stage cost it height: open them only on request.
    this.#layOut();
    this.#searched();
    this.#recolored();
    void this.arrange(true);
  }

  /** The selected node, for details and keys. */
  get node(): number | null {
    const { node } = this.context.session;
    return node !== null && this.model.has(node) ? node : null;
  }

  /** Start box for keys, or -1. */
  get box(): number {
    const { group } = this.folding;
    if (group >= 0) return this.placed!.scene.boxOfGroup[group]!;
    return this.node === null ? -1 : (this.placed?.boxOf(this.node) ?? -1);
  }

  /** True during a layout. */
  get isArranging(): boolean {
    return this.#isArranging;
  }

  set isArranging(on: boolean) {
    this.#isArranging = on;
    this.stage.node.setAttribute("aria-busy", String(on));
  }

  /** Columns that a narrower stage would cut are arranged again. */
  #arrangedFor = { width: 0, height: 0 };

  get isWrapped(): boolean {
    return (this.placed?.columns ?? 1) > 1;
  }

  /** Selects nodes and no group, without moving the camera. */
  selectNodes(nodes: readonly number[]): void {
    this.context.options.set("group", null);
    this.context.session.selectMany(nodes, SOURCE);
  }

  get isUntouched(): boolean {
    const { openGroups, wrapped, isolation, hops } = this.chosen;
    return openGroups === null && wrapped === null && isolation === null && hops === null;
  }

  cancel(): boolean {
    return this.#layoutController.cancel();
  }

  showDetails(on = !this.detailsOpen): void {
    this.#detailsChosen = true;
    this.#openDetails(on);
  }

  highlight(opKind: string | null): void {
    this.highlighted = opKind;
    this.repaint();
  }

  /** Builds, lays out and shows the scene of the current traits; the camera stays unless it `opens`. */
  async arrange(opens: boolean): Promise<void> {
    const { hops, fold, direction, grouped, openGroups, hidden, label } = this.chosen;
    const { node: focus, problem } = this.model.find(this.chosen.focus);
    const center = focus ?? this.node;
    const near = hops !== null && center !== null;
    const around = near ? { kind: "around" as const, nodes: [center], hops } : null;
    if (!this.placed) this.#opensOn = this.node ?? -1;
    this.isArranging = true;
    const { context, node: before } = this;
    const { camera } = this.stage;
    const seen = this.placed?.nearest(camera.x, camera.y) ?? this.model.times.slowest;
    this.#opens ||= opens;
    let opened = false;
    const show = (part: PlacedScene) => {
      // A fit needs the complete picture, not a part.
      if (this.isArranging && this.placing.fits && this.placed) return;
      const isWhereOpened = opened && !this.stage.isMoved && !context.options.get("camera");
      this.placing.show(part, this.#opens || isWhereOpened, focus);
      opened = this.#opens;
      if (!this.#soon) this.#opens = false;
    };
    this.#arrangedFor = this.stage.size;
    const placed = await this.#layoutController.place(
      {
        fold,
        direction,
        isolation: this.chosen.isolation ?? around,
        hidden,
        label,
        grouped,
        open: openGroups,
        wanted: this.#opensOn >= 0 ? this.#opensOn : this.model.fault,
        wrapped: this.chosen.wrapped,
        dense: context.place !== undefined,
        stage: this.#arrangedFor,
      },
      [this.#problem, problem].filter(Boolean).join("; "),
      { node: this.node ?? focus ?? seen, show },
    );
    if (this.#layoutController.isRunning) return;
    this.isArranging = this.#soon;
    if (placed) {
      show(context.place?.(placed, this) ?? placed);
      this.folding.tellOpened();
      // Selected meanwhile, as by the address of a saved page: its group opens now.
      const { node } = this;
      if (node !== null && node !== before && this.chosen.group === null) this.folding.goTo(node);
    }
    this.appearance.glance();
  }

  replace(placed: PlacedScene): void {
    this.placing.show(placed, false, null);
  }

  /** Repaints; `place` sets the camera once the stage has a size. */
  repaint(place: (() => void) | null = null): void {
    this.toolbar.show();
    const { placed, palette } = this;
    const painted = this.appearance.of(placed);
    if (!placed || !painted) return;
    const { graph, groups, times } = this.model;
    this.stage.show(
      {
        ...{ graph, groups, times, placed, camera: this.stage.camera, palette, ...painted },
        hits: this.hits.lit,
      },
      place,
    );
  }

  /** Describes the selection in the details and to screen readers; late, without interrupting newer messages. */
  tell(isLate = false): void {
    if (!this.placed) return;
    const { scene } = this.placed;
    const { graph } = this.model;
    const { node } = this;
    const { group } = this.folding;
    const place = `${group}, ${node}`;
    const isOther = this.walked !== "" || place !== this.#announced.place;
    if (isOther) this.#announced = { place, along: this.walked };
    const again = isLate && !isOther;
    this.walked = "";
    const { along } = this.#announced;
    void this.details.show(this.context.session.selected, scene, group);
    if (group >= 0) {
      const sentence = groupSentence(this.model, group, scene, this.folding.isTooLarge(group));
      this.mirror.tell(along + sentence, again);
      return;
    }
    const note = node === null ? "" : this.context.session.note(node);
    this.mirror.tell(
      node === null
        ? `Graph of ${counted(graph.kinds.length, "node")}; nothing is selected.`
        : `${along}${this.model.describe.sentence(node, scene, groupPath(this.model, node))}${note ? ` Note: ${note}` : ""}`,
      again,
    );
  }

  mark(): void {
    if (this.placed) this.stage.mark(overlayOf(this, this.placed));
  }

  #openDetails(on: boolean): void {
    this.detailsOpen = on;
    this.details.node.hidden = !on;
    this.toolbar.show();
  }

  #listen(): void {
    const { session, options, signal } = this.context;
    session.onChange((source) => this.#selected(source === SOURCE), signal, ["selected", "entry"]);
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
    options.onChange("group", () => this.folding.chosen(), signal);
    options.onChange("height", () => this.#sized(), signal);
    options.onChange("search", () => this.#searched(), signal);
    for (const name of STEP_TRAITS) {
      const opens = name === "direction" || name === "focus" || name === "isolate";
      options.onChange(name, () => this.#arrangeSoon(opens), signal);
    }
    const recolor = () => {
      this.palette = new Palette(readTheme(this.root));
      this.repaint();
    };
    // The root's own class follows the host's theme through an observer of its own, which may run after ours.
    onThemeChange(() => requestAnimationFrame(recolor), signal);
    this.root.addEventListener(
      "tvmdbg:inspect",
      (event) => this.stage.inspect((event as CustomEvent<GraphInspection>).detail),
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
    onResize([this.root], () => this.#layOut(), signal);
  }

  /** Arranges once for all traits that change together. */
  #arrangeSoon(opens: boolean): void {
    this.#opens ||= opens;
    if (this.isArranging && this.#soon) return;
    this.isArranging = this.#soon = true;
    queueMicrotask(() => {
      this.#soon = false;
      this.mirror.ask();
      void this.arrange(false);
    });
  }

  /** Opens the details beside a wide stage unless another view shows them; the user's choice wins. */
  #layOut(): void {
    const narrow = this.root.clientWidth < NARROW;
    this.root.classList.toggle("tvmdbg-graph-narrow", narrow);
    if (!this.#detailsChosen) this.#openDetails(!narrow && !this.context.isBeside);
  }

  #sized(): void {
    this.root.style.setProperty("--tvmdbg-graph-height", `${this.chosen.height}px`);
  }

  #recolored(): void {
    this.appearance.recolored();
    this.repaint();
  }

  /** Goes to a node that another view has selected; for its own selection, this view moves the camera itself. */
  #selected(isOwn: boolean): void {
    if (!isOwn) this.context.options.set("group", null);
    if (!isOwn && this.node !== null) this.folding.goTo(this.node);
    this.tooltip.hide();
    this.stage.point(-1);
    this.toolbar.show();
    this.mark();
    this.tell();
  }

  #searched(): void {
    const { query } = this.chosen;
    this.toolbar.search.query = query;
    this.hits.find(query);
  }

  #showHits(): void {
    this.toolbar.showHits(this.hits);
    if (this.placed) this.hits.locate(this.placed.scene);
    this.repaint();
    this.mark();
  }

  drawn(): void {
    const isNarrower = () => this.stage.size.width < this.#arrangedFor.width;
    if (this.isWrapped && !this.stage.isMoved && isNarrower()) this.#arrangeSoon(true);
    this.root.dataset.ready = "true";
    this.root.dispatchEvent(new CustomEvent("tvmdbg:drawn", { detail: this }));
    this.navigation.painted();
  }
}

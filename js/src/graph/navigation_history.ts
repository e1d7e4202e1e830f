import { Walk } from "./data/walk.ts";
import type { PlacedScene } from "./layout/placed_scene.ts";
import {
  type Bookmark,
  type CameraPlace,
  type CameraView,
  changes,
  type GraphState,
  leaving,
  placeOf,
  pushed,
  resolved,
  same,
  viewOf,
} from "./options.ts";
import { type GraphHost, GraphPart } from "./parts.ts";

export const STEP_TRAITS = [
  "isolate",
  "hidden",
  "focus",
  "hops",
  "fold_parameters",
  "direction",
  "open_groups",
  "grouped",
  "wrapped",
] as const;
const COLORS = ["color_by", "color_limits", "label"];
const MOST_SELECTED = 100;
/** Time the camera must rest before Python gets its position. */
const SETTLED_MS = 400;

/** Steps of navigation, and bookmarks by name. */
export class NavigationHistory extends GraphPart {
  #before: Bookmark;
  /** Placed scene and camera of the last paint. */
  #seen: (CameraView & { placed: PlacedScene }) | null = null;
  /** Camera position to go to once everything is laid out. */
  #target: CameraPlace | null;
  #queued = false;
  #kind = "";
  #lastKind = "";
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(view: GraphHost) {
    super(view);
    const { options, session, signal } = view.context;
    this.#before = this.#look();
    this.#target = options.get("camera") ?? null;
    for (const name of STEP_TRAITS) options.onChange(name, () => this.#changed(), signal);
    session.onChange(() => this.#changed(), signal, ["selected"]);
    options.onChange("camera", (isOwn) => isOwn || this.#aim(options.get("camera")), signal);
    for (const name of ["history", "bookmarks"] as const) {
      options.onChange(name, () => view.toolbar.show(), signal);
    }
    signal.addEventListener("abort", () => clearTimeout(this.#timer));
  }

  can(by: number): boolean {
    const { steps = [], at = 0 } = this.#history;
    return Boolean(steps[at + by]);
  }

  go(by: number): void {
    if (!this.can(by)) return;
    const at = (this.#history.at ?? 0) + by;
    const left = leaving(this.#history, { ...this.#look(), camera: this.#place() });
    this.#lastKind = "";
    this.#show(resolved(left, at));
    this.view.context.options.set("history", { ...left, at });
  }

  /** Records a step of this kind; of several such steps in a row only the last is kept. */
  step(kind: "walk" | "fit"): void {
    this.#kind = kind;
    if (kind === "fit") this.#record();
    else this.#changed();
  }

  get names(): string[] {
    return Object.keys(this.#bookmarks);
  }

  keep(name: string): void {
    const look = { ...this.#look([...STEP_TRAITS, ...COLORS]), camera: this.#place() };
    this.view.context.options.set("bookmarks", { ...this.#bookmarks, [name]: look });
  }

  recall(name: string): void {
    const look = this.#bookmarks[name];
    if (look) this.#show(look);
  }

  forget(name: string): void {
    const { [name]: _, ...others } = this.#bookmarks;
    this.view.context.options.set("bookmarks", others);
  }

  /** Sends Python the camera's position once it rests after a move by hand. */
  painted(): void {
    const { placed, stage, context } = this.view;
    if (!placed) return;
    const { x, y, scale } = stage.camera;
    const seen = this.#seen;
    if (seen?.placed === placed && seen.x === x && seen.y === y && seen.scale === scale) return;
    this.#seen = { x, y, scale, placed };
    clearTimeout(this.#timer);
    if (!stage.isMoved) return;
    this.#timer = setTimeout(() => {
      context.options.set("camera", this.#place());
    }, SETTLED_MS);
  }

  /** Moves the camera to its target, if there is one and `shown` is still the scene. */
  settle(shown = this.view.placed): boolean {
    const { placed, stage, isArranging } = this.view;
    if (!this.#target || !placed || placed !== shown) return false;
    if (isArranging || stage.isPlacing) return false;
    const at = viewOf(this.#target, placed);
    this.#target = null;
    if (at) stage.look(at);
    return at !== null;
  }

  get #history() {
    return this.view.context.options.get("history") ?? {};
  }

  get #bookmarks() {
    return this.view.context.options.get("bookmarks") ?? {};
  }

  #place(): CameraPlace | null {
    return this.#target ?? (this.#seen && placeOf(this.#seen, this.#seen.placed));
  }

  #look(names: readonly string[] = STEP_TRAITS): Bookmark {
    const { options, session } = this.view.context;
    const { selected } = session;
    const look: Bookmark = {
      selected: selected.length > MOST_SELECTED ? selected.slice(-1) : [...selected],
    };
    for (const name of names) {
      const value = options.get(name as keyof GraphState);
      if (value !== undefined) look[name] = value;
    }
    return look;
  }

  #show({ camera, selected, ...traits }: Bookmark): void {
    const { options } = this.view.context;
    for (const [name, value] of Object.entries(traits)) {
      options.set(name as keyof GraphState, value as never);
    }
    if (selected && !same(selected, this.#look().selected)) this.view.selectNodes(selected);
    this.#aim(camera ?? null);
  }

  #aim(camera: CameraPlace | null): void {
    if (!camera) return;
    this.#target = camera;
    this.view.context.options.set("camera", camera);
    queueMicrotask(() => this.settle());
  }

  #changed(): void {
    if (!this.#queued) queueMicrotask(() => this.#record());
    this.#queued = true;
  }

  #record(): void {
    this.#queued = false;
    const [now, kind] = [this.#look(), this.#kind];
    const history = this.#history;
    const known = history.steps?.length ? resolved(history, history.at ?? 0) : this.#before;
    const isChanged =
      Object.keys(changes(known, now)).length || !same(known.selected, now.selected);
    this.#kind = "";
    if (!isChanged && kind !== "fit") return;
    const left = { ...known, camera: this.#place() };
    const instead = kind !== "" && kind === this.#lastKind;
    const from = instead ? history : leaving(history, left);
    this.view.context.options.set("history", pushed(from, left, now, instead));
    this.#before = now;
    this.#lastKind = kind;
  }
}

interface BoxPlace {
  x: number;
  y: number;
}

/** Places the camera over a new picture so that what the user looked at stays in place. */
export class CameraRestorer extends GraphPart {
  /** The group that stays in place while the picture changes, unless it is the selected one. */
  anchor: number | null = null;
  fits = false;
  /** The node that the next picture shows. */
  goal: number | null = null;

  /** Shows a placed scene; unless it opens anew, the focus of attention stays in place. */
  show(placed: PlacedScene, opens: boolean, focus: number | null): void {
    const view = this.view;
    const before = view.placed;
    const { camera, showsAll } = view.stage;
    const { fits, anchor, goal } = this;
    const seen = view.node ?? focus ?? before?.nearest(camera.x, camera.y) ?? null;
    const moved = before && this.#moved(before, placed, seen);
    const kept = before && this.#shows(before, view.node) ? placed.boxOf(view.node!) : -1;
    if (!view.isArranging) {
      this.anchor = this.goal = null;
      this.fits = false;
    }
    view.placed = placed;
    view.walk = new Walk(placed);
    const place = fits
      ? () => void (view.navigation.settle(placed) || view.stage.fitAll())
      : opens || !moved
        ? this.#opening(before, placed, focus)
        : () => {
            camera.x += moved.x;
            camera.y += moved.y;
            if (view.navigation.settle(placed)) return;
            view.stage.shifted();
            const wanted = goal === null ? -1 : placed.boxOf(goal);
            if (wanted >= 0) view.stage.arrive(wanted);
            const opened = anchor ?? (goal === null ? openedAlone(before!, placed) : -1);
            const frame = placed.scene.frameOfGroup[opened] ?? -1;
            if (frame >= 0) view.stage.reveal(placed.frame(frame), showsAll);
            // All was visible, and there is less of it now: enlarge it to the stage.
            else if (showsAll && placed.length < 0.9 * before!.length) view.stage.fitAll();
            else if (kept >= 0) view.stage.goTo(kept);
          };
    let coming = -1;
    view.hits.locate(placed.scene);
    view.repaint(() => {
      place();
      if (coming >= 0 && view.placed === placed) view.stage.goTo(coming);
    });
    view.mark();
    view.tell(true);
    coming = view.folding.placed();
  }

  /** Moves the camera for new facts, unless the user has moved it meanwhile. */
  lookAgain(): void {
    const { stage, node, context, isUntouched } = this.view;
    if (node === null && isUntouched && !stage.isMoved && !context.options.get("camera")) {
      void this.view.arrange(true);
    }
  }

  #opening(before: PlacedScene | null, placed: PlacedScene, focus: number | null): () => void {
    const view = this.view;
    const boxOf = (node: number | null) => {
      const box = node === null || node < 0 ? -1 : placed.boxOf(node);
      return box < 0 ? null : box;
    };
    const node = boxOf(view.node);
    const selected = view.node;
    const target = before ? (node ?? boxOf(focus)) : (boxOf(focus) ?? node);
    const wanted = target ?? boxOf(view.model.answer) ?? -1;
    return () => {
      const { node } = view;
      const since = node === null || node === selected ? -1 : placed.boxOf(node);
      if (!view.navigation.settle(placed)) view.stage.open(since >= 0 ? since : wanted);
    };
  }

  #shows(placed: PlacedScene, node: number | null): boolean {
    const box = node === null ? -1 : placed.boxOf(node);
    return box >= 0 && this.view.stage.camera.shows(placed.rectangle(box), 0);
  }

  #moved(before: PlacedScene, after: PlacedScene, seen: number | null): BoxPlace | null {
    const { anchor } = this;
    const difference = (place: (at: PlacedScene) => BoxPlace | null) => {
      const [is, was] = [place(after), place(before)];
      return is && was && { x: is.x - was.x, y: is.y - was.y };
    };
    const node = difference((at) => at.placeOfNode(seen));
    if (anchor === null) return node;
    const group = difference((at) => at.placeOfGroup(anchor));
    if (!group) return node;
    // A frame may be wider on one side of its through line: keep that line in place.
    const line = difference((at) => at.placeOfNode(this.#before(anchor, before, after)));
    if (!line) return group;
    return after.layout.direction === "down" ? { ...group, x: line.x } : { ...group, y: line.y };
  }

  /** An input of the group that has a box of its own in both pictures. */
  #before(group: number, before: PlacedScene, after: PlacedScene): number | null {
    const { groups, links } = this.view.model;
    const { edgeSource } = links.graph;
    const inside = new Set(groups.nodes(group));
    const hasBox = ({ scene }: PlacedScene, node: number) =>
      scene.boxStart[node + 1]! - scene.boxStart[node]! === 1;
    for (const node of inside) {
      for (const edge of links.into(node)) {
        const source = edgeSource[edge]!;
        if (source < 0 || inside.has(source)) continue;
        if (hasBox(before, source) && hasBox(after, source)) return source;
      }
    }
    return null;
  }
}

/** The one group opened since, ignoring groups inside it; -1 for none or several. */
function openedAlone(before: PlacedScene, after: PlacedScene): number {
  const { group, parent } = after.scene.frames;
  const isNew = (frame: number) => (before.scene.frameOfGroup[group[frame]!] ?? -1) < 0;
  const opened = Array.from(group.keys()).filter(
    (frame) => isNew(frame) && !(parent[frame]! >= 0 && isNew(parent[frame]!)),
  );
  return opened.length === 1 ? group[opened[0]!]! : -1;
}

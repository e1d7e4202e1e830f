import type { GraphOptions } from "../options.ts";
import type { GraphParts } from "../parts.ts";
import type { PlacedScene } from "../placed/placed_scene.ts";
import { type CameraPlace, placeOf, type View, viewOf } from "./camera_place.ts";
import { type Bookmark, changes, leaving, pushed, resolved, same } from "./history.ts";

/** Traits that a step back takes back. */
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
/** So long the camera must rest until Python is told where it is. */
const SETTLED_MS = 400;

/** What it needs of the view. */
type Visited = Pick<
  GraphParts,
  "context" | "isArranging" | "placed" | "selectNodes" | "showToolbar" | "stage"
>;

/** What was shown and from where: step by step, and under names. */
export class NavigationHistory {
  readonly #view: Visited;
  /** What was shown last, for a history that has not begun. */
  #before: Bookmark;
  /** What the stage showed when it was painted last. */
  #seen: (View & { placed: PlacedScene }) | null = null;
  /** Where the camera is to be as soon as all is laid out. */
  #target: CameraPlace | null;
  #written: unknown;
  #queued = false;
  #kind = "";
  #lastKind = "";
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(view: Visited) {
    this.#view = view;
    const { options, session, signal } = view.context;
    this.#before = this.#look();
    this.#target = this.#written = options.get("camera") ?? null;
    for (const name of STEP_TRAITS) options.onChange(name, () => this.#changed(), signal);
    session.onChange(() => this.#changed(), signal, ["selected"]);
    options.onChange("camera", () => this.#aim(options.get("camera")), signal);
    for (const name of ["history", "bookmarks"] as const) {
      options.onChange(name, () => view.showToolbar(), signal);
    }
    signal.addEventListener("abort", () => clearTimeout(this.#timer));
  }

  /** Whether there is a step so far from the present one. */
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
    this.#view.context.options.set("history", { ...left, at });
  }

  /** What changes now is a step of this kind; of several in a row that are alike, the last is kept. */
  step(kind: "walk" | "fit"): void {
    this.#kind = kind;
    if (kind === "fit") this.#record();
    else this.#changed();
  }

  get names(): string[] {
    return Object.keys(this.#bookmarks);
  }

  /** Keeps what is shown under a name. */
  keep(name: string): void {
    const look = { ...this.#look([...STEP_TRAITS, ...COLORS]), camera: this.#place() };
    this.#view.context.options.set("bookmarks", { ...this.#bookmarks, [name]: look });
  }

  recall(name: string): void {
    const look = this.#bookmarks[name];
    if (look) this.#show(look);
  }

  forget(name: string): void {
    const { [name]: _, ...others } = this.#bookmarks;
    this.#view.context.options.set("bookmarks", others);
  }

  /** After a paint: Python is told where the camera is, once it rests where somebody moved it. */
  painted(): void {
    const { placed, stage, context } = this.#view;
    if (!placed) return;
    const { x, y, scale } = stage.camera;
    const seen = this.#seen;
    if (seen?.placed === placed && seen.x === x && seen.y === y && seen.scale === scale) return;
    this.#seen = { x, y, scale, placed };
    clearTimeout(this.#timer);
    if (!stage.isMoved) return;
    this.#timer = setTimeout(() => {
      this.#written = this.#place();
      context.options.set("camera", this.#place());
    }, SETTLED_MS);
  }

  /** Puts the camera where it is to be, if that is said and `shown` is what remains. */
  settle(shown = this.#view.placed): boolean {
    const { placed, stage, isArranging } = this.#view;
    if (!this.#target || !placed || placed !== shown) return false;
    if (isArranging || stage.isPlacing) return false;
    const at = viewOf(this.#target, placed);
    this.#target = null;
    if (at) stage.look(at);
    return at !== null;
  }

  get #history() {
    return this.#view.context.options.get("history") ?? {};
  }

  get #bookmarks() {
    return this.#view.context.options.get("bookmarks") ?? {};
  }

  #place(): CameraPlace | null {
    return this.#target ?? (this.#seen && placeOf(this.#seen, this.#seen.placed));
  }

  #look(names: readonly string[] = STEP_TRAITS): Bookmark {
    const { options, session } = this.#view.context;
    const { selected } = session;
    const look: Bookmark = {
      selected: selected.length > MOST_SELECTED ? selected.slice(-1) : [...selected],
    };
    for (const name of names) {
      const value = options.get(name as keyof GraphOptions);
      if (value !== undefined) look[name] = value;
    }
    return look;
  }

  #show({ camera, selected, ...traits }: Bookmark): void {
    const { options } = this.#view.context;
    for (const [name, value] of Object.entries(traits)) {
      options.set(name as keyof GraphOptions, value as never);
    }
    if (selected && !same(selected, this.#look().selected)) {
      this.#view.selectNodes(selected);
    }
    if (camera) this.#aim(camera, true);
  }

  #aim(camera: CameraPlace | null, always = false): void {
    if (!camera || (!always && same(camera, this.#written))) return;
    this.#target = this.#written = camera;
    this.#view.context.options.set("camera", camera);
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
    this.#view.context.options.set("history", pushed(from, left, now, instead));
    this.#before = now;
    this.#lastKind = kind;
  }
}

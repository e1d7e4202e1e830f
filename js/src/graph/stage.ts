import { clear, type Layer, layer, type Rectangle, Repaint } from "../shared/drawing/canvas.ts";
import { div } from "../shell/dom.ts";
import { Camera, isIn, isLegible, LEGIBLE_SCALE, READABLE_SCALE } from "./camera.ts";
import { fitted, isThread, opening } from "./framing.ts";
import type { Bounds } from "./layout/types.ts";
import { EdgePainter, edgeAt } from "./paint/edges.ts";
import { buttonOf } from "./paint/frames.ts";
import type { MarginLine } from "./paint/margin.ts";
import { GraphOverview } from "./paint/overview.ts";
import { GraphPainter, noteSpot, type OverlayMarks, OverlayPainter } from "./paint/painter.ts";
import { detail, type GraphPicture, type LabelRecord } from "./paint/picture.ts";

const MOVE_MS = 180;
/** Distance up to which a click still hits a button, CSS px. */
const SLACK = 3;
/** Margin of visible boxes, less than that of a fitted graph. */
const SPARE = 8;
/** Margin of a picture of the complete graph, CSS px. */
const BORDER = 16;
const NOWHERE: Bounds = { minX: 0, minY: 0, maxX: 0, maxY: 0 };
export interface GraphInspection {
  labels?: LabelRecord[];
  marks?: ({ id: number; group: number; button: Rectangle | null } & Rectangle)[];
  frames?: ({ group: number; button: Rectangle | null } & Rectangle)[];
  notes?: ({ id: number } & Rectangle)[];
  leaders?: MarginLine[];
}

export interface StageItem {
  box: number;
  group: number;
  /** True on the button that opens or closes the group. */
  button: boolean;
  /** Its place on the stage, CSS px; null for nothing. */
  shape: Rectangle | null;
}

interface StageHost {
  /** Called after each paint. */
  drawn(): void;
}

/** Canvases, camera and overview strip of a graph. */
export class GraphStage {
  readonly node = div("tvmdbg-graph-stage tvmdbg-relative tvmdbg-fill");
  readonly camera = new Camera();
  readonly canvas: HTMLCanvasElement;
  readonly #box = div("tvmdbg-stage tvmdbg-fill");
  readonly #base: Layer = layer("tvmdbg-graph-base");
  readonly #over: Layer = layer("tvmdbg-overlay");
  readonly #painter = new GraphPainter(this.#base.context);
  readonly #marker = overlayPainter(this.#over.context, this.#painter);
  readonly #overview: GraphOverview;
  readonly #baseRepaint: Repaint;
  readonly #overRepaint: Repaint;
  readonly #host: StageHost;
  #picture: GraphPicture | null = null;
  #edge = -1;
  #marks: OverlayMarks = { selected: [], frame: -1, hovered: -1, hits: new Map(), noted: [] };
  #pending: (() => void) | null = null;
  /** Target box of a camera movement, or null. */
  #goal: (() => number) | null = null;
  #moving = 0;
  /** True if the user has moved the camera. */
  isMoved = false;
  /** Restores the opening position when the stage is resized, until the user moves the camera. */
  #opening: (() => void) | null = null;

  constructor(host: StageHost, signal: AbortSignal) {
    this.#host = host;
    this.canvas = this.#base.canvas;
    this.#box.append(this.#base.canvas, this.#over.canvas);
    this.#overview = new GraphOverview((x, y) => {
      [this.camera.x, this.camera.y] = [x, y];
      this.changed();
    }, signal);
    this.node.append(this.#box, this.#overview.node);
    this.#baseRepaint = new Repaint(this.#box, () => this.#paint(), signal);
    this.#overRepaint = new Repaint(this.#box, () => this.#paintOver(), signal);
    signal.addEventListener("abort", () => cancelAnimationFrame(this.#moving));
  }

  show(picture: GraphPicture, place: (() => void) | null = null): void {
    if (picture.placed !== this.#picture?.placed) this.#edge = -1;
    this.#picture = picture;
    this.node.dataset.direction = picture.placed.layout.direction;
    this.#overview.invalidate();
    if (place) this.#afterPlacing(place);
    this.#baseRepaint.request();
  }

  #afterPlacing(act: () => void): void {
    const earlier = this.#pending;
    this.#pending = () => {
      earlier?.();
      act();
    };
  }

  /** True while the current picture waits for its camera position. */
  get isPlacing(): boolean {
    return this.#pending !== null;
  }

  point(edge: number): void {
    if (edge === this.#edge) return;
    this.#edge = edge;
    this.#overRepaint.request();
  }

  /** The edge at a point of the stage, or -1. */
  edgeAt(x: number, y: number): number {
    const picture = this.#picture;
    return picture && detail(picture) !== "density" ? edgeAt(picture, x, y) : -1;
  }

  mark(marks: OverlayMarks): void {
    this.#marks = marks;
    this.#overRepaint.request();
  }

  /** Clamps a camera that the user has moved and repaints; a new size of the stage keeps it from now on. */
  changed(): void {
    this.#opening = null;
    this.shifted();
  }

  /** Clamps a camera that was moved with the picture, and repaints. */
  shifted(): void {
    this.isMoved = true;
    this.along(this.camera);
  }

  /** Follows the camera of another stage; not a move by hand. */
  along(from: { x: number; y: number; scale: number }): void {
    cancelAnimationFrame(this.#moving);
    this.#goal = null;
    Object.assign(this.camera, { x: from.x, y: from.y, scale: from.scale });
    this.#clamp(this.camera);
    this.#baseRepaint.request();
  }

  open(wanted: number, frame = -1): void {
    if (!this.#picture) return;
    this.#overviewBeside(false);
    this.#openAt(wanted, frame);
    if (!this.showsAll) {
      this.#overviewBeside(true);
      this.#openAt(wanted, frame);
    }
    this.along(this.camera);
    this.isMoved = false;
    const node = this.#picture.placed.scene.node[wanted];
    this.#opening = () => {
      const { selected, frame } = this.#marks;
      const opened = node === undefined ? -1 : this.#picture!.placed.boxOf(node);
      this.open(selected.at(-1) ?? (frame < 0 ? opened : -1), frame);
    };
  }

  #openAt(wanted: number, frame: number): void {
    const { placed } = this.#picture!;
    const first = wanted < 0 && frame >= 0 ? placed.scene.frameOf.indexOf(frame) : wanted;
    Object.assign(this.camera, opening(placed, this.camera, first, frame));
  }

  look(from: { x: number; y: number; scale: number }): void {
    Object.assign(this.camera, from);
    // The overview takes room from the stage, which moves the camera.
    this.#overviewBeside(!this.#showsAllAlone);
    Object.assign(this.camera, from);
    this.changed();
    this.isMoved = false;
  }

  get size(): { width: number; height: number } {
    const { clientWidth, clientHeight } = this.node;
    return { width: clientWidth || 600, height: clientHeight || 360 };
  }

  get isThread(): boolean {
    return this.#picture !== null && isThread(this.#picture.placed, this.camera);
  }

  get showsAll(): boolean {
    return this.#picture !== null && this.camera.shows(this.#all, -1);
  }

  fit(bounds: Bounds): void {
    this.#goal = this.#opening = null;
    if (this.#pending) this.#afterPlacing(() => this.fit(bounds));
    else if (this.#picture) this.#moveTo(fitted(this.#picture.placed, this.camera, bounds));
  }

  fitAll(): void {
    if (!this.#picture) return;
    if (this.#pending) {
      this.#afterPlacing(() => this.fitAll());
      return;
    }
    this.#overviewBeside(false);
    this.fit(this.#picture.placed.layout.bounds);
    this.#opening = () => {
      const { placed } = this.#picture!;
      Object.assign(this.camera, fitted(placed, this.camera, placed.layout.bounds));
    };
  }

  /** Shows a box after groups around it have opened: with the complete graph if that is legible. */
  arrive(box: number): void {
    if (!this.#picture) return;
    if (isLegible(this.#picture.placed.layout.bounds, this.camera)) this.fitAll();
    else this.goTo(box, true);
  }

  /** Shows a part of the graph: with the complete graph if `whole` and legible, else from the part's beginning. */
  reveal({ x, y, width, height }: Rectangle, whole: boolean): void {
    if (!this.#picture || (this.showsAll && this.camera.scale >= LEGIBLE_SCALE)) return;
    if (whole && isLegible(this.#picture.placed.layout.bounds, this.camera)) {
      this.fitAll();
      return;
    }
    this.#overviewBeside(!this.#showsAllAlone);
    if (this.camera.scale >= LEGIBLE_SCALE && this.camera.shows({ x, y, width, height }, 0)) return;
    const target = this.#copy();
    target.fit({ minX: x, minY: y, maxX: x + width, maxY: y + height }, READABLE_SCALE);
    target.scale = Math.max(LEGIBLE_SCALE, target.scale);
    const room = (across: number) => (across - 2 * SPARE) / 2 / target.scale;
    target.x = x + Math.min(width / 2, room(target.width));
    target.y = y + Math.min(height / 2, room(target.height));
    this.#moveTo(target);
  }

  zoom(factor: number, x = this.camera.width / 2, y = this.camera.height / 2): void {
    this.camera.zoomAt(factor, x, y);
    this.changed();
  }

  goTo(box: number, always = false): void {
    if (!this.#picture) return;
    const rectangle = this.#picture.placed.rectangle(box);
    if (this.#pending) return;
    this.#overviewBeside(!this.#showsAllAlone);
    if (!always && this.camera.shows(rectangle, SPARE)) return;
    const target = this.#copy();
    const { minX, minY, maxX, maxY } = this.camera.view(-SPARE);
    const { x, y, width, height } = rectangle;
    if (always || x < minX || x + width > maxX) target.x = x + width / 2;
    if (always || y < minY || y + height > maxY) target.y = y + height / 2;
    if (always && target.scale < READABLE_SCALE) target.scale = READABLE_SCALE;
    this.#moveTo(target);
  }

  /** Centers a box once the picture is placed, and again if the picture changes on the way. */
  centerOn(find: () => number): void {
    this.#goal = find;
    if (this.#pending) return;
    const box = find();
    if (box < 0) this.#goal = null;
    else this.goTo(box, true);
  }

  /** True if the box is legible and in the middle of the stage, as near as the graph's end allows. */
  centered(box: number): boolean {
    if (!this.#picture) return false;
    const { x, y } = this.#picture.placed.layout;
    const target = this.#copy();
    [target.x, target.y] = [x[box]!, y[box]!];
    this.#clamp(target);
    const away = Math.hypot(target.x - this.camera.x, target.y - this.camera.y);
    return away * this.camera.scale < 1 && this.camera.scale > READABLE_SCALE - 1e-9;
  }

  thingAt(x: number, y: number): StageItem {
    const nothing = { box: -1, group: -1, button: false, shape: null };
    const picture = this.#picture;
    if (!picture) return nothing;
    const { scene } = picture.placed;
    const within = picture.placed.boxAt(this.camera.worldX(x), this.camera.worldY(y));
    const row = within < 0 ? this.#painter.margin.at(x, y) : null;
    const box = row?.box ?? within;
    if (box >= 0) {
      const group = scene.group[box]!;
      const button = within >= 0 && group >= 0 ? buttonOf(picture, box) : null;
      const shape = row ?? this.camera.screen(picture.placed.rectangle(box));
      return { box, group, button: button !== null && isIn(button, x, y, SLACK), shape };
    }
    const found = this.#painter.frames.at(x, y);
    if (!found) return nothing;
    const { header, button } = found;
    return { box, group: header.group, button, shape: header };
  }

  groupAround(x: number, y: number): number {
    if (!this.#picture) return -1;
    const { placed } = this.#picture;
    const frame = placed.frameAt(this.camera.worldX(x), this.camera.worldY(y));
    return frame < 0 ? -1 : placed.scene.frames.group[frame]!;
  }

  /** Contents of the stage, for tests. */
  inspect(out: GraphInspection): void {
    const picture = this.#picture;
    if (!picture) return;
    const labels: LabelRecord[] = [];
    this.#painter.labels = labels;
    this.#paint();
    this.#painter.labels = null;
    out.labels = labels;
    const marks: NonNullable<GraphInspection["marks"]> = [];
    const { camera, placed } = picture;
    placed.eachBox(camera.view(), (box) => {
      marks.push({
        id: placed.scene.node[box]!,
        group: placed.scene.group[box]!,
        button: placed.scene.group[box]! < 0 ? null : buttonOf(picture, box),
        ...camera.screen(placed.rectangle(box)),
      });
    });
    out.marks = marks;
    const frames: NonNullable<GraphInspection["frames"]> = [];
    placed.eachFrame(camera.view(), (frame) => {
      const header = this.#painter.frames.headers.find((header) => header.frame === frame);
      const group = placed.scene.frames.group[frame]!;
      frames.push({ group, button: header?.button ?? null, ...camera.screen(placed.frame(frame)) });
    });
    out.frames = frames;
    out.notes = this.#marks.noted.map((box) => ({
      id: placed.scene.node[box]!,
      ...noteSpot(picture, box),
    }));
    out.leaders = this.#marks.selected.flatMap(
      (box) => this.#painter.margin.leader(picture, box) ?? [],
    );
  }

  whole(scale: number): Camera {
    const { x, y, width, height } = this.#all;
    const camera = new Camera();
    Object.assign(camera, { scale, x: x + width / 2, y: y + height / 2 });
    camera.resize(width * scale + 2 * BORDER, height * scale + 2 * BORDER);
    return camera;
  }

  drawInto(context: CanvasRenderingContext2D, camera: Camera): void {
    if (!this.#picture) return;
    const picture = { ...this.#picture, camera };
    const painter = new GraphPainter(context);
    context.fillStyle = picture.palette.theme.background;
    context.fillRect(0, 0, camera.width, camera.height);
    painter.paint(picture);
    overlayPainter(context, painter).paint(picture, { ...this.#marks, hovered: -1 }, -1);
  }

  /** The complete graph, px of the world. */
  get #all(): Rectangle {
    const { minX, minY, maxX, maxY } = this.#picture?.placed.layout.bounds ?? NOWHERE;
    return { x: minX, y: minY, width: maxX - minX, height: maxY - minY };
  }

  get #showsAllAlone(): boolean {
    const { clientWidth, clientHeight } = this.node;
    const alone = this.#copy();
    alone.widen(clientWidth, clientHeight);
    return alone.shows(this.#all, -1);
  }

  #overviewBeside(on: boolean): void {
    const { node } = this.#overview;
    if (node.hidden === !on) return;
    node.hidden = !on;
    this.camera.widen(this.#box.clientWidth, this.#box.clientHeight);
  }

  #copy(): Camera {
    return Object.assign(new Camera(), this.camera);
  }

  #clamp(camera: Camera): void {
    if (this.#picture) camera.clamp(this.#picture.placed.layout.bounds);
  }

  #moveTo(target: Camera): void {
    cancelAnimationFrame(this.#moving);
    this.#clamp(target);
    this.isMoved = true;
    const { x, y, scale } = this.camera;
    const started = performance.now();
    const duration = isAnimated() ? MOVE_MS : 0;
    const move = () => {
      const at = Math.min(1, (performance.now() - started) / Math.max(1, duration));
      const eased = duration === 0 ? 1 : 1 - (1 - at) ** 3;
      this.camera.scale = scale * (target.scale / scale) ** eased;
      this.camera.x = x + (target.x - x) * eased;
      this.camera.y = y + (target.y - y) * eased;
      this.#baseRepaint.request();
      if (eased < 1) this.#moving = requestAnimationFrame(move);
      else this.#goal = null;
    };
    move();
  }

  #paint(): void {
    const picture = this.#picture;
    const { clientWidth: width, clientHeight: height } = this.#box;
    if (!picture || width === 0 || height === 0) return;
    if (this.camera.width !== width || this.camera.height !== height) {
      const selected = this.#marks.selected.at(-1);
      const box = selected === undefined ? null : picture.placed.rectangle(selected);
      const seen = box !== null && this.camera.shows(box, 0);
      this.camera.resize(width, height);
      this.#clamp(this.camera);
      if (!this.#pending && this.#opening) this.#pending = this.#opening;
      else if (box && seen && !this.camera.shows(box, 0)) {
        [this.camera.x, this.camera.y] = [box.x + box.width / 2, box.y + box.height / 2];
      }
    }
    const [place, goal] = [this.#pending, this.#goal];
    this.#pending = null;
    place?.();
    if (place && goal) this.centerOn(goal);
    this.#overviewBeside(!this.#showsAllAlone);
    clear(this.#base, this.camera.width, this.camera.height);
    this.#painter.paint(picture);
    this.#paintOver();
    this.#host.drawn();
  }

  #paintOver(): void {
    if (!this.#picture) return;
    clear(this.#over, this.camera.width, this.camera.height);
    this.#marker.paint(this.#picture, this.#marks, this.#edge);
    this.#overview.paint(this.#picture, this.#marks);
  }
}

function isAnimated(): boolean {
  return !matchMedia("(prefers-reduced-motion: reduce)").matches;
}

function overlayPainter(context: CanvasRenderingContext2D, painter: GraphPainter) {
  return new OverlayPainter(context, new EdgePainter(context), painter);
}

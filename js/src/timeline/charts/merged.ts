import { errorText, isAbort } from "../../shared/client/request.ts";
import type { ChartBrush } from "../../shared/drawing/brush.ts";
import type { Rectangle } from "../../shared/drawing/canvas.ts";
import { counted, duration, percent } from "../../shared/format.ts";
import { button, element } from "../../shell/dom.ts";
import { message } from "../../shell/message.ts";
import type { PointerSpot } from "../../shell/pointer.ts";
import { ItemNames } from "../data/item_names.ts";
import { MergedTree } from "../data/merged_tree.ts";
import { rangeText } from "../data/names.ts";
import { Icicle } from "./icicle.ts";
import { type ChartHost, ScrolledChart } from "./stage.ts";

/** Slices merged by path, the heaviest first: the slowest parts, whatever calls them. */
export class Merged extends ScrolledChart<number> {
  #called: ItemNames | null = null;
  readonly #trail = element("nav", { class: "tvmdbg-timeline-trail", "aria-label": "zoomed into" });
  readonly #note = element("p", { class: "tvmdbg-muted" });
  #icicle: Icicle | null = null;
  #range: readonly [number, number] | null = null;
  /** What a path is made of. */
  #said = "";
  #hits: unknown = null;

  constructor(host: ChartHost) {
    super(host, "tvmdbg-timeline-icicle", -1);
    this.above.append(this.#trail, this.#note);
    this.#range = host.session.timeRange;
    void this.#ask();
  }

  paint(brush: ChartBrush, width: number, height: number): void {
    if (!this.#icicle) brush.text("Merging …", 8, 12, brush.theme.muted, width);
    this.#icicle?.paint(brush, width, height, this.top);
  }

  override over(brush: ChartBrush, width: number, height: number): void {
    for (const place of this.#selected()) {
      const box = this.box(place, width, height);
      if (box) brush.fill(brush.theme.text, box.x, box.y + box.height - 3, box.width, 3);
    }
    super.over(brush, width, height);
  }

  height(room: number): number {
    return this.#icicle?.fit(room) ?? 0;
  }

  protected box(place: number, width: number, height: number): Rectangle | null {
    const box = this.#icicle?.box(place, width, height, this.top);
    return box ? { ...box, width: box.width - 1, height: box.height - 1 } : null;
  }

  sync(): void {
    const { session, data } = this.host;
    const isOther = String(session.timeRange) !== String(this.#range);
    if (isOther) {
      this.#range = session.timeRange;
      void this.#ask();
    }
    if (data.scene.hits !== this.#hits) this.#light();
    const { hovered, node } = session;
    const called = this.#called;
    if (called) {
      const wanted = called.selected(node, data.scene.current);
      if (wanted === -1) this.current = -1;
      else if (called.item(this.current) !== wanted && !this.#holds(this.current, wanted)) {
        this.current = called.rowOf(wanted);
        this.#reveal();
      }
      if (hovered !== null && called.node(this.hovered) !== hovered) {
        this.hovered = called.rowOf(hovered);
      } else if (hovered === null && called.node(this.hovered) >= 0) this.hovered = -1;
    }
    this.stage.touched();
  }

  get sentence(): string {
    return this.current < 0 ? "" : this.#sentence(this.current);
  }

  key(event: KeyboardEvent): boolean {
    const icicle = this.#icicle;
    if (!icicle) return false;
    const { parent, inside, depth, levels } = icicle.tree;
    const current = this.current;
    const level = current < 0 ? 0 : depth[current]!;
    const [first, last] = [levels[level] ?? 0, levels[level + 1] ?? 0];
    const to = (place: number) => {
      if (place >= 0 && place < icicle.tree.size) this.pick(place);
      return true;
    };
    const beside = (by: number) => {
      if (current < 0) return to(Math.max(0, icicle.zoomed));
      const next = Math.min(Math.max(first, current + by), last - 1);
      return to(
        icicle.zoomed >= 0 && !this.#icicle!.tree.path(next).includes(icicle.zoomed)
          ? current
          : next,
      );
    };
    switch (event.key) {
      case "ArrowLeft":
        return beside(-1);
      case "ArrowRight":
        return beside(1);
      case "Home":
        return beside(-Infinity);
      case "End":
        return beside(Infinity);
      case "ArrowUp":
        return to(current < 0 ? 0 : parent[current]!);
      case "ArrowDown":
        if (current < 0) return to(Math.max(0, icicle.zoomed));
        return inside[current]! < inside[current + 1]! ? to(inside[current]!) : true;
      case "Enter":
      case "f":
      case "w":
      case "+":
        if (current >= 0) this.#zoom(current);
        return true;
      case "s":
      case "-":
        this.#out();
        return true;
      case "Escape":
        return this.#out();
      case "0":
        this.#zoom(-1);
        return true;
      default:
        return false;
    }
  }

  protected get facts(): object {
    return { zoomed: this.#icicle?.zoomed ?? -1, whole: this.#icicle?.tree.whole ?? null };
  }

  protected nodeOf(place: number): number {
    return this.#called?.node(place) ?? -1;
  }

  async #ask(): Promise<void> {
    const { data, context } = this.host;
    const { run, signal } = context;
    const range = this.#range;
    try {
      const reply = await run.ask("merged", range ? { from: range[0], to: range[1] } : {});
      if (signal.aborted || range !== this.#range) return;
      if (!reply) {
        const why = "This page was saved without it.";
        this.node.replaceChildren(message("empty", "No chart “merged”", why));
        return;
      }
      this.#called = new ItemNames(reply, data);
      this.#said = reply.info.said;
      const key = Int32Array.from(reply.node.keys());
      this.#icicle = new Icicle(new MergedTree({ ...reply, key }), this.#called);
      this.current = this.hovered = -1;
      this.#light();
      this.#zoom(-1);
      this.sync();
    } catch (error) {
      if (signal.aborted || isAbort(error) || range !== this.#range) return;
      this.#note.textContent = errorText(error);
    }
  }

  #light(): void {
    const { scene } = this.host.data;
    this.#hits = scene.hits;
    const called = this.#called;
    if (!this.#icicle || !called) return;
    if (!scene.hits.count) this.#icicle.light(null);
    else {
      const hits = new Set(Array.from(scene.hits, (slice) => called.itemOf(slice)));
      this.#icicle.light((key) => hits.has(called.item(key)));
    }
    this.stage.changed();
  }

  #selected(): number[] {
    const { selected } = this.host.session;
    if (!this.#icicle || selected.length < 2) return [];
    const wanted = new Set(selected);
    return [...this.#icicle.tree.key].filter((place) => wanted.has(this.#called!.node(place)));
  }

  protected at(x: number, y: number): number {
    const { width, height } = this.stage;
    const icicle = this.#icicle;
    return icicle ? icicle.tree.at(...icicle.at(x, y, width, height, this.top)) : -1;
  }

  #holds(place: number, node: number): boolean {
    return !!this.#called?.isGroup(place) && this.#called.nodes(place).includes(node);
  }

  override click(at: PointerSpot, event: MouseEvent): void {
    const place = this.at(at.x, at.y);
    if (place >= 0 && place === this.current) this.#zoom(place);
    else super.click(at, event);
  }

  protected pick(place: number): void {
    this.current = place;
    if (place < 0) this.host.choose("chart", []);
    else {
      const nodes = this.#called!.nodes(place);
      if (nodes.length) this.host.choose("chart", nodes);
      else this.host.choose("chart", [], this.#called!.slicesOf(place)[0] ?? -1);
      this.current = place;
      this.#reveal();
      this.host.say(this.#sentence(place));
    }
    this.stage.touched();
  }

  #zoom(place: number): void {
    const icicle = this.#icicle!;
    icicle.zoomed = place;
    const crumb = (label: string, to: number) => {
      const node = button(label, `zoom to ${label}`, () => {
        this.#zoom(to);
        this.stage.focusView();
      });
      if (to === place) node.setAttribute("aria-current", "true");
      return node;
    };
    const path = place < 0 ? [] : icicle.tree.path(place);
    this.#trail.replaceChildren(
      crumb(`total ${duration(icicle.tree.whole)}`, -1),
      ...path.map((place) => crumb(this.#called!.title(place), place)),
    );
    this.#note.textContent = this.#about();
    this.fit();
    if (place >= 0) this.host.say(`Zoomed into ${this.#sentence(place)}`);
  }

  #out(): boolean {
    const zoomed = this.#icicle?.zoomed ?? -1;
    if (zoomed < 0) return false;
    this.#zoom(this.#icicle!.tree.parent[zoomed]!);
    return true;
  }

  #about(): string {
    const { rule } = this.host.data.names.colors;
    const path = `merged by path (${this.#said}), heaviest first; width: total time; color: ${rule}`;
    return this.#range ? `Only the marked range ${rangeText(this.#range)}: ${path}` : path;
  }

  #reveal(): void {
    if (this.current < 0 || !this.#icicle) return;
    const { zoomed, tree } = this.#icicle;
    if (zoomed >= 0 && !tree.path(this.current).includes(zoomed)) {
      if (!tree.path(zoomed).includes(this.current)) this.#zoom(-1);
    }
    const { level } = this.#icicle;
    this.reveal(tree.depth[this.current]! * level, level);
  }

  protected lines(place: number): string[] | null {
    if (place < 0) return null;
    const { tree } = this.#icicle!;
    const { total, self, count, whole } = tree;
    const path = tree.path(place).slice(0, -1);
    const called = this.#called!;
    const names = path.map((place) => called.label(place));
    const cut = names.length > 6 ? [...names.slice(0, 3), "…", ...names.slice(-2)] : names;
    const leaf = self[place] === total[place];
    return [
      called.title(place),
      ...(cut.length ? [`in ${cut.join(" › ")}`] : []),
      `total ${duration(total[place]!)} (${percent(total[place]! / whole)})`,
      ...(leaf
        ? []
        : [`self ${duration(self[place]!)}, ${percent(self[place]! / total[place]!)} of it`]),
      called.isGroup(place)
        ? counted(called.nodes(place).length, "node")
        : `${counted(count[place]!, "slice")}, mean ${duration(total[place]! / count[place]!)}`,
    ];
  }

  #sentence(place: number): string {
    const { tree } = this.#icicle!;
    const [title, ...rest] = this.lines(place)!;
    return `${title}, level ${tree.depth[place]! + 1}, ${rest.join(", ")}`;
  }
}

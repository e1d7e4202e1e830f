import { errorText, isAbort } from "../../shared/client/request.ts";
import { counted, duration, percent } from "../../shared/format.ts";
import { button, div, element } from "../../shell/dom.ts";
import { message } from "../../shell/message.ts";
import { ItemNames } from "../data/item_names.ts";
import { MergedTree } from "../data/merged_tree.ts";
import { timeText } from "../data/names.ts";
import { Icicle } from "./icicle.ts";
import { type ChartHost, ChartStage, type OtherChart, Scroller, shifted } from "./stage.ts";

/** Slices merged by path, the heaviest first: the slowest parts, whatever calls them. */
export class Merged implements OtherChart {
  readonly node: HTMLElement;
  readonly #host: ChartHost;
  #called: ItemNames | null = null;
  readonly stage: ChartStage;
  readonly #trail = element("nav", { class: "tvmdbg-timeline-trail", "aria-label": "zoomed into" });
  readonly #note = element("p", { class: "tvmdbg-muted" });
  readonly #scroller: Scroller;
  #icicle: Icicle | null = null;
  #range: readonly [number, number] | null = null;
  /** What a path is made of. */
  #said = "";
  #hits: unknown = null;
  #current = -1;
  #hovered = -1;

  constructor(host: ChartHost) {
    this.#host = host;
    this.stage = new ChartStage(
      "tvmdbg-timeline-icicle",
      {
        paint: (brush, width, height) => {
          if (!this.#icicle) brush.text("Merging …", 8, 12, brush.theme.muted, width);
          this.#icicle?.paint(brush, width, height, this.#scroller.top);
        },
        over: (brush, width, height) => {
          const { theme } = brush;
          const selected = this.#selected();
          for (const place of selected) {
            const box = this.#icicle!.box(place, width, height, this.#scroller.top);
            if (box) brush.fill(theme.text, box.x, box.y + box.height - 4, box.width - 1, 3);
          }
          for (const [place, line] of [
            [this.#hovered, 1],
            [this.#current, 2],
          ] as const) {
            const box = this.#icicle?.box(place, width, height, this.#scroller.top);
            if (box) brush.frame({ ...box, width: box.width - 1, height: box.height - 1 }, line);
          }
        },
        move: (at) => this.#hover(at),
        click: (x, y) => {
          const place = this.#at(x, y);
          if (place >= 0 && place === this.#current) this.#zoom(place);
          else this.#pick(place);
        },
      },
      host,
    );
    this.#scroller = new Scroller(this.stage, (room) => this.#icicle?.fit(room) ?? 0, host.signal);
    this.node = div(
      "tvmdbg-timeline-other tvmdbg-column",
      div("tvmdbg-timeline-above", this.#trail, this.#note),
      this.#scroller.node,
    );
    this.#range = host.session.timeRange;
    void this.#ask();
  }

  sync(): void {
    const { session, data } = this.#host;
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
      if (wanted === -1) this.#current = -1;
      else if (called.item(this.#current) !== wanted && !this.#holds(this.#current, wanted)) {
        this.#current = called.rowOf(wanted);
        this.#reveal();
      }
      if (hovered !== null && called.node(this.#hovered) !== hovered) {
        this.#hovered = called.rowOf(hovered);
      } else if (hovered === null && called.node(this.#hovered) >= 0) this.#hovered = -1;
    }
    this.stage.touched();
  }

  get sentence(): string {
    return this.#current < 0 ? "" : this.#sentence(this.#current);
  }

  key(event: KeyboardEvent): boolean {
    const icicle = this.#icicle;
    if (!icicle) return false;
    const { parent, inside, depth, levels } = icicle.tree;
    const current = this.#current;
    const level = current < 0 ? 0 : depth[current]!;
    const [first, last] = [levels[level] ?? 0, levels[level + 1] ?? 0];
    const to = (place: number) => {
      if (place >= 0 && place < icicle.tree.size) this.#pick(place);
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

  inspect(out: Record<string, unknown>): void {
    Object.assign(out, shifted(this.stage, this.node));
    out.zoomed = this.#icicle?.zoomed ?? -1;
    out.current = this.#current;
    out.hovered = this.#hovered;
    out.whole = this.#icicle?.tree.whole ?? null;
  }

  async #ask(): Promise<void> {
    const { data, run, signal } = this.#host;
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
      this.#current = this.#hovered = -1;
      this.#light();
      this.#zoom(-1);
      this.sync();
    } catch (error) {
      if (signal.aborted || isAbort(error) || range !== this.#range) return;
      this.#note.textContent = errorText(error);
    }
  }

  #light(): void {
    const { slices, scene } = this.#host.data;
    this.#hits = scene.hits;
    const called = this.#called;
    if (!this.#icicle || !called) return;
    if (!scene.hits.count) this.#icicle.light(null);
    else {
      const hits = new Set<number>();
      for (let at = scene.hits.next(0, slices.count); at >= 0; ) {
        hits.add(called.itemOf(at));
        at = scene.hits.next(at + 1, slices.count);
      }
      this.#icicle.light((key) => hits.has(called.item(key)));
    }
    this.stage.changed();
  }

  #selected(): number[] {
    const { selected } = this.#host.session;
    if (!this.#icicle || selected.length < 2) return [];
    const wanted = new Set(selected);
    return [...this.#icicle.tree.key].filter((place) => wanted.has(this.#called!.node(place)));
  }

  #at(x: number, y: number): number {
    const { width, height } = this.stage;
    const icicle = this.#icicle;
    return icicle ? icicle.tree.at(...icicle.at(x, y, width, height, this.#scroller.top)) : -1;
  }

  #holds(place: number, node: number): boolean {
    return !!this.#called?.isGroup(place) && this.#called.nodes(place).includes(node);
  }

  #pick(place: number): void {
    this.#current = place;
    if (place < 0) this.#host.pick([]);
    else {
      const nodes = this.#called!.nodes(place);
      if (nodes.length) this.#host.pick(nodes);
      else this.#host.pick([], this.#called!.slicesOf(place)[0] ?? -1);
      this.#current = place;
      this.#reveal();
      this.#host.say(this.#sentence(place));
    }
    this.stage.touched();
  }

  #hover(at: { x: number; y: number } | null): void {
    const place = at ? this.#at(at.x, at.y) : -1;
    if (place !== this.#hovered) {
      this.#hovered = place;
      const node = this.#called?.node(place) ?? -1;
      this.#host.hover(node < 0 ? null : node);
      this.stage.touched();
    }
    if (!at || place < 0) this.#host.tip(null, 0, 0);
    else {
      this.#host.tip(this.#lines(place), at.x, at.y + this.#scroller.node.offsetTop);
    }
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
    this.#scroller.fit();
    if (place >= 0) this.#host.say(`Zoomed into ${this.#sentence(place)}`);
  }

  #out(): boolean {
    const zoomed = this.#icicle?.zoomed ?? -1;
    if (zoomed < 0) return false;
    this.#zoom(this.#icicle!.tree.parent[zoomed]!);
    return true;
  }

  #about(): string {
    const path = `merged by path (${this.#said}), heaviest first; the width is total time`;
    if (!this.#range) return path;
    const [from, to] = this.#range;
    const edge = (ns: number) => timeText(ns, (to - from) / 1000, to);
    return `Only the marked range ${edge(from)} – ${edge(to)}: ${path}`;
  }

  #reveal(): void {
    if (this.#current < 0 || !this.#icicle) return;
    const { zoomed, tree } = this.#icicle;
    if (zoomed >= 0 && !tree.path(this.#current).includes(zoomed)) {
      if (!tree.path(zoomed).includes(this.#current)) this.#zoom(-1);
    }
    const { level } = this.#icicle;
    this.#scroller.reveal(tree.depth[this.#current]! * level, level);
  }

  #lines(place: number): string[] {
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
      `total ${duration(total[place]!)}, ${percent(total[place]! / whole)} of all`,
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
    const [title, ...rest] = this.#lines(place);
    return `${title}, level ${tree.depth[place]! + 1}, ${rest.join(", ")}`;
  }
}

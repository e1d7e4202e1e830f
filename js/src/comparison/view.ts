import type { Client } from "../shared/client/client.ts";
import { errorText, hinted, isAbort, message } from "../shared/client/request.ts";
import type { SessionClient } from "../shared/client/session_client.ts";
import * as icons from "../shared/drawing/icons.ts";
import { integer } from "../shared/format.ts";
import { asApplication, element, iconButton, Mirror, onResize, select } from "../shared/ui/dom.ts";
import { action, bindKeys, helpButton } from "../shared/ui/keys.ts";
import { paletteAction } from "../shared/ui/palette.ts";
import { fullScreenAction, fullScreenButton, type ViewOptions } from "../shared/ui/view.ts";
import { RowAligner } from "./align.ts";
import { CHANGE, ComparisonData, type ComparisonReplies, OTHER, type Side, SPEED } from "./data.ts";
import { DifferenceList, DifferenceRows } from "./difference_list.ts";
import { CameraLink, type ComparisonOptions, GraphPane } from "./pane.ts";

/** Data of a comparison: two runs, with sessions of their own. */
interface ComparisonContext {
  client: Client<ComparisonReplies, object>;
  runs: readonly [a: Client, b: Client];
  sessions: readonly [a: SessionClient, b: SessionClient];
  options: ViewOptions<ComparisonOptions>;
  signal: AbortSignal;
}

const SOURCE = "comparison";
const NARROW = 640;
/** Width from which the list is beside the graphs, which are then as high as the view. */
const WIDE = 1280;
const ALL = "";
const COLORS = [SPEED, CHANGE, "match", "kind", "time"] as const;
const SIDES = [0, 1] as const;

class ComparisonView {
  readonly #root: HTMLElement;
  readonly #context: ComparisonContext;
  readonly #data: ComparisonData;
  readonly #rows: DifferenceRows;
  readonly #list: DifferenceList;
  readonly #follow: CameraLink;
  readonly #panes: readonly [GraphPane, GraphPane];
  readonly #mirror = new Mirror();
  readonly #here = element("div", { class: "tvmdbg-comparison-here" });
  readonly #link: HTMLButtonElement;
  readonly #kinds: HTMLSelectElement;

  constructor(root: HTMLElement, context: ComparisonContext, data: ComparisonData) {
    const { options, sessions, runs, signal } = context;
    this.#root = root;
    this.#context = context;
    this.#data = data;
    this.#rows = new DifferenceRows(data);
    this.#follow = new CameraLink(data, () => options.get("linked") !== false);
    const aligner = new RowAligner(data);
    const pane = (side: Side) =>
      new GraphPane(side, {
        data,
        run: runs[side],
        session: sessions[side],
        options,
        follow: this.#follow,
        aligner,
        signal,
      });
    this.#panes = [pane(0), pane(1)];
    this.#list = new DifferenceList(
      data,
      this.#rows,
      {
        pick: (line) => {
          this.#go(line);
          root.focus({ preventScroll: true });
        },
        toggle: (line) => this.#toggle(line),
      },
      signal,
    );
    this.#link = iconButton(
      icons.LINK,
      "link",
      "link the cameras: one graph moves with the other (l)",
      () => this.#toggleLink(),
    );
    this.#kinds = select(
      "Kind of difference",
      this.#choices(),
      options.get("kind") ?? ALL,
      (kind) => options.set("kind", kind || null),
    );
    this.#lay();
    this.#bind();
    for (const side of SIDES) {
      const changed = (source: string | null) => this.#selected(side, source === SOURCE);
      sessions[side].onChange(changed, signal, ["selected"]);
    }
    options.onChange("linked", () => this.#linked(), signal);
    options.onChange("kind", () => this.#filtered(), signal);
    options.onChange("height", () => this.#sized(), signal);
    this.#linked();
    this.#filtered();
    this.#sized();
    this.#tell();
  }

  async mount(): Promise<void> {
    const side = this.#context.sessions[0].node === null ? 1 : 0;
    if (this.#context.sessions[side].node !== null) this.#selected(side, false);
    await Promise.all(this.#panes.map((pane) => pane.mount()));
  }

  #lay(): void {
    const { info } = this.#data;
    this.#root.replaceChildren(
      element(
        "div",
        { class: "tvmdbg-bar", role: "toolbar", "aria-label": "comparison" },
        element("span", { class: "tvmdbg-title" }, "Comparison"),
        element("span", { class: "tvmdbg-space" }),
        iconButton(
          icons.COLORS,
          "next color mode",
          "next color mode of both graphs: speed, time change, match, kind, time (c)",
          () => this.#nextColor(),
        ),
        this.#link,
        helpButton(this.#root),
        fullScreenButton(this.#root),
      ),
      element("p", { class: "tvmdbg-comparison-sentence tvmdbg-fixed" }, info.sentence),
      element(
        "div",
        { class: "tvmdbg-comparison-all tvmdbg-column tvmdbg-fill" },
        element(
          "div",
          { class: "tvmdbg-comparison-panes" },
          ...this.#panes.map((pane) => pane.node),
        ),
        element(
          "div",
          { class: "tvmdbg-comparison-told tvmdbg-column" },
          element(
            "div",
            { class: "tvmdbg-comparison-head" },
            element("strong", {}, "Differences"),
            this.#kinds,
            this.#here,
          ),
          this.#list.node,
        ),
      ),
      this.#mirror.node,
    );
    this.#widened();
    onResize([this.#root], () => this.#widened(), this.#context.signal);
  }

  #bind(): void {
    const root = this.#root;
    const label = "Comparison: arrow keys walk the differences, ? lists all keys";
    asApplication(root, "comparison of two graphs", label);
    const by = (lines: number) => this.#go(this.#list.active + lines);
    bindKeys(
      root,
      [
        action(["ArrowDown", "ArrowUp"], "next, previous difference", ({ key }) =>
          by(key === "ArrowDown" ? 1 : -1),
        ),
        action(["PageDown", "PageUp"], "a page down, up", ({ key }) =>
          by(key === "PageDown" ? this.#list.page : -this.#list.page),
        ),
        action(["Home", "End"], "first, last difference", ({ key }) =>
          this.#go(key === "Home" ? 0 : this.#rows.length - 1),
        ),
        action(["ArrowRight", "ArrowLeft"], "expand, collapse identical differences", ({ key }) =>
          this.#openGroup(key === "ArrowRight"),
        ),
        action(["Enter"], "center both nodes", () =>
          this.#follow.view(this.#follow.leader)?.commands.focusNode(),
        ),
        action(["k"], "next kind of difference", () => this.#nextKind()),
        action(["c"], "next color mode of both graphs", () => this.#nextColor()),
        action(["l"], "link or unlink the cameras", () => this.#toggleLink()),
        action(["a"], "go to graph A", () => this.#enter(0)),
        action(["b"], "go to graph B", () => this.#enter(1)),
        paletteAction(root, ...this.#searched()),
        fullScreenAction(root),
        action(["Escape"], "clear the selection", () => this.#clear()),
      ],
      this.#context.signal,
    );
    // From a graph back to the list, once the graph itself has nothing left to clear.
    for (const pane of this.#panes) {
      pane.root.addEventListener(
        "keydown",
        (event) => {
          const free = this.#context.sessions.every(({ selected }) => selected.length === 0);
          if (event.key === "Escape" && event.target === pane.root && free) {
            root.focus({ preventScroll: true });
          }
        },
        { signal: this.#context.signal, capture: true },
      );
    }
  }

  #enter(side: Side): void {
    this.#panes[side].root.focus({ preventScroll: true });
  }

  #searched() {
    const { runs, sessions, signal } = this.#context;
    return SIDES.map((side) => ({
      run: runs[side],
      session: sessions[side],
      signal,
      mark: "AB"[side]!,
    }));
  }

  #go(line: number): void {
    const { length } = this.#rows;
    if (!length) return;
    const to = Math.max(0, Math.min(length - 1, line));
    this.#list.activate(to);
    this.#root.setAttribute("aria-activedescendant", this.#list.activeId);
    const { member } = this.#rows.at(to);
    const { memberA, memberB } = this.#data.columns;
    const [a, b] = [memberA[member]!, memberB[member]!];
    this.#follow.leader = a >= 0 ? 0 : 1;
    const both = a >= 0 && b >= 0;
    this.#select(0, both ? this.#data.parts(1, b, a) : a >= 0 ? [a] : []);
    this.#select(1, both ? this.#data.parts(0, a, b) : b >= 0 ? [b] : []);
    this.#tell();
  }

  #select(side: Side, nodes: readonly number[]): void {
    this.#context.sessions[side].selectMany(nodes, SOURCE);
  }

  /** Follows a selection on one side, unless this view made it. */
  #selected(side: Side, isOwn: boolean): void {
    const { selected } = this.#context.sessions[side];
    if (isOwn) {
      this.#follow.follow();
      return;
    }
    this.#follow.leader = side;
    const others = selected.flatMap((node) =>
      this.#data.matches(side, node).map((match) => match.node),
    );
    this.#select(OTHER[side], [...new Set(others)]);
    const node = this.#context.sessions[side].node;
    const line = node === null ? -1 : this.#rows.find(side, node);
    this.#list.activate(line);
    this.#follow.follow();
    this.#tell();
  }

  #tell(): void {
    const { leader } = this.#follow;
    const { node } = this.#context.sessions[leader];
    const { active } = this.#list;
    const sentences = [node === null ? "" : this.#data.sentence(leader, node)];
    if (active >= 0) {
      const row = this.#rows.at(active);
      const { columns, info } = this.#data;
      const kind = info.kinds[columns.groupKind[row.group]!]!;
      sentences.push(`${kind}: ${columns.groupChange.at(row.group)}`);
      sentences.push(`line ${integer(active + 1)} of ${integer(this.#rows.length)}`);
    }
    this.#here.textContent = sentences[0] || this.#data.info.matched;
    this.#here.title = sentences[0] || this.#data.info.matched;
    this.#mirror.say(sentences.filter(Boolean).join(". ") || this.#data.info.sentence);
  }

  #openGroup(on: boolean): void {
    const { active } = this.#list;
    if (active < 0) return;
    const { group } = this.#rows.at(active);
    this.#rows.open(group, on);
    this.#list.activate(on ? active : this.#rows.lineOf(group));
    this.#tell();
  }

  #toggle(line: number): void {
    const { group } = this.#rows.at(line);
    this.#rows.open(group, !this.#rows.isOpen(group));
    this.#list.activate(this.#list.active < 0 ? -1 : this.#rows.lineOf(group));
  }

  #clear(): void {
    for (const side of SIDES) this.#select(side, []);
    this.#list.activate(-1);
    this.#root.removeAttribute("aria-activedescendant");
    this.#tell();
  }

  #toggleLink(): void {
    const { options } = this.#context;
    options.set("linked", options.get("linked") === false);
  }

  #linked(): void {
    const on = this.#context.options.get("linked") !== false;
    this.#link.setAttribute("aria-pressed", String(on));
    this.#follow.follow();
  }

  #choices(): [string, string][] {
    const counts = this.#data.counts();
    const all = counts.reduce((sum, count) => sum + count, 0);
    const kinds = this.#data.info.kinds
      .map((kind, i): [string, string] => [kind, `${kind} (${integer(counts[i]!)})`])
      .filter((_, i) => counts[i]! > 0);
    return [[ALL, `all (${integer(all)})`], ...kinds];
  }

  #nextKind(): void {
    const values = Array.from(this.#kinds.options, ({ value }) => value);
    const at = values.indexOf(this.#context.options.get("kind") ?? ALL);
    this.#context.options.set("kind", values[(at + 1) % values.length] || null);
  }

  #nextColor(): void {
    const { options } = this.#context;
    const timed = this.#data.change(0) !== null;
    const known = COLORS.filter((column) => timed || (column !== CHANGE && column !== SPEED));
    const at = known.indexOf(options.get("color_by") as (typeof COLORS)[number]);
    options.set("color_by", known[(at + 1) % known.length]!);
  }

  #filtered(): void {
    const kind = this.#context.options.get("kind");
    const at = kind === null ? -1 : this.#data.info.kinds.indexOf(kind);
    this.#kinds.value = kind ?? ALL;
    this.#rows.kind = at < 0 ? null : at;
    this.#list.activate(-1);
    this.#list.node.scrollTop = 0;
    this.#tell();
  }

  #widened(): void {
    const { clientWidth, classList } = this.#root;
    classList.toggle("tvmdbg-comparison-narrow", clientWidth < NARROW);
    classList.toggle("tvmdbg-comparison-wide", clientWidth >= WIDE);
    this.#list.isTall = clientWidth >= WIDE;
  }

  #sized(): void {
    const height = this.#context.options.get("height");
    this.#root.style.setProperty("--tvmdbg-comparison-height", `${height}px`);
  }
}

export async function mountComparison(
  root: HTMLElement,
  context: ComparisonContext,
): Promise<void> {
  root.classList.add("tvmdbg-comparison", "tvmdbg-column");
  root.replaceChildren(message("busy", "comparing the graphs …"));
  let data: ComparisonData;
  try {
    data = new ComparisonData(await context.client.ask("comparison"));
  } catch (error) {
    if (context.signal.aborted || isAbort(error)) return;
    const hint = "Run the cell again; tvmdbg.compare(a, b) gives the same as text.";
    root.replaceChildren(message("error", "The runs could not be compared", hinted(error, hint)));
    root.dataset.ready = "true";
    return;
  }
  if (context.signal.aborted) return;
  const view = new ComparisonView(root, context, data);
  try {
    await view.mount();
  } catch (error) {
    if (context.signal.aborted) return;
    root.append(element("div", {}, message("error", "A graph failed", errorText(error))));
  }
  root.dataset.ready = "true";
}

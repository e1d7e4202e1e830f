import type { Client } from "../shared/client/client.ts";
import { errorText } from "../shared/client/request.ts";
import type { SessionClient } from "../shared/client/session_client.ts";
import * as icons from "../shared/drawing/icons.ts";
import { integer } from "../shared/format.ts";
import { div, element, Mirror, select } from "../shell/dom.ts";
import { action, bindKeys } from "../shell/keys.ts";
import { message } from "../shell/message.ts";
import { keepSize, mounted } from "../shell/mount.ts";
import { paletteAction } from "../shell/palette.ts";
import { barSpace, barTitle, Toolbar, tool } from "../shell/toolbar.ts";
import { fullScreenAction, type ViewOptions } from "../shell/view.ts";
import { RowAligner } from "./align.ts";
import {
  CHANGE,
  ComparisonData,
  type ComparisonReplies,
  LETTER,
  OTHER,
  type Side,
  SPEED,
} from "./data.ts";
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
  readonly #here = div("tvmdbg-comparison-here tvmdbg-fill tvmdbg-clip tvmdbg-muted");
  readonly #color = tool(
    ["c"],
    "next color mode",
    "next color mode of both graphs",
    () => this.#nextColor(),
    { icon: icons.COLORS },
  );
  readonly #link = tool(
    ["l"],
    "link",
    "link the cameras: one graph moves with the other",
    () => this.#context.options.set("linked", !this.#follow.isOn),
    { icon: icons.LINK, isOn: () => this.#follow.isOn },
  );
  readonly #toolbar: Toolbar;
  readonly #kinds: HTMLSelectElement;

  constructor(root: HTMLElement, context: ComparisonContext, data: ComparisonData) {
    const { options, sessions, runs, signal } = context;
    this.#root = root;
    this.#context = context;
    this.#data = data;
    this.#rows = new DifferenceRows(data);
    this.#follow = new CameraLink(data, options);
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
    this.#list = new DifferenceList(data, this.#rows, this, signal);
    this.#toolbar = new Toolbar(
      root,
      "comparison",
      [barTitle("Comparison"), barSpace(), this.#color, this.#link],
      null,
      signal,
    );
    this.#kinds = select(
      "Kind of difference",
      this.#choices(),
      options.get("kind") ?? ALL,
      (kind) => options.set("kind", (kind || null) as ComparisonOptions["kind"]),
    );
    this.#lay();
    this.#bind();
    for (const side of SIDES) {
      const changed = (source: string | null) => this.#selected(side, source === SOURCE);
      sessions[side].onChange(changed, signal, ["selected"]);
    }
    options.onChange("linked", () => this.#linked(), signal);
    options.onChange("kind", () => this.#filtered(), signal);
    const resized = () => {
      const isWide = root.clientWidth >= WIDE;
      root.classList.toggle("tvmdbg-comparison-wide", isWide);
      this.#list.isTall = isWide;
      return 0;
    };
    keepSize(root, "comparison", options, { narrow: NARROW }, resized, signal);
    this.#linked();
    this.#filtered();
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
      this.#toolbar.node,
      element("p", { class: "tvmdbg-comparison-sentence tvmdbg-fixed" }, info.sentence),
      div(
        "tvmdbg-comparison-all tvmdbg-column tvmdbg-fill",
        div("tvmdbg-comparison-panes", ...this.#panes.map((pane) => pane.node)),
        div(
          "tvmdbg-comparison-told tvmdbg-column tvmdbg-fill",
          div(
            "tvmdbg-comparison-head tvmdbg-row tvmdbg-gap-8 tvmdbg-fixed tvmdbg-line-above tvmdbg-line-below",
            element("strong", {}, "Differences"),
            this.#kinds,
            this.#here,
          ),
          this.#list.node,
        ),
      ),
      this.#mirror.node,
    );
  }

  #bind(): void {
    const root = this.#root;
    const { runs, sessions, signal } = this.#context;
    const step = ({ key }: KeyboardEvent) => this.#go(this.#list.byKey(key));
    bindKeys(
      root,
      [
        action(["ArrowDown", "ArrowUp"], "next, previous difference", step),
        action(["PageDown", "PageUp"], "a page down, up", step),
        action(["Home", "End"], "first, last difference", step),
        action(["ArrowRight", "ArrowLeft"], "expand, collapse identical differences", ({ key }) =>
          this.#openGroup(key === "ArrowRight"),
        ),
        action(["Enter"], "center both nodes", () =>
          this.#follow.view(this.#follow.leader)?.commands.focusNode(),
        ),
        action(["k"], "next kind of difference", () => this.#nextKind()),
        this.#color,
        this.#link,
        action(["a"], "go to graph A", () => this.#enter(0)),
        action(["b"], "go to graph B", () => this.#enter(1)),
        paletteAction(
          root,
          ...SIDES.map((side) => ({
            run: runs[side],
            session: sessions[side],
            signal,
            mark: LETTER[side],
          })),
        ),
        fullScreenAction(root),
        action(["Escape"], "clear the selection", () => this.#clear()),
      ],
      signal,
    );
    // From a graph back to the list, once the graph itself has nothing left to clear.
    for (const pane of this.#panes) {
      pane.root.addEventListener(
        "keydown",
        (event) => {
          const free = sessions.every(({ selected }) => !selected.length);
          if (event.key === "Escape" && event.target === pane.root && free) {
            root.focus({ preventScroll: true });
          }
        },
        { signal, capture: true },
      );
    }
  }

  #enter(side: Side): void {
    this.#panes[side].root.focus({ preventScroll: true });
  }

  #go(line: number): void {
    const { length } = this.#rows;
    if (!length) return;
    const to = Math.max(0, Math.min(length - 1, line));
    this.#activate(to);
    const { member } = this.#rows.at(to);
    const { memberA, memberB } = this.#data.columns;
    const [a, b] = [memberA[member]!, memberB[member]!];
    this.#follow.leader = a >= 0 ? 0 : 1;
    const both = a >= 0 && b >= 0;
    this.#select(0, both ? this.#data.parts(1, b, a) : a >= 0 ? [a] : []);
    this.#select(1, both ? this.#data.parts(0, a, b) : b >= 0 ? [b] : []);
    this.#tell();
  }

  #activate(line: number): void {
    this.#list.activate(line);
    const { activeId } = this.#list;
    if (activeId) this.#root.setAttribute("aria-activedescendant", activeId);
    else this.#root.removeAttribute("aria-activedescendant");
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
    this.#activate(line);
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
    this.#here.textContent = this.#here.title = sentences[0] || this.#data.info.matched;
    this.#mirror.say(sentences.filter(Boolean).join(". ") || this.#data.info.sentence);
  }

  #openGroup(on: boolean): void {
    const { active } = this.#list;
    if (active < 0) return;
    const { group } = this.#rows.at(active);
    this.#rows.open(group, on);
    this.#activate(on ? active : this.#rows.lineOf(group));
    this.#tell();
  }

  pick(line: number): void {
    this.#go(line);
    this.#root.focus({ preventScroll: true });
  }

  toggle(line: number): void {
    const { group } = this.#rows.at(line);
    this.#rows.open(group, !this.#rows.isOpen(group));
    this.#activate(this.#list.active < 0 ? -1 : this.#rows.lineOf(group));
  }

  #clear(): void {
    for (const side of SIDES) this.#select(side, []);
    this.#activate(-1);
    this.#tell();
  }

  #linked(): void {
    this.#toolbar.refresh();
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
    const next = values[(at + 1) % values.length] || null;
    this.#context.options.set("kind", next as ComparisonOptions["kind"]);
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
    this.#activate(-1);
    this.#list.node.scrollTop = 0;
    this.#tell();
  }
}

const TITLE = {
  name: "comparison",
  noun: "comparison of two graphs",
  label: "Comparison: arrow keys walk the differences, ? lists all keys",
  data: "comparison",
};

export function mountComparison(root: HTMLElement, context: ComparisonContext): Promise<void> {
  const { client, signal } = context;
  return mounted(
    root,
    TITLE,
    signal,
    () => client.ask("comparison"),
    async (answer) => {
      const view = new ComparisonView(root, context, new ComparisonData(answer));
      await view.mount().catch((error) => {
        if (!signal.aborted) {
          root.append(element("div", {}, message("error", "A graph failed", errorText(error))));
        }
      });
      if (!signal.aborted) root.dataset.ready = "true";
    },
  );
}

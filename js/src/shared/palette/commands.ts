import type { Finding } from "../client/findings.ts";
import type { GraphColumns, Highlight, TensorColumns } from "../client/run_client.ts";
import type { SessionClient } from "../client/session_client.ts";
import { duration, isShort, shapeText } from "../format.ts";
import { nodeLabel, nodeTitle } from "../node_title.ts";
import { selectionOf } from "../ui/finding_selection.ts";
import type { ListedHit } from "../ui/hit_list.ts";
import { actionsOf, runKey, shownKey } from "../ui/keys.ts";

export const PALETTE_KEY = "Ctrl+k";
const SOURCE = "palette";
/** A longer list of choices has a search of its own. */
const MOST_CHOICES = 30;
/** Keys that move within a view. */
const MOVES = /^(Arrow.*|Page.*|Home|End|Enter|Escape| |\[|\])$/;

/** One thing to go to or to do. */
export interface Command extends ListedHit {
  run(): void;
}

/** Many commands, of which only those that are listed are made. */
export interface Commands {
  /** What each is found by, in lower case. */
  readonly texts: readonly string[];
  at(index: number): Command;
}

/** The extremes of a run, each with its measure; of two runs each has a mark. */
export function highlightCommands(
  highlights: readonly Highlight[],
  session: SessionClient,
  mark: string,
): Commands {
  return {
    texts: highlights.map(({ label, about, name }) => `${label} ${about} ${name}`.toLowerCase()),
    at: (index) => {
      const { label, about, name, value, nodes, entry } = highlights[index]!;
      const wanted = selectionOf(nodes, entry ? { entries: [entry] } : null);
      return {
        label: `${label}: ${name}`,
        kind: marked(mark, about),
        value,
        run: () => wanted && session.selectEntry(wanted.nodes, wanted.entry, SOURCE),
      };
    },
  };
}

/** The findings, which select what they are about; of two runs each has a mark. */
export function findingCommands(
  findings: readonly Finding[],
  session: SessionClient,
  mark: string,
): Commands {
  return {
    texts: findings.map(({ title, severity }) => `${title} ${severity}`.toLowerCase()),
    at: (index) => {
      const finding = findings[index]!;
      const wanted = selectionOf(finding.nodes, finding);
      return {
        label: finding.title,
        kind: marked(mark, finding.severity),
        value: "",
        run: () => wanted && session.selectEntry(wanted.nodes, wanted.entry, SOURCE),
      };
    },
  };
}

/** The nodes of a graph; of two graphs each has a mark. */
export function nodeCommands(graph: GraphColumns, session: SessionClient, mark: string): Commands {
  const label = (node: number) => nodeLabel(graph, node);
  return {
    texts: Array.from(graph.kinds, (_, node) =>
      `${label(node)} #${node} ${graph.opKinds.at(node)} ${graph.names.at(node)}`.toLowerCase(),
    ),
    at: (node) => ({
      label: label(node),
      id: `${mark}#${node}`,
      kind: graph.opKinds.at(node),
      value: timeOf(graph, node),
      title: graph.names.at(node),
      run: () => session.select(node, SOURCE),
    }),
  };
}

/** Its time, or that of the call it is in. */
function timeOf(graph: GraphColumns, node: number): string {
  const { nodeNs, nodeCall, callNs, callOffsets } = graph;
  const rounding = graph.timeRounding?.[0] ?? 0;
  const ns = nodeNs[node]!;
  if (ns > 0 || isShort(ns, rounding)) return duration(ns, rounding);
  const call = nodeCall?.[node] ?? -1;
  if (call < 0) return "";
  const count = callOffsets![call + 1]! - callOffsets![call]!;
  return `${duration(callNs![call]!, rounding)} for ${count} together`;
}

/** The tensors of a run without a graph. */
export function tensorCommands(tensors: TensorColumns, session: SessionClient): Commands {
  const id = (row: number) => nodeTitle("", tensors.node[row]!, tensors.output[row]);
  const shape = (row: number) =>
    shapeText(tensors.shapeDims.subarray(tensors.shapeOffsets[row], tensors.shapeOffsets[row + 1]));
  return {
    texts: Array.from(tensors.node, (_, row) =>
      `${tensors.names.at(row)} ${id(row)} ${tensors.dtypes.at(row)}`.toLowerCase(),
    ),
    at: (row) => ({
      label: tensors.names.at(row),
      id: id(row),
      kind: tensors.dtypes.at(row),
      value: shape(row),
      run: () => {
        const entry = [tensors.node[row]!, tensors.output[row]!] as const;
        session.selectEntry([entry[0]], entry, SOURCE);
      },
    }),
  };
}

function marked(mark: string, kind: string): string {
  return mark ? `${mark} · ${kind}` : kind;
}

/** What the view and those inside it do: by their buttons, their lists of choices and their keys. */
export function actionCommands(root: HTMLElement): Commands {
  const views = [root, ...root.querySelectorAll<HTMLElement>(".tvmdbg")];
  const all = views
    .filter((view) => view.checkVisibility())
    .flatMap(actionsIn)
    .map((each) => ({ ...each, label: capitalised(each.label) }));
  return {
    texts: all.map(({ label, kind }) => `${label} ${kind}`.toLowerCase()),
    at: (index) => all[index]!,
  };
}

function actionsIn(view: HTMLElement): Command[] {
  const bar = view.querySelector<HTMLElement>(":scope > .tvmdbg-bar");
  const kind = (bar ?? view).getAttribute(bar ? "aria-label" : "aria-roledescription") ?? "";
  const free = <T extends HTMLElement>(selector: string) =>
    [...(bar?.querySelectorAll<T>(selector) ?? [])].filter(
      (each) =>
        !each.hidden &&
        !each.matches(":disabled, .tvmdbg-more > button, [aria-label='findings'] *"),
    );
  const buttons = free<HTMLButtonElement>("button[title]")
    .map((each) => {
      const [label, key] = named(each.title);
      return { label, kind, value: key, run: () => each.click() };
    })
    .filter(({ value }) => value !== PALETTE_KEY);
  const choices = free<HTMLSelectElement>("select").flatMap((list) =>
    (list.length > MOST_CHOICES ? [] : [...list.options]).map((option) => ({
      label: `${named(list.getAttribute("aria-label")!)[0]}: ${option.text}`,
      kind,
      value: "",
      run: () => {
        list.value = option.value;
        list.dispatchEvent(new Event("change"));
      },
    })),
  );
  const taken = new Set(buttons.map(({ value }) => value));
  const keys = actionsOf(view)
    .map(({ keys: [key], does }) => ({ key: key!, does, value: shownKey(key!) }))
    .filter(({ key, value }) => !MOVES.test(key) && key !== PALETTE_KEY && !taken.has(value))
    .map(({ key, does, value }) => ({
      label: does.replace(ASIDE, ""),
      kind,
      value,
      run: () => {
        view.focus({ preventScroll: true });
        runKey(view, key);
      },
    }));
  return [...buttons, ...choices, ...keys];
}

/** What a key does besides, held with Shift or pressed again. */
const ASIDE = /(?: \([^()]*\))?(?:;.*)?$/;

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What a control is called, and the key in brackets at the end of its title. */
function named(title: string): [name: string, key: string] {
  const [, name, key] = /^(.*?)(?: \(([^()]+)\))?$/s.exec(title) ?? [];
  return [name ?? title, key ?? ""];
}

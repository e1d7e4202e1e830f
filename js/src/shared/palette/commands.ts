import { selectionOf } from "../finding_selection.ts";
import { duration, shapeText } from "../format.ts";
import type { ListedHit } from "../hit_list.ts";
import { actionsOf } from "../keys.ts";
import { nodeLabel, nodeTitle } from "../node_title.ts";
import type { Finding, GraphColumns, TensorColumns } from "../run_client.ts";
import type { SessionClient } from "../session_client.ts";

export const PALETTE_KEY = "Ctrl+k";
const SOURCE = "palette";
/** A longer list of choices has a search of its own. */
const MOST_CHOICES = 30;
/** Keys that move within a view. */
const MOVES = /^(Arrow.*|Page.*|Home|End|Enter|Escape| |\[|\])$/;
const VIEW_NAMES: Record<string, string> = { Run: "debugger" };

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

/** The findings, which select what they are about. */
export function findingCommands(findings: readonly Finding[], session: SessionClient): Commands {
  return {
    texts: findings.map(({ title, severity }) => `${title} ${severity}`.toLowerCase()),
    at: (index) => {
      const finding = findings[index]!;
      const wanted = selectionOf(finding.nodes, finding);
      return {
        label: finding.title,
        kind: finding.severity,
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
      value: graph.nodeNs[node]! > 0 ? duration(graph.nodeNs[node]!) : "",
      title: graph.names.at(node),
      run: () => session.select(node, SOURCE),
    }),
  };
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
  const name = bar?.getAttribute("aria-label")?.replace(/ tools$/, "") ?? "";
  const kind = VIEW_NAMES[name] ?? name.toLowerCase();
  const free = <T extends HTMLElement>(selector: string) =>
    [...(bar?.querySelectorAll<T>(selector) ?? [])].filter(
      (each) => !each.hidden && !each.matches(":disabled, .tvmdbg-more > button"),
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
    .filter(({ keys: [key] }) => !MOVES.test(key!) && key !== PALETTE_KEY && !taken.has(key!))
    .map(({ keys: [key], does, run }) => ({
      label: does,
      kind,
      value: key!,
      run: () => {
        view.focus({ preventScroll: true });
        run(new KeyboardEvent("keydown", { key: key!.replace(/^\w+\+(?=.)/, "") }));
      },
    }));
  return [...buttons, ...choices, ...keys];
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What a control is called, and the key in brackets at the end of its title. */
function named(title: string): [name: string, key: string] {
  const [, name, key] = /^(.*?)(?: \(([^()]+)\))?$/s.exec(title) ?? [];
  return [name ?? title, key ?? ""];
}

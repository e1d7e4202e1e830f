import type { GraphColumns, TensorColumns } from "../shared/client/answers.ts";
import type { Client } from "../shared/client/client.ts";
import type { SessionClient } from "../shared/client/session_client.ts";
import type { Entry } from "../shared/client/tensor_questions.ts";
import { counted, duration, isShort, nodeLabel, nodeTitle, shapeText } from "../shared/format.ts";
import { div, element, KEEP_KEYS, Mirror } from "./dom.ts";
import { HitList, LISTED, type ListedHit } from "./hit_list.ts";
import { actionsOf, type KeyAction, runKey, shownKey } from "./keys.ts";

interface About {
  entries: readonly Entry[];
}

/** Selection for a finding or a highlight: all its nodes, its main node last, with that node's entry. */
export function selectionOf(
  nodes: readonly number[],
  finding: About | null,
): { nodes: number[]; entry: Entry } | null {
  const first = nodes[0] ?? finding?.entries[0]?.[0];
  if (first === undefined) return null;
  const others = nodes.filter((node) => node !== first);
  return { nodes: [...others, first], entry: entryOf(finding, first) };
}

export function entryOf(finding: About | null, node: number): Entry {
  return finding?.entries.find(([entry]) => entry === node) ?? [node, 0];
}

export const PALETTE_KEY = "Ctrl+k";
const SOURCE = "palette";
const MOST_CHOICES = 30;
const MOST_IDS = 2;
const MOVES = /^(Arrow.*|Page.*|Home|End|Enter|Escape| |\[|\])$/;

interface Command extends ListedHit {
  run(): void;
}

export interface Commands {
  readonly texts: readonly string[];
  at(index: number): Command;
}

/** A finding or a highlight. */
interface PaletteSubject extends About {
  /** What queries search. */
  text: string;
  label: string;
  kind: string;
  value: string;
  nodes: readonly number[];
}

function subjectCommands(
  subjects: readonly PaletteSubject[],
  session: SessionClient,
  mark: string,
): Commands {
  return {
    texts: subjects.map(({ text }) => text.toLowerCase()),
    at: (index) => {
      const { label, kind, value, nodes, entries } = subjects[index]!;
      const wanted = selectionOf(nodes, { entries });
      const run = () => wanted && session.selectEntry(wanted.nodes, wanted.entry, SOURCE);
      return { label, kind: marked(mark, kind), value, run };
    },
  };
}

function nodeCommands(graph: GraphColumns, session: SessionClient, mark: string): Commands {
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

function tensorCommands(tensors: TensorColumns, session: SessionClient): Commands {
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

export function actionCommands(root: HTMLElement): Commands {
  const all = viewsIn(root)
    .flatMap(actionsIn)
    .map((finding) => ({
      ...finding,
      label: finding.label.charAt(0).toUpperCase() + finding.label.slice(1),
    }));
  return {
    texts: all.map(({ label, kind }) => `${label} ${kind}`.toLowerCase()),
    at: (index) => all[index]!,
  };
}

function viewsIn(root: HTMLElement): HTMLElement[] {
  const views = [root, ...root.querySelectorAll<HTMLElement>(".tvmdbg")];
  return views.filter((view) => view.checkVisibility());
}

/** Commands that take what is typed, such as an index of a tensor. */
function offersIn(root: HTMLElement, typed: string): Command[] {
  return viewsIn(root).flatMap((view) =>
    actionsOf(view).flatMap(({ offer }) => {
      const offered = offer?.(typed);
      return offered ? [{ ...offered, kind: kindOf(view), value: "" }] : [];
    }),
  );
}

function kindOf(view: HTMLElement): string {
  const bar = view.querySelector(":scope > .tvmdbg-bar");
  return (bar ?? view).getAttribute(bar ? "aria-label" : "aria-roledescription") ?? "";
}

function actionsIn(view: HTMLElement): Command[] {
  const bar = view.querySelector<HTMLElement>(":scope > .tvmdbg-bar");
  const kind = kindOf(view);
  const free = <T extends HTMLElement>(selector: string) =>
    [...(bar?.querySelectorAll<T>(selector) ?? [])].filter(
      (entry) =>
        !entry.hidden &&
        !entry.matches(":disabled, .tvmdbg-more > button, [aria-label='findings'] *"),
    );
  const buttons = free<HTMLButtonElement>("button[title]")
    .map((entry) => {
      const [label, key] = named(entry.title);
      return { label, kind, value: key, run: () => entry.click() };
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

const ASIDE = /(?: \([^()]*\))?(?:;.*)?$/;

function named(title: string): [name: string, key: string] {
  const [, name, key] = /^(.*?)(?: \(([^()]+)\))?$/s.exec(title) ?? [];
  return [name ?? title, key ?? ""];
}

/** Quality of a match: all words in sequence, at the beginning, at beginnings of words, anywhere. */
const RANKS = 4;

/** Commands that match every word of a query; among equals, earlier sources come first. */
export function matching(
  sources: readonly Commands[],
  query: string,
  most: number,
): { commands: Command[]; total: number } {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const ranked: [source: Commands, index: number][][] = Array.from({ length: RANKS }, () => []);
  for (const source of sources) {
    for (const [index, text] of source.texts.entries()) {
      if (words.every((word) => text.includes(word))) {
        ranked[rank(text, words)]!.push([source, index]);
      }
    }
  }
  const commands = ranked.flat();
  return {
    commands: commands.slice(0, most).map(([source, index]) => source.at(index)),
    total: commands.length,
  };
}

function rank(text: string, words: readonly string[]): number {
  if (words.length > 1 && holdsPhrase(text, words.join(" "))) return 0;
  if (
    !words.every(
      (word) => text.startsWith(word) || text.includes(` ${word}`) || text.includes(`#${word}`),
    )
  )
    return 3;
  return text.startsWith(words[0] ?? "") ? 1 : 2;
}

/** True if a text contains a phrase of complete words. */
function holdsPhrase(text: string, phrase: string): boolean {
  const at = ` ${text}`.indexOf(` ${phrase}`);
  return at >= 0 && !/\w/.test(text[at + phrase.length] ?? "");
}

export const PALETTE_LABEL = "Go to a node, a finding or an action";
const ACTIONS_LABEL = "Go to an action";

interface SearchedRun {
  mark?: string;
  run: Client;
  session: SessionClient;
  signal: AbortSignal;
}

export function paletteAction(root: HTMLElement, ...sides: readonly SearchedRun[]): KeyAction {
  return {
    keys: [PALETTE_KEY],
    does: (sides.length ? PALETTE_LABEL : ACTIONS_LABEL).toLowerCase(),
    run: () => openPalette(root, ...sides),
  };
}

export function openPalette(root: HTMLElement, ...sides: readonly SearchedRun[]): void {
  if (root.querySelector(":scope > .tvmdbg-palette")) return;
  const palette = new CommandPalette(root, actionCommands(root), sides.length);
  root.append(palette.node);
  palette.show();
  for (const side of sides) void sources(side).then((lists) => palette.add(...lists));
}

async function sources({
  run,
  session,
  signal,
  mark = "",
}: SearchedRun): Promise<[before: Commands[], after: Commands[]]> {
  const [scan, graph, highlights] = await Promise.all([
    run.ask("health", { glance: true }, signal).catch(() => null),
    run.ask("graph").catch(() => null),
    run.ask("highlights").catch(() => []),
  ]);
  const known = scan && scan.state !== "none";
  const [findings, tensors] = await Promise.all([
    known ? run.ask("findings", {}, signal).catch(() => null) : null,
    graph ? null : run.ask("tensors").catch(() => null),
  ]);
  const problems = (findings?.findings ?? []).map(
    ({ title: label, severity: kind, nodes, entries }): PaletteSubject => ({
      ...{ text: `${label} ${kind}`, label, kind, value: idsText(nodes), nodes, entries },
    }),
  );
  const extremes = highlights.map(
    ({ label, about: kind, name, value, nodes, entry }): PaletteSubject => ({
      ...{ text: `${label} ${kind} ${name}`, label: `${label}: ${name}`, kind, value, nodes },
      entries: entry ? [entry] : [],
    }),
  );
  return [
    [subjectCommands([...problems, ...extremes], session, mark)],
    graph
      ? [nodeCommands(graph, session, mark)]
      : tensors
        ? [tensorCommands(tensors, session)]
        : [],
  ];
}

/** First nodes of a finding: `#38 #41 +14`. */
function idsText(nodes: readonly number[]): string {
  const ids = nodes
    .slice(0, MOST_IDS)
    .map((node) => `#${node}`)
    .join(" ");
  const more = nodes.length - MOST_IDS;
  return more > 0 ? `${ids} +${more}` : ids;
}

class CommandPalette {
  readonly node: HTMLElement;
  readonly #field = element("input", {
    type: "text",
    spellcheck: "false",
    autocomplete: "off",
    ...KEEP_KEYS,
  });
  readonly #mirror = new Mirror();
  readonly #list: HitList;
  readonly #none = div("tvmdbg-hits-none");
  readonly #root: HTMLElement;
  readonly #before = document.activeElement as HTMLElement | null;
  #sources: readonly Commands[];
  #matches: readonly Command[] = [];

  #awaited: number;
  /** True if Enter was pressed before the first results. */
  #entered = false;

  constructor(root: HTMLElement, actions: Commands, awaited: number) {
    this.#root = root;
    this.#sources = [actions];
    this.#awaited = awaited;
    const label = awaited ? PALETTE_LABEL : ACTIONS_LABEL;
    this.#field.placeholder = label;
    this.#field.setAttribute("aria-label", label);
    this.#list = new HitList(this.#field, "nodes, findings and actions", (index) =>
      this.#choose(index),
    );
    this.node = element(
      "div",
      {
        class: "tvmdbg-palette tvmdbg-raised tvmdbg-column",
        role: "dialog",
        "aria-label": "Command palette",
      },
      this.#field,
      this.#list.node,
      this.#none,
      this.#mirror.node,
    );
    this.#field.addEventListener("input", () => this.#search());
    this.node.addEventListener("keydown", (event) => this.#key(event));
    this.node.addEventListener("focusout", ({ relatedTarget }) => {
      if (!this.node.contains(relatedTarget as Node | null)) this.node.remove();
    });
  }

  show(): void {
    this.#search();
    this.#field.focus({ preventScroll: true });
  }

  /** Adds facts of the run: findings and extremes go before the actions, nodes after. */
  add(before: readonly Commands[], after: readonly Commands[]): void {
    this.#sources = [...before, ...this.#sources, ...after];
    this.#awaited -= 1;
    if (!this.node.isConnected) return;
    const entered = this.#entered;
    const { active } = this.#list;
    this.#search(active > 0 ? this.#matches[active] : undefined);
    if (entered && this.#matches.length > 0) this.#choose(0);
    else this.#entered = entered;
  }

  #search(chosen?: Command): void {
    const typed = this.#field.value;
    const offers = offersIn(this.#root, typed);
    const found = matching(this.#sources, typed, LISTED - offers.length);
    const commands = [...offers, ...found.commands];
    const total = offers.length + found.total;
    this.#matches = commands;
    const isChosen = ({ kind, label, id }: Command) =>
      kind === chosen?.kind && label === chosen.label && id === chosen.id;
    this.#list.show(commands, total, Math.max(0, commands.findIndex(isChosen)));
    this.#none.hidden = total > 0;
    this.#none.textContent = this.#awaited > 0 ? "searching …" : "No results";
    this.#entered = false;
    const first = commands[0];
    const of = first ? `, first ${first.label} ${first.id ?? ""} ${first.kind}` : "";
    this.#mirror.say(`${counted(total, "result")}${of}`);
  }

  #key(event: KeyboardEvent): void {
    if (this.#list.key(event)) return;
    const { key, ctrlKey, metaKey } = event;
    event.stopPropagation();
    if (key === "Enter") this.#entered = this.#awaited > 0;
    if (key !== "Escape" && !(key.toLowerCase() === "k" && (ctrlKey || metaKey))) return;
    event.preventDefault();
    this.#close();
  }

  #choose(index: number): void {
    const root = this.#root;
    const command = this.#matches[index]!;
    this.#close();
    if (!root.contains(document.activeElement)) root.focus({ preventScroll: true });
    command.run();
  }

  #close(): void {
    this.#before?.focus({ preventScroll: true });
    this.#field.blur();
    this.node.remove();
  }
}

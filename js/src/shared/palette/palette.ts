import type { RunClient } from "../client/run_client.ts";
import type { SessionClient } from "../client/session_client.ts";
import { counted } from "../format.ts";
import { element, KEEP_KEYS } from "../ui/dom.ts";
import { HitList, LISTED } from "../ui/hit_list.ts";
import type { KeyAction } from "../ui/keys.ts";
import { Mirror } from "../ui/mirror.ts";
import {
  actionCommands,
  type Command,
  type Commands,
  findingCommands,
  highlightCommands,
  nodeCommands,
  PALETTE_KEY,
  tensorCommands,
} from "./commands.ts";
import { matching } from "./matching.ts";

export const PALETTE_LABEL = "Go to a node, a finding or an action";
/** Where no run is searched. */
const ACTIONS_LABEL = "Go to an action";

/** A run that the palette searches; of two runs each has a mark. */
interface Side {
  mark?: string;
  run: RunClient;
  session: SessionClient;
  signal: AbortSignal;
}

/** The key that opens the palette of a view. */
export function paletteAction(root: HTMLElement, ...sides: readonly Side[]): KeyAction {
  return {
    keys: [PALETTE_KEY],
    does: (sides.length ? PALETTE_LABEL : ACTIONS_LABEL).toLowerCase(),
    run: () => openPalette(root, ...sides),
  };
}

/** Opens the palette at the top of a view; it goes when something is chosen or the focus leaves it. */
export function openPalette(root: HTMLElement, ...sides: readonly Side[]): void {
  if (root.querySelector(":scope > .tvmdbg-palette")) return;
  const palette = new Palette(root, actionCommands(root), sides.length);
  root.append(palette.node);
  palette.show();
  for (const side of sides) void sources(side).then((found) => palette.add(...found));
}

/** What is known of the run; that its values are scanned is for others to begin. */
async function sources({
  run,
  session,
  signal,
  mark = "",
}: Side): Promise<[before: Commands[], after: Commands[]]> {
  const [scan, graph, highlights] = await Promise.all([
    run.health(signal, false, true).catch(() => null),
    run.graph().catch(() => null),
    run.highlights().catch(() => []),
  ]);
  const known = scan && scan.state !== "none";
  const [findings, tensors] = await Promise.all([
    known ? run.findings(signal).catch(() => null) : null,
    graph ? null : run.tensors().catch(() => null),
  ]);
  return [
    [
      ...(findings ? [findingCommands(findings.findings, session, mark)] : []),
      highlightCommands(highlights, session, mark),
    ],
    graph
      ? [nodeCommands(graph, session, mark)]
      : tensors
        ? [tensorCommands(tensors, session)]
        : [],
  ];
}

class Palette {
  readonly node: HTMLElement;
  readonly #field = element("input", {
    type: "text",
    spellcheck: "false",
    autocomplete: "off",
    ...KEEP_KEYS,
  });
  readonly #mirror = new Mirror();
  readonly #list: HitList;
  readonly #none = element("div", { class: "tvmdbg-hits-none" });
  readonly #root: HTMLElement;
  readonly #before = document.activeElement as HTMLElement | null;
  #sources: readonly Commands[];
  #found: readonly Command[] = [];

  /** Runs that did not answer yet. */
  #awaited: number;
  /** Whether Enter was pressed before anything was found. */
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
      { class: "tvmdbg-palette", role: "dialog", "aria-label": "Command palette" },
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

  /** Takes what is known of the run: findings and extremes go before the actions, nodes after. */
  add(before: readonly Commands[], after: readonly Commands[]): void {
    this.#sources = [...before, ...this.#sources, ...after];
    this.#awaited -= 1;
    if (!this.node.isConnected) return;
    const entered = this.#entered;
    const { active } = this.#list;
    this.#search(active > 0 ? this.#found[active] : undefined);
    if (entered && this.#found.length > 0) this.#choose(0);
    else this.#entered = entered;
  }

  /** Lists what is found; the one `chosen` before stays so. */
  #search(chosen?: Command): void {
    const { commands, total } = matching(this.#sources, this.#field.value, LISTED);
    this.#found = commands;
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
    const command = this.#found[index]!;
    this.#close();
    if (!root.contains(document.activeElement)) root.focus({ preventScroll: true });
    command.run();
  }

  /** Loses the keyboard first: amid its removal, `focusout` would remove it once more. */
  #close(): void {
    this.#before?.focus({ preventScroll: true });
    this.#field.blur();
    this.node.remove();
  }
}

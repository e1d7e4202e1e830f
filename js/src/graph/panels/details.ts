import { type NodeDetails, NodeKind } from "../../shared/client/answers.ts";
import { errorText, isAbort } from "../../shared/client/request.ts";
import { counted, duration, integer, percent, timeShare } from "../../shared/format.ts";
import { append } from "../../shared/many.ts";
import { button, div, element, KEEP_KEYS, span } from "../../shell/dom.ts";
import { runKey } from "../../shell/keys.ts";
import { valueText } from "../data/node_columns.ts";
import { quoted } from "../data/query_fields.ts";
import { boxesOf, type GraphScene } from "../layout/scene.ts";
import { GraphPart } from "../parts.ts";
import {
  type BlockKind,
  bar,
  composition,
  delegateOf,
  delegateSection,
  graphLink,
  healthIn,
  kindsIn,
  list,
  listed,
  muted,
  named,
  note,
  section,
  shared,
  sizeOf,
  table,
  timeIn,
  top,
  warning,
} from "./details_parts.ts";

const TOP = 10;
const TOP_PARTS = 6;
const BUSY_MS = 150;

export class DetailsPanel extends GraphPart {
  readonly node = element("aside", {
    class: "tvmdbg-graph-details tvmdbg-anywhere tvmdbg-shaded",
    "aria-label": "details",
    ...KEEP_KEYS,
  });
  readonly #model = this.view.model;
  #request: AbortController | null = null;

  focus(): void {
    const first = this.node.querySelector("button");
    if (!first) this.node.tabIndex = -1;
    (first ?? this.node).focus();
    if (first) this.node.removeAttribute("tabindex");
  }

  async show(selected: readonly number[], scene: GraphScene, group = -1): Promise<void> {
    this.#request?.abort();
    if (group >= 0) {
      this.#fill(this.#group(group, scene));
      return;
    }
    const node = selected.at(-1);
    if (node === undefined || node < 0 || node >= this.#model.graph.kinds.length) {
      this.#fill(this.#summary());
      return;
    }
    const abort = new AbortController();
    this.#request = abort;
    const signal = AbortSignal.any([abort.signal, this.view.context.signal]);
    const busy = setTimeout(() => {
      this.#fill([this.#heading(node), muted("reading …")]);
    }, BUSY_MS);
    try {
      const details = await this.view.context.run.ask("node", { node }, signal);
      clearTimeout(busy);
      if (!signal.aborted) this.#fill(this.#node(details, selected, scene));
    } catch (error) {
      clearTimeout(busy);
      if (signal.aborted || isAbort(error)) return;
      const alert = element("p", { class: "tvmdbg-error", role: "alert" }, errorText(error));
      this.#fill([this.#heading(node), alert]);
    }
  }

  #fill(children: (Node | null)[]): void {
    const focused = this.node.contains(document.activeElement);
    this.node.replaceChildren(...children.filter((child): child is Node => child !== null));
    this.node.scrollTop = 0;
    if (focused) this.focus();
    else this.node.removeAttribute("tabindex");
  }

  #heading(node: number): HTMLElement {
    return element("h3", {}, this.#model.describe.short(node));
  }

  #node(details: NodeDetails, selected: readonly number[], scene: GraphScene): (Node | null)[] {
    const { times, describe } = this.#model;
    const { code } = this.view;
    const { id } = details;
    const { delegate, attrs } = delegateOf(details.attrs);
    const hosts = Array.from(boxesOf(scene, id), (box) => scene.node[box]!);
    const around = scene.group[boxesOf(scene, id)[0] ?? -1] ?? -1;
    const together = times.together([id]);
    const folded = hosts.length > 0 && (hosts[0] !== id || around >= 0);
    return [
      this.#heading(id),
      muted(describe.kind(id)),
      this.view.menus.tools(),
      this.#note(id),
      folded
        ? note(
            around >= 0 ? "inside block " : "hidden in ",
            ...(around >= 0 ? [this.#groupLink(around)] : hosts.map((host) => this.#link(host))),
          )
        : null,
      hosts.length === 0 ? note("not in the visible part of the graph") : null,
      selected.length > 1
        ? note(
            `${counted(selected.length, "node")} selected; others: `,
            ...selected.slice(0, -1).map((other) => this.#link(other, 0, `#${other}`)),
          )
        : null,
      ...details.notes.map(warning),
      section(
        "time",
        times.heat(id) > 0 ? bar(times.heat(id), "share of the slowest") : null,
        details.times.length
          ? table(details.times)
          : element("p", together ? {} : { class: "tvmdbg-muted" }, together || "unknown"),
      ),
      delegate ? delegateSection(delegate) : null,
      describe.health
        ? section("health", ...describe.health.lines(id).map((line) => element("p", {}, line)))
        : null,
      named("name", details.name, code),
      details.funcName && details.funcName !== details.name
        ? named("func_name", details.funcName, code)
        : null,
      section(
        listed("inputs", details.inputs.length, details.inputCount),
        list(details.inputs.map((input, operand) => this.#input(input, operand))),
      ),
      section(
        listed("outputs", details.outputs.length, details.outputCount),
        list(details.outputs.map((output) => this.#output(id, output))),
      ),
      attrs.length ? section(`attributes (${attrs.length})`, table(attrs)) : null,
    ];
  }

  #group(group: number, scene: GraphScene): (Node | null)[] {
    const { groups, graph, times } = this.#model;
    const isOpen = scene.frameOfGroup[group]! >= 0;
    const ns = groups.ns(group);
    const kinds = kindsIn(this.#model, group);
    const identical = groups.ofKind(group).filter((other) => other !== group);
    const parent = graph.groupParent[group]!;
    const health = healthIn(this.#model, group);
    return [
      element("h3", {}, groups.title(group)),
      muted(`group ${group}, kind ${groups.tag(group)}, ${sizeOf(this.#model, group)}`),
      element(
        "p",
        {},
        button(
          isOpen ? "collapse" : "expand",
          `${isOpen ? "collapse" : "expand"} the block (Enter)`,
          () => runKey(this.view.root, "Enter"),
        ),
      ),
      parent < 0 ? null : note("inside ", this.#groupLink(parent)),
      section(
        "time",
        ns > 0 ? bar(ns / times.total, "share of the total time") : null,
        element("p", {}, timeIn(this.#model, group) || "unknown"),
      ),
      health.length ? section("health", ...health.map((line) => element("p", {}, line))) : null,
      section(
        "op kinds",
        table(kinds.slice(0, TOP).map(([kind, count]) => [kind, integer(count)])),
      ),
      identical.length
        ? section(
            `identical (${integer(identical.length)})`,
            list(identical.slice(0, TOP).map((other) => element("li", {}, this.#groupLink(other)))),
            identical.length > TOP ? muted(`and ${integer(identical.length - TOP)} more`) : null,
          )
        : null,
    ];
  }

  #groupLink(group: number): HTMLElement {
    const title = this.#model.groups.title(group);
    const first = this.#model.groups.nodes(group)[0];
    return graphLink(`${title} from #${first}`, `go to group ${group} ${title}`, () =>
      this.view.folding.show(group),
    );
  }

  #input({ node, output, text, trust }: NodeDetails["inputs"][number], operand: number) {
    return element(
      "li",
      {},
      span("tvmdbg-muted", `${operand} `),
      node < 0 ? "a node that the graph does not have" : this.#link(node, output),
      ` ${text}${this.#size(node, output)}`,
      trust === "exact" ? null : span("tvmdbg-warning", ` matched ${trust}`),
    );
  }

  #size(node: number, output: number): string {
    const { graph } = this.#model;
    if (node < 0 || graph.kinds[node] !== NodeKind.PARAMETER) return "";
    const size = graph.entryBytes[graph.entryOffsets[node]! + output]!;
    return size >= 0 ? `, ${valueText(size, "B")}` : "";
  }

  #output(id: number, { output, text, consumers }: NodeDetails["outputs"][number]) {
    const pick = button(`:${output}`, `select output ${output} of node ${id}`, () =>
      this.view.commands.select(id, output),
    );
    return element(
      "li",
      {},
      pick,
      ` ${text}`,
      div(
        "tvmdbg-graph-consumers",
        consumers.length ? "→ " : "read by no node",
        ...consumers.map(({ node }) => this.#link(node)),
      ),
    );
  }

  #note(node: number): HTMLElement | null {
    const text = this.view.context.session.note(node);
    return text ? element("p", { class: "tvmdbg-noted" }, text) : null;
  }

  #link(node: number, output = 0, label?: string): HTMLElement {
    const words = this.#model.describe.short(node, output);
    return graphLink(label ?? words, `go to ${words}`, () => this.view.commands.select(node));
  }

  #summary(): Node[] {
    const { graph, times, counts } = this.#model;
    const [, , , nops = 0, copies = 0] = counts;
    const apart = [
      nops > 0 && `${integer(nops)} zero-copy`,
      copies > 0 && `${integer(copies)} between devices`,
    ].filter(Boolean);
    const [operators = "", ...given] = graph.info?.held ?? [];
    const held = [`${operators}${apart.length ? ` (${apart.join(", ")})` : ""}`, ...given];
    const basis = graph.info?.roles;
    const rows: [string, string][] = [
      ["nodes", integer(graph.kinds.length)],
      ...held.filter((text) => !text.startsWith("0 ")).map((text): [string, string] => ["", text]),
      ["edges", integer(graph.edgeTarget.length)],
    ];
    if (times.known) rows.push(["total time", times.totalText]);
    const heads = [...new Set(graph.headNode)].filter((node) => node >= 0);
    const inputs = [...graph.kinds.keys()].filter((node) => graph.roles.at(node) === "input");
    const parts: Node[] = [element("h3", {}, "Graph"), table(rows)];
    if (basis) parts.push(muted(basis));
    append(parts, this.#wrong());
    const notes = this.view.context.session.notes.filter(([node]) => this.#model.has(node));
    if (notes.length > 0) {
      const items = notes.map(([node]) => element("li", {}, this.#link(node), this.#note(node)));
      parts.push(section(`notes (${notes.length})`, list(items)));
    }
    const made = composition(this.#model);
    if (made.length > 0) parts.push(section("structure", this.#parts(made)));
    if (times.known) parts.push(section("slowest", this.#slowest()));
    const links_ = (nodes: readonly number[]) =>
      list(nodes.slice(0, TOP).map((node) => element("li", {}, this.#link(node))));
    parts.push(section(`inputs (${inputs.length})`, links_(inputs)));
    parts.push(section(`outputs (${heads.length})`, links_(heads)));
    return parts;
  }

  /** Faults of the file, due to which less is drawn than it may mean. */
  #wrong(): Node[] {
    const { wrong = [], wrongCount = 0 } = this.#model.graph.info ?? {};
    const more = wrongCount - wrong.length;
    const faults = more > 0 ? [...wrong, `and ${integer(more)} more: run.graph.issues`] : wrong;
    return faults.map(warning);
  }

  #parts(made: readonly BlockKind[]): HTMLElement {
    const { graph, times } = this.#model;
    const rows = made.slice(0, TOP_PARTS).map(({ name, blocks, nodes, ns }) => {
      const words = `${name}${blocks > 1 ? ` × ${integer(blocks)}` : ""}`;
      const link = graphLink(words, `highlight all ${words}`, () =>
        this.view.folding.find(`group=${quoted(name)}`),
      );
      const share = times.known ? ns / times.total : nodes / graph.kinds.length;
      const much = times.known
        ? timeShare(ns, share, times.rounding)
        : `${counted(nodes, "node")} · ${percent(share)}`;
      const what = times.known ? "share of the total time" : "share of the nodes";
      return shared(link, bar(share, what), much);
    });
    return top(rows, made.length, "ul");
  }

  #callLink(name: string, nodes: readonly number[]): HTMLElement {
    if (!nodes.length) return element("span", {}, name);
    return graphLink(name, `select ${counted(nodes.length, "node")}`, () => {
      this.view.selectNodes(nodes);
      this.view.folding.goTo(nodes.at(-1)!);
    });
  }

  #slowest(): HTMLElement {
    const { times } = this.#model;
    const rows = times.ranked
      .slice(0, TOP)
      .map(({ nodes, name, ns, share }) =>
        shared(
          name ? this.#callLink(name, nodes) : this.#link(nodes[0]!),
          bar(ns / times.largest, "share of the slowest"),
          `${duration(ns)} · ${percent(share)}`,
        ),
      );
    return top(rows, times.ranked.length, "ol");
  }
}

import { type GraphColumns, TRUST_LABELS } from "../shared/client/answers.ts";
import type { SessionClient } from "../shared/client/session_client.ts";
import type { TimelineWords } from "../shared/client/timeline_columns.ts";
import { counted, duration, integer, percent } from "../shared/format.ts";
import { append } from "../shared/many.ts";
import { rangeCode, sliceCode, timesCode } from "../shell/code_copy.ts";
import { notHere } from "./data/bins.ts";
import { type Change, changeText, ratioText } from "./data/change.ts";
import { type Names, timeText } from "./data/names.ts";
import { childrenOf } from "./data/neighbors.ts";
import type { Ranking } from "./data/ranking.ts";
import { repeatsOf } from "./data/repeats.ts";
import type { Slices } from "./data/slices.ts";
import type { TimelineScene } from "./tracks/scene.ts";

export const NOISY_RULE = "noisy: 5 repeats or more and p90 / p10 above 1.2";

/** Number of a slice's nodes that are named; the others are counted. */
const NODES_SHOWN = 6;

export type SliceFact = readonly [name: string, value: string];

export class SliceDescriptions {
  readonly #slices: Slices;
  readonly #names: Names;
  readonly #ranking: Ranking;
  readonly #notes: Pick<SessionClient, "note"> | undefined;
  also: (node: number) => SliceFact[] = () => [];

  constructor(slices: Slices, names: Names, ranking: Ranking, notes?: Pick<SessionClient, "note">) {
    this.#notes = notes;
    this.#slices = slices;
    this.#names = names;
    this.#ranking = ranking;
  }

  /** `dense + add #66`, or the readable recorded name if the node is unknown. */
  title(slice: number): string {
    if (this.#names.isOther(slice)) return `B: ${this.#names.ofSlice(slice)}`;
    return this.#names.title(this.#slices.nodeOf(slice), this.#names.recorded(slice));
  }

  summary(): string[] {
    const { change } = this.#names;
    if (change) return [change.columns.info.sentence, ...change.columns.info.said];
    const { operators: length, total } = this.#ranking;
    const { row: noun, together } = this.#words;
    const rows = this.#ranking.rows("time");
    const some = Math.min(5, length);
    const first = rows[0];
    if (first === undefined || !length) {
      return this.#slices.complete ? [counted(length, noun)] : notHere(this.#slices);
    }
    const time = this.#slices.withShare(this.#ranking.ns[first]!, this.#ranking.shares[first]!);
    return [
      `${counted(length + this.#slices.columns.info.rowsLeft, noun)}, ${duration(total)} ${together}`,
      `Slowest: ${this.rowTitle(first)}, ${time}`,
      ...(some > 1
        ? [
            `The slowest ${some} take ${percent(this.#ranking.cumulative(rows)[some - 1]!)} of the total`,
          ]
        : []),
    ];
  }

  get #words(): TimelineWords {
    return this.#slices.columns.info.words;
  }

  rowTitle(row: number): string {
    const slice = this.#ranking.slice[row]!;
    const call = this.#ranking.callName(row);
    if (call) return call;
    return slice < 0 ? this.#names.title(this.#ranking.node[row]!) : this.title(slice);
  }

  ofNode(node: number): SliceFact[] {
    return [...this.#noted(node), ...this.#timesOf(node), ...this.also(node)];
  }

  #noted(node: number): SliceFact[] {
    const text = this.#notes?.note(node);
    return text ? [["note", text]] : [];
  }

  #timesOf(node: number): SliceFact[] {
    const time = this.#slices.columns.nodeNs[node] ?? Number.NaN;
    const idle = this.#names.idle(node);
    if (idle && !(time > 0))
      return [
        ["time", idle],
        ["match", this.#trust(node)],
      ];
    return [
      [this.#words.time, this.#slices.timeText(time) + this.#repeats(node)],
      ...this.#standing(node, this.#trust(node)),
    ];
  }

  /** Time with its share, and one fact. */
  brief(slice: number): [time: string, fact: string] {
    const node = this.#slices.nodeOf(slice);
    const lasts = this.#slices.durationOf(slice);
    const row = this.#ranking.rowOfSlice(slice);
    const isOnly = this.#ranking.slices[row] === 1 && !this.#names.isOther(slice);
    const isPart = isOnly && this.#slices.roleOf(slice) === 0 && lasts > 0;
    const share = isPart ? lasts / this.#ranking.total : Number.NaN;
    const idle = lasts === 0 ? this.#names.idle(node) : "";
    const time = idle || this.#slices.timeText(lasts);
    const whole = this.#words.whole ? this.#words.whole.split(",")[0] : "the total";
    const part = !(share <= 1) ? "" : ` · ${percent(share)} of ${whole}`;
    return [time + part, this.#fact(slice, node)];
  }

  /** What most distinguishes a slice: its fault, its match, its nodes, its repeats, or its start. */
  #fact(slice: number, node: number): string {
    const starts = `starts at ${timeText(this.#slices.startOf(slice), 1e3)}`;
    const { change } = this.#names;
    const row = change?.rowOf(node) ?? -1;
    if (change && row >= 0) {
      const { byNode } = change;
      const [speed, verdict] = [ratioText(row, byNode), change.verdictLabel(byNode.verdict[row]!)];
      const apart = speed.endsWith(verdict) ? "" : ` (${verdict})`;
      return `B − A: ${changeText(change.of(row))}, ${speed}${apart}`;
    }
    if (change) return starts;
    const fault = node < 0 ? undefined : this.also(node).find(([name]) => name === "values");
    if (fault) return fault[1].split(";", 1)[0]!;
    const nodes = this.#slices.nodesOf(slice).length;
    if (nodes > 1 && !this.#slices.isApart(slice)) {
      return `${counted(nodes, this.#words.item)} together`;
    }
    const repeats = this.#isMean(slice) ? this.#repeats(node).slice(2, -1) : "";
    return repeats || starts;
  }

  ofSlice(slice: number): SliceFact[] {
    const node = this.#slices.nodeOf(slice);
    const lasts = this.#slices.durationOf(slice);
    const starts = timeText(this.#slices.startOf(slice), 1);
    if (this.#names.isOther(slice)) {
      const stands = node < 0 ? "has no match in A" : this.#names.title(node);
      return [
        ["start", starts],
        ["duration", this.#slices.timeText(lasts)],
        ["matches", stands],
        ["name", this.#slices.nameOf(slice)],
      ];
    }
    const idle = this.#names.idle(node);
    if (idle && lasts === 0) return [["start", starts], ...this.ofNode(node)];
    const mean = this.#isMean(slice);
    const facts: SliceFact[] = [
      ...this.#noted(node),
      ["start", starts],
      ["duration", this.#slices.timeText(lasts) + (mean ? this.#repeats(node) : "")],
    ];
    const about = this.#slices.aboutOf(slice);
    append(facts, about);
    if (node < 0) return [...facts, ...this.#ofNodes(slice), ...this.#ofName(slice)];
    const occurrences = this.#slices.of(node).length;
    if (occurrences > 1) {
      const place = integer(this.#slices.occurrenceOf(slice) + 1);
      facts.push(["slice", `${place} of ${integer(occurrences)} of this ${this.#words.item}`]);
    }
    if (!mean) facts.push(this.#timesOf(node)[0]!);
    const joined = TRUST_LABELS[this.#slices.trustOf(slice)] ?? "unknown";
    const time = this.#trust(node);
    const trust = joined === time ? joined : `${joined} (time: ${time})`;
    return [...facts, ...this.#standing(node, trust), ...this.also(node)];
  }

  #ofNodes(slice: number): SliceFact[] {
    const nodes = this.#slices.nodesOf(slice);
    const isApart = this.#slices.isApart(slice);
    if (nodes.length < (isApart ? 1 : 2)) return [];
    const shown = nodes.slice(0, NODES_SHOWN).map((node) => this.#names.title(node));
    const more = nodes.length > shown.length ? ` and ${nodes.length - shown.length} more` : "";
    if (isApart) {
      const all = counted(nodes.length, this.#words.item);
      return [["part of", `the whole call, of none of its ${all}: ${shown.join(", ")}${more}`]];
    }
    return [
      ["together", `${counted(nodes.length, this.#words.item)}, the share of each is not known`],
      ["nodes", shown.join(", ") + more],
      ["match", TRUST_LABELS[this.#slices.trustOf(slice)] ?? "unknown"],
    ];
  }

  #ofName(slice: number): SliceFact[] {
    const facts = this.#own(slice);
    const recorded = this.#slices.nameOf(slice);
    if (recorded !== this.#names.recorded(slice)) facts.push(["name", recorded]);
    const row = this.#ranking.rowOfSlice(slice);
    if (row >= 0) {
      const { slices, ns, call, operators } = this.#ranking;
      const share = this.#ranking.shares[row]!;
      const part =
        Number.isNaN(share) || this.#slices.isShort(ns[row]!) ? "" : `, ${this.#shareText(share)}`;
      const rank = row < operators ? `, rank ${integer(row + 1)} of ${integer(operators)}` : "";
      const time = `${this.#slices.timeText(ns[row]!)}${part}${rank}`;
      if (call[row]! >= 0) facts.push(["in", `${this.#ranking.callName(row)}, ${time}`]);
      else {
        const self = this.#slices.nested ? "self time " : "";
        facts.push(["by name", `${counted(slices[row]!, "slice")}, ${self}${time}`]);
      }
    }
    const isKnown = this.#words.byName || this.#slices.nodesOf(slice).length > 1;
    return isKnown ? facts : [...facts, ["match", "node unknown"]];
  }

  #own(slice: number): SliceFact[] {
    const self = this.#slices.selfOf(slice);
    const lasts = this.#slices.durationOf(slice);
    if (!this.#slices.nested || !(lasts > 0)) return [];
    if (self === lasts) return [["self time", `${duration(self)}: no children`]];
    const rest = `${duration(lasts - self)} in children`;
    return [["self time", `${this.#slices.withShare(self, self / lasts)}; ${rest}`]];
  }

  sentence(slice: number): string {
    const { columns } = this.#slices;
    const node = this.#slices.nodeOf(slice);
    const name = this.#names.ofSlice(slice);
    const lasts = this.#slices.durationOf(slice);
    if (this.#names.isOther(slice)) {
      const stands = node < 0 ? "has no match in A" : `matches ${this.#names.title(node)}`;
      return `Slice of B, ${name}, lasts ${this.#slices.timeText(lasts)}, ${stands}${this.#changed(node)}`;
    }
    const idle = lasts === 0 ? this.#names.idle(node) : "";
    const several = columns.tracks.length > 1;
    const clock = columns.info.clock === "wall" ? "wall clock" : "synthetic timeline";
    const nodes = this.#slices.nodesOf(slice).length;
    const whose = nodes > 1 ? ` of ${counted(nodes, this.#words.item)}` : ", node unknown";
    const unknown = `Slice ${name}${this.#words.byName ? "" : whose}`;
    const parts = [
      node < 0 ? unknown : `Slice of ${this.title(slice)}`,
      `starts ${duration(this.#slices.startOf(slice))}`,
      idle
        ? idle
        : `lasts ${this.#slices.timeText(lasts)}${this.#isMean(slice) ? this.#repeats(node, true) : ""}`,
      ...(node < 0 ? this.#ofName(slice) : []).map((fact) => fact.join(": ")),
      ...this.#place(node),
    ];
    const track = several ? `, track ${columns.tracks.at(this.#slices.trackOf(slice))}` : "";
    const around = this.#around(slice).join(", ");
    return `${parts.join(", ")}; ${clock}${track}${around && `; ${around}`}${this.#changeText(node)}${this.#changed(node)}`;
  }

  /** Context of a slice: its occurrence, parent, children and neighbors. */
  #around(slice: number): string[] {
    const slices = this.#slices;
    const all = slices.of(slices.nodeOf(slice)).length;
    const parent = slices.parentOf(slice);
    const children = childrenOf(slices, slice);
    const row = slices.rows[slices.rowOf(slice)]!;
    const beside = (word: string, other: number, [first, second]: [number, number]) => {
      if (other < row.first || other >= row.last) return [];
      // Printed times are rounded: neighbors may overlap by a nanosecond.
      const apart = slices.startOf(second) - slices.endOf(first);
      const where = apart > 0 ? `${duration(apart)} ${word}` : `directly ${word}`;
      return [`${where} ${this.title(other)}`];
    };
    return [
      ...(all > 1
        ? [`occurrence ${integer(slices.occurrenceOf(slice) + 1)} of ${integer(all)}`]
        : []),
      ...(parent < 0 ? [] : [`in ${this.title(parent)}`]),
      ...(children ? [counted(children, "child slice")] : []),
      ...beside("after", slice - 1, [slice - 1, slice]),
      ...beside("before", slice + 1, [slice, slice + 1]),
    ];
  }

  nodeSentence(node: number): string {
    const time = this.#slices.columns.nodeNs[node] ?? Number.NaN;
    const takes = Number.isNaN(time)
      ? this.#names.idle(node) || "its time is unknown"
      : `takes ${this.#slices.timeText(time)}${this.#repeats(node, true)}`;
    const parts = [this.#names.title(node), takes, ...this.#place(node)];
    return `${parts.join(", ")}; no slice${this.#changeText(node)}${this.#changed(node)}`;
  }

  #changed(node: number): string {
    const { change } = this.#names;
    const row = change?.rowOf(node) ?? -1;
    return row < 0 ? "" : `. Compared: ${change!.sentence(row)}`;
  }

  #changeText(node: number): string {
    const text = this.#notes?.note(node);
    return text ? `; note: ${text}` : "";
  }

  /** True if the slice lasts its node's mean time, as in the debugger's trace. */
  #isMean(slice: number): boolean {
    const mean = this.#slices.columns.nodeNs[this.#slices.nodeOf(slice)] ?? Number.NaN;
    return Math.abs(mean - this.#slices.durationOf(slice)) < 0.5;
  }

  #place(node: number): string[] {
    const row = this.#ranking.rowOf(node);
    if (row < 0 || this.#slices.isShort(this.#ranking.ns[row]!)) return [];
    const share = this.#shareText(this.#ranking.shares[row]!);
    return [share, `rank ${row + 1} of ${integer(this.#ranking.operators)}`];
  }

  /** `8.87 % of Method::execute, 178.8 µs`. */
  #shareText(share: number): string {
    const total = duration(this.#ranking.total);
    const { whole } = this.#words;
    return `${percent(share)} of ${whole ? `${whole}, ${total}` : total}`;
  }

  #standing(node: number, trust: string): SliceFact[] {
    const [share, rank] = this.#place(node);
    const facts: SliceFact[] = share && rank ? [["share", `${share}, ${rank}`]] : [];
    const { low = Number.NaN, high = Number.NaN } = repeatsOf(this.#slices.columns, node) ?? {};
    if (low <= high) {
      const [from, to] = [low, high].map((ns) => this.#slices.timeText(ns));
      facts.push(["95 % CI", `${from} … ${to}`]);
    }
    const funcName = this.#names.funcName(node);
    if (funcName) facts.push(["func_name", funcName]);
    return this.#names.known ? [...facts, ["match", trust]] : facts;
  }

  #trust(node: number): string {
    return TRUST_LABELS[this.#slices.columns.nodeTrust[node] ?? -1] ?? "unknown";
  }

  #repeats(node: number, spread = false): string {
    if (!this.#words.repeats) return ` (${this.#words.time})`;
    const repeats = repeatsOf(this.#slices.columns, node);
    if (!repeats) return "";
    const { count, p10, p90, noisy } = repeats;
    const range = spread
      ? `, p10 … p90 ${this.#slices.timeText(p10)} … ${this.#slices.timeText(p90)}`
      : "";
    return ` (mean of ${counted(count, "repeat")}${range}${noisy ? ", noisy" : ""})`;
  }
}

export interface TimelineData {
  slices: Slices;
  names: Names;
  graph: GraphColumns | null;
  /** Comparison of two runs shown as one; null for a single run. */
  change: Change | null;
  ranking: Ranking;
  words: SliceDescriptions;
  scene: TimelineScene;
}

/** Python for the marked range (null: not selected), the selected slice, or the times of the selected nodes. */
export function codeFor(
  { slices, scene, change }: TimelineData,
  { selected, slice }: SessionClient,
  range: readonly [number, number] | null,
): string {
  const { current } = scene;
  if (range) return rangeCode(range);
  if (selected.length === 0 && current >= 0) {
    return `run.timeline.slice(${slices.sourceOf(current)})`;
  }
  if (selected.length === 1 && slice && slices.of(slice[0]).length > 1) return sliceCode(...slice);
  if (change && selected.length) return `run.compared.row_of(${selected.at(-1)})`;
  return slices.columns.info.words.byName ? "run.top()" : timesCode(selected);
}

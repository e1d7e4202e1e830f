import { type GraphColumns, NodeKind } from "../../shared/client/answers.ts";
import { kindFill } from "../../shared/drawing/theme.ts";
import { counted } from "../../shared/format.ts";
import { type GraphScene, membersOf } from "../layout/scene.ts";
import type { Palette } from "../paint/palette.ts";
import { type BoxHealth, isUnknown } from "./health.ts";
import { nodesIn } from "./links.ts";
import { isOfKind, type NodeTimes } from "./times.ts";

export type ColorShare = readonly [color: string, share: number];

export interface BoxColors {
  flat(box: number): string;
  face(box: number): string | null;
  /** True if the value of the box is unknown; it is hatched then. */
  isUnknown(box: number): boolean;
  /** Priority of boxes that share a place: the larger wins. */
  rank(box: number): number;
  /** Meaning of a box's color in words; empty if it is just the kind. */
  meaning(box: number): string;
  /** Value of an entry in words, beyond shape, dtype and device; may be empty. */
  entry(entry: number): string;
  /** Combined value of some nodes in words. */
  meaningOf(nodes: ArrayLike<number>): string;
  /** The second line of a box; null for its shape. */
  words(box: number): string | null;
  parts(box: number): readonly ColorShare[];
  has(box: number, key: string): boolean;
}

export interface Ground {
  graph: GraphColumns;
  scene: GraphScene;
  palette: Palette;
}

/** Colors by op kind, the base of other colors. */
export class KindColors implements BoxColors {
  readonly #times: NodeTimes;
  readonly #counted = new Map<number, [code: number, count: number][]>();

  constructor(
    readonly ground: Ground,
    times: NodeTimes,
  ) {
    this.#times = times;
  }

  node(box: number): number {
    return this.ground.scene.node[box]!;
  }

  flat(box: number): string {
    const { graph, palette } = this.ground;
    return kindFill(palette.theme, graph.opKinds.at(this.node(box)));
  }

  face(box: number): string | null {
    const { graph, palette } = this.ground;
    const node = this.node(box);
    if (membersOf(this.ground.scene, box).length > 1)
      return palette.tint(this.ground.graph.opKinds.unique[this.#counts(box)[0]![0]]!);
    return graph.kinds[node] === NodeKind.NOP ? null : palette.tint(graph.opKinds.at(node));
  }

  isUnknown(_box: number): boolean {
    return false;
  }

  rank(box: number): number {
    const members = membersOf(this.ground.scene, box);
    let most = 0;
    for (let i = 0; i < members.length; i++)
      most = Math.max(most, this.#times.ns[members[i]!]! || 0);
    return most;
  }

  meaning(box: number): string {
    return this.meaningOf(membersOf(this.ground.scene, box));
  }

  entry(_entry: number): string {
    return "";
  }

  meaningOf(_nodes: ArrayLike<number>): string {
    return "";
  }

  words(box: number): string | null {
    const value = this.meaning(box);
    if (!value) return null;
    const { graph, scene } = this.ground;
    const count = nodesIn(graph, membersOf(scene, box));
    return count === 1 ? value : `${value} · ${counted(count, "node")}`;
  }

  parts(box: number): readonly ColorShare[] {
    const { graph, palette } = this.ground;
    const { unique } = graph.opKinds;
    return shares(this.#counts(box), (code) => kindFill(palette.theme, unique[code]!));
  }

  #counts(box: number): [code: number, count: number][] {
    const { graph, scene } = this.ground;
    const counts =
      this.#counted.get(box) ?? tally(graph, membersOf(scene, box), graph.opKinds.codes);
    this.#counted.set(box, counts);
    return counts;
  }

  has(box: number, key: string): boolean {
    const { graph, scene } = this.ground;
    return membersOf(scene, box).some((node) => isOfKind(graph, node, key));
  }
}

export class HealthColors extends KindColors {
  readonly #health: BoxHealth | null;

  constructor(ground: Ground, times: NodeTimes, health: BoxHealth | null) {
    super(ground, times);
    this.#health = health;
  }

  #verdict(box: number): number {
    return this.#health?.verdict(box) ?? 0;
  }

  override flat(box: number): string {
    return this.ground.palette.verdict(this.#verdict(box));
  }

  override face(box: number): string | null {
    const verdict = this.#verdict(box);
    return verdict > 0 && !this.isUnknown(box) ? this.ground.palette.verdict(verdict) : null;
  }

  override isUnknown(box: number): boolean {
    return isUnknown(this.#verdict(box));
  }

  override rank(box: number): number {
    return this.#health?.weight(box) ?? 0;
  }

  override meaning(box: number): string {
    return this.#health?.brief(box) ?? "";
  }
}

export function tally(
  { nodeCount }: GraphColumns,
  nodes: ArrayLike<number>,
  codes: Int32Array,
  offsets: Int32Array | null = null,
): [code: number, count: number][] {
  const counts = new Map<number, number>();
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i]!;
    const more = nodeCount?.[node] ?? 1;
    const end = offsets ? offsets[node + 1]! : node + 1;
    for (let row = offsets ? offsets[node]! : node; row < end; row++) {
      const code = codes[row]!;
      if (code >= 0) counts.set(code, (counts.get(code) ?? 0) + more);
    }
  }
  return [...counts].sort(([a, m], [b, n]) => n - m || a - b);
}

export function shares(
  counts: readonly (readonly [code: number, count: number])[],
  color: (code: number) => string,
): ColorShare[] {
  const sum = counts.reduce((total, [, count]) => total + count, 0);
  return counts.map(([code, count]) => [color(code), count / sum]);
}

/** Python for what is selected; `run` is the run as the user named it in the documentation. */

/** One node, several, or the graph where none is selected. */
export function nodesCode(nodes: readonly number[]): string {
  return several(nodes, "run.graph.nodes[", "]") ?? "run.graph";
}

/** Times of one node or several; the slowest where none is selected. */
export function timesCode(nodes: readonly number[]): string {
  return several(nodes, "run.timeline.node(", ")") ?? "run.timeline.top()";
}

/** One of the slices of a node. */
export function sliceCode(node: number, occurrence: number): string {
  return `run.timeline.slice(run.timeline.slices_of(${node})[${occurrence}])`;
}

/** What lies in a range of time, nanoseconds, as a table. */
export function rangeCode([start, end]: readonly [number, number]): string {
  return `run.area(${start}, ${end}).to_dataframe()`;
}

/** The code with a comment that tells of which run it speaks, for notebooks with more than one. */
export function codeOfRun(code: string, title: string | null): string {
  const line = title?.replace(/[\s\p{C}]+/gu, " ").trim();
  return line ? `${code}  # run: ${line}` : code;
}

function several(nodes: readonly number[], before: string, after: string): string | null {
  if (nodes.length < 2) return nodes.length ? `${before}${nodes[0]}${after}` : null;
  return `[${before}i${after} for i in (${nodes.join(", ")})]`;
}

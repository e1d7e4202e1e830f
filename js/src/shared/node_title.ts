import { type GraphColumns, NodeKind } from "./client/run_client.ts";

/** The operators of a node in a few words, of a node without any its name. */
export function nodeLabel({ labels, names }: GraphColumns, node: number): string {
  return node < labels.length ? labels.at(node) || names.at(node) : "";
}

/** What stands in place of a time where nothing runs; empty for an operator. */
export function givenText({ roles }: GraphColumns, node: number): string {
  const role = node < roles.length ? roles.at(node) : "";
  return role === "input" ? "graph input" : role;
}

/** The kind of a node as it is drawn: memory that a program plans for itself is no input. */
export function drawnKind({ kinds, roles }: GraphColumns, node: number): number {
  const kind = kinds[node]!;
  return kind === NodeKind.INPUT && roles.at(node) !== "input" ? NodeKind.PARAMETER : kind;
}

/** What a tensor is called: after its node, without a graph by its own name. */
export function tensorTitle(
  graph: GraphColumns | null,
  name: string,
  node: number,
  output: number,
): string {
  return nodeTitle((graph && nodeLabel(graph, node)) || name, node, output);
}

/** What a node, or one of its outputs, is called everywhere: `conv2d + add #38:1`. */
export function nodeTitle(label: string, node: number, output = 0): string {
  const place = output ? `#${node}:${output}` : `#${node}`;
  return label ? `${label} ${place}` : place;
}

import { agree, counted, integer } from "../../shared/format.ts";

/** What a query compares and is not known of all nodes, a sentence a field: `5 of 72 nodes have no time`. */
export function unknownNotes(unknown: ReadonlyMap<string, number>, nodes: number): string[] {
  return Array.from(unknown, ([field, without]) =>
    without === nodes
      ? `no node has ${named(field)}`
      : `${integer(without)} of ${counted(nodes, "node")} ${agree(without, "has")} no ${field}`,
  );
}

function named(field: string): string {
  return field === "bytes" || field === "storage" || field.includes(".") ? field : `a ${field}`;
}

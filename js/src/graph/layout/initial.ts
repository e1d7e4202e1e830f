import type { Expanded } from "./trunks.ts";

/** Left-to-right order of the items of every row. */
export interface Order {
  /** Items by row; row r is item[start[r]] … item[start[r + 1] - 1]. */
  item: Int32Array;
  start: Int32Array;
  /** Position of each item in its row. */
  position: Int32Array;
}

/** A depth-first walk from the sinks, first operand first, puts operands side by side in their order. */
export function initialOrder(graph: Expanded): Order {
  const { count, rows, row, up, down } = graph;
  const start = new Int32Array(rows + 1);
  for (let v = 0; v < count; v++) start[row[v]! + 1]!++;
  for (let r = 0; r < rows; r++) start[r + 1]! += start[r]!;
  const fill = start.slice(0, rows);
  const item = new Int32Array(count);
  const position = new Int32Array(count);
  const seen = new Uint8Array(count);
  const stack = new Int32Array(up.item.length + 1);
  for (let sink = 0; sink < count; sink++) {
    if (down.start[sink] !== down.start[sink + 1]) continue;
    let depth = 0;
    stack[depth++] = sink;
    while (depth > 0) {
      const v = stack[--depth]!;
      if (seen[v]) continue;
      seen[v] = 1;
      const r = row[v]!;
      position[v] = fill[r]! - start[r]!;
      item[fill[r]!++] = v;
      for (let k = up.start[v + 1]! - 1; k >= up.start[v]!; k--) {
        if (!seen[up.item[k]!]) stack[depth++] = up.item[k]!;
      }
    }
  }
  return { item, start, position };
}

import { NodeKind } from "../../shared/client/run_client.ts";
import { finished } from "../../shared/stretches.ts";
import { isolated } from "../data/isolate.ts";
import type { GraphSheet } from "./sheet.ts";

/** How many edges away what is around the focus may be. */
const MOST_HOPS = 3;

/** The nodes of so many boxes at most, one flag a node: around the focus as far as all fit, else the first. */
export function firstNodes(sheet: GraphSheet, most: number): Uint8Array {
  const { links, graph } = sheet.model;
  const { data, options } = sheet.request;
  const only = new Uint8Array(graph.kinds.length);
  if (data.focus < 0) for (const node of sheet.boxed.subarray(0, most)) only[node] = 1;
  else {
    only[data.focus] = 1;
    for (let hops = 1; hops <= MOST_HOPS; hops++) {
      const around = finished(isolated(links, { kind: "around", nodes: [data.focus], hops }));
      const wider = around.map((is, node) => (sheet.only && !sheet.only[node] ? 0 : is));
      if (sheet.scene({ only: wider }).count > most) break;
      only.set(wider);
    }
  }
  if (!options.fold_parameters) return only;
  for (const [edge, target] of graph.edgeTarget.entries()) {
    const source = graph.edgeSource[edge]!;
    if (source >= 0 && only[target] && graph.kinds[source] === NodeKind.PARAMETER) only[source] = 1;
  }
  return only;
}

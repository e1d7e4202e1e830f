// Reads one question a line: {"open": {graph, facts}} keeps the columns of a run, {"text"} is answered with the tree of
// a query or its error, and, where columns are kept, with the nodes it finds (tests/unit/graph/query_node.py asks).
import { createInterface } from "node:readline";
import { bundled } from "./layout_bundle.mjs";

const { answered, opened } = await bundled(`export * from "./js/tests/shared/query_answer.ts";`);

let facts = null;
for await (const line of createInterface({ input: process.stdin })) {
  const { open, text } = JSON.parse(line);
  if (open) facts = opened(open);
  process.stdout.write(`${JSON.stringify(open ? {} : answered(text, facts))}\n`);
}

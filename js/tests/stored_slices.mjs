// node js/tests/stored_slices.mjs PAGE: prints what a view gets of the slices in a page's data, as
// tests/unit/pages/test_stored_slices.py wrote them.
import { readFileSync } from "node:fs";
import { bundled } from "./layout_bundle.mjs";

const { storedAnswers, StaticModel, modelOfView, clientOf, timelineOf, slicesOf } = await bundled(`
  export { storedAnswers } from "./js/src/page/stored_data.ts";
  export { StaticModel, modelOfView } from "./js/src/shared/client/page_model.ts";
  export { clientOf } from "./js/src/shared/client/client.ts";
  export { slicesOf, timelineOf } from "./js/src/shared/client/timeline_client.ts";`);

const { buffer, byteOffset, byteLength } = readFileSync(process.argv[2]);
const page = buffer.slice(byteOffset, byteOffset + byteLength);
const { signal } = new AbortController();
const model = new StaticModel({ content_hash: "h" }, storedAnswers(page));
const client = clientOf(modelOfView(model, signal), "page", signal);
const { info, lodBusy, rowKind } = await timelineOf(client);
const slices = await slicesOf(client);
const list = (name) => (slices?.[name] ? Array.from(slices[name]) : null);
console.log(
  JSON.stringify({
    info,
    bins: lodBusy.length / rowKind.length,
    start: list("start"),
    duration: list("duration"),
    self: list("self"),
    names: slices && Array.from(slices.name, (code) => slices.names.at(code)),
  }),
);

// node js/tests/stored_answers.mjs FOLDER: asks a page's data the questions that tests/unit/pages/test_stored.py wrote there,
// and prints what differs from the answers beside them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bundled } from "./layout_bundle.mjs";

const {
  opened,
  tensorAnswers,
  storedAnswers,
  text: write,
} = await bundled(`
  export { opened } from "./js/src/shared/client/client.ts";
  export { storedAnswers } from "./js/src/page/stored_data.ts";
  export { tensorAnswers } from "./js/src/page/stored_tensors.ts";
  export * as text from "./js/src/shared/number_text.ts";`);

const folder = process.argv[2];
const file = (name) => readFileSync(join(folder, name));
const arrayBuffer = ({ buffer, byteOffset, byteLength }) =>
  buffer.slice(byteOffset, byteOffset + byteLength);
const differences = [];

const most = (values) =>
  values.reduce(
    (found, each) => (Number.isFinite(each) ? Math.max(found, Math.abs(each)) : found),
    0,
  );

/** Means are shown to six digits. NaNs are one and the same to a reader, and so are the zeros; numpy's own order of equal ones is not laid down. */
function sameMeans(x, y) {
  const largest = Math.max(most(x), most(y));
  for (let i = 0; i < y.length; i++) {
    // A page adds in order, where numpy adds in pairs: sums near the end of float64 are unknown to it.
    const far = Number.isNaN(x[i] + y[i]) && largest > 1e300;
    const both = Number.isNaN(x[i]) && Number.isNaN(y[i]);
    const close = far || both || x[i] === y[i] || Math.abs(x[i] - y[i]) <= 1e-6 * largest;
    assert.ok(close, `mean[${i}]: ${x[i]} instead of ${y[i]}`);
  }
}

/** A reply as a view reads it, and its means, which are compared apart; zeros have no sign. */
function read(kind, result, buffers) {
  const answer = opened(kind, { result, buffers });
  const cells = answer?.tile ?? answer;
  const { mean } = cells ?? {};
  if (!ArrayBuffer.isView(mean)) return { answer, means: null };
  for (const name of ["minimum", "maximum"]) cells[name] = cells[name].map((value) => value + 0);
  cells.mean = `${mean.length} of ${mean.constructor.name}`;
  return { answer, means: mean };
}

function sameAnswer(kind, expected, { content, buffers }, all) {
  if (expected.error) {
    assert.ok(typeof content.error === "string" && content.error.length > 0, "no error");
    return;
  }
  assert.equal(content.error, undefined);
  const views = expected.buffers.map(([start, end]) => new DataView(all.slice(start, end).buffer));
  const [found, told] = [read(kind, content.result, buffers), read(kind, expected.result, views)];
  if (expected.more_notes) {
    assert.ok(found.answer.notes.length <= told.answer.notes.length + 1, "notes");
    found.answer.notes = found.answer.notes.slice(0, told.answer.notes.length);
  }
  assert.deepStrictEqual(found.answer, told.answer);
  if (expected.result?.info !== undefined) assert.deepStrictEqual(buffers, views);
  if (told.means) sameMeans(found.means, told.means);
}

const { questions, texts } = JSON.parse(file("questions.json"));
if (questions.length) {
  const all = new Uint8Array(file("buffers.bin"));
  const ask = storedAnswers(arrayBuffer(file("page.bin")), tensorAnswers);
  for (const { question, expected } of questions) {
    const answer = await ask(question);
    try {
      assert.deepStrictEqual(answer.content.id, question?.id);
      sameAnswer(question?.kind, expected, answer, all);
    } catch (error) {
      differences.push({ question, expected, found: answer.content, error: String(error.message) });
    }
  }
}
for (const { name, dtype, how } of texts) {
  const values = new Float64Array(arrayBuffer(file(`${name}.bin`)));
  const lines = file(`${name}.txt`).toString().split("\n");
  assert.equal(lines.length, values.length);
  values.forEach((value, i) => {
    const found = write[how](value, dtype);
    if (found !== lines[i]) differences.push({ name, found, expected: lines[i] });
  });
}
console.log(JSON.stringify(differences.slice(0, 20)));

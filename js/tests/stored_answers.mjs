// node js/tests/stored_answers.mjs FOLDER: asks a page's data the questions that tests/unit/pages/test_stored.py wrote there,
// and prints what differs from the answers beside them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bundled } from "./layout_bundle.mjs";

const {
  tensorAnswers,
  storedAnswers,
  text: write,
} = await bundled(`
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
function sameColumns(columns, found, expected) {
  assert.equal(found.byteLength, expected.byteLength, "bytes of the buffer");
  const types = { u1: Uint8Array, i4: Int32Array, f4: Float32Array, f8: Float64Array };
  const [a, b] = [arrayBuffer(found), arrayBuffer(expected)];
  for (const { name, kind, offset, length } of columns) {
    if (!types[kind]) continue;
    const [x, y] = [new types[kind](a, offset, length), new types[kind](b, offset, length)];
    const largest = name === "mean" ? Math.max(most(x), most(y)) : 0;
    for (let i = 0; i < length; i++) {
      // A page adds in order, where numpy adds in pairs: sums near the end of float64 are unknown to it.
      const far = Number.isNaN(x[i] + y[i]) && largest > 1e300;
      const close = name === "mean" && (far || Math.abs(x[i] - y[i]) <= 1e-6 * largest);
      const same = close || x[i] === y[i] || (Number.isNaN(x[i]) && Number.isNaN(y[i]));
      assert.ok(same, `${name}[${i}]: ${x[i]} instead of ${y[i]}`);
    }
  }
}

function sameAnswer(expected, { content, buffers }, all) {
  if (expected.error) {
    assert.ok(typeof content.error === "string" && content.error.length > 0, "no error");
    return;
  }
  assert.equal(content.error, undefined);
  const result = structuredClone(content.result);
  if (expected.more_notes) {
    assert.ok(result.notes.length <= expected.result.notes.length + 1, "notes");
    result.notes = result.notes.slice(0, expected.result.notes.length);
  }
  assert.deepStrictEqual(result, expected.result);
  assert.equal(buffers.length, expected.buffers.length, "buffers");
  expected.buffers.forEach(([start, end], i) => {
    const { columns } =
      [result, result.tile, result.distribution].find((each) => each?.columns) ?? {};
    if (columns) sameColumns(columns, buffers[i], all.subarray(start, end));
    if (!columns || result.info !== undefined) {
      assert.ok(Buffer.from(arrayBuffer(buffers[i])).equals(all.subarray(start, end)), "buffer");
    }
  });
}

const { questions, texts } = JSON.parse(file("questions.json"));
if (questions.length) {
  const all = file("buffers.bin");
  const ask = storedAnswers(arrayBuffer(file("page.bin")), tensorAnswers);
  for (const { question, expected } of questions) {
    const answer = await ask(question);
    try {
      assert.deepStrictEqual(answer.content.id, question?.id);
      sameAnswer(expected, answer, all);
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

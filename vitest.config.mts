import { dirname, resolve } from "node:path";
import { defineConfig, type Plugin } from "vitest/config";
import { bundleWorker } from "./js/build.mjs";

const worker: Plugin = {
  name: "worker",
  enforce: "pre",
  resolveId(id, importer) {
    if (!id.startsWith("worker:") || !importer) return null;
    return `\0worker:${resolve(dirname(importer), id.slice("worker:".length))}`;
  },
  async load(id) {
    if (!id.startsWith("\0worker:")) return null;
    const { text, inputs } = await bundleWorker(id.slice("\0worker:".length));
    for (const input of inputs) this.addWatchFile(input);
    return `export default ${JSON.stringify(text)};`;
  },
};

export default defineConfig({
  plugins: [worker],
  test: {
    environment: "node",
    pool: "threads",
    isolate: false, // loading every module for every file again takes as long as all tests
    include: ["js/tests/**/*.test.ts"],
    testTimeout: 60_000, // only to end what hangs, also on a busy machine
    hookTimeout: 60_000,
  },
});

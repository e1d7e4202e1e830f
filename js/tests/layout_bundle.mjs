// The layout and its test graphs as modules that Node can run: bundled from TypeScript in memory.
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** Imports what the lines of `export { … } from "./js/…"` name. */
export async function bundled(contents) {
  const bundle = await esbuild.build({
    stdin: { contents, resolveDir: root },
    bundle: true,
    format: "esm",
    write: false,
  });
  const code = Buffer.from(bundle.outputFiles[0].contents).toString("base64");
  return import(`data:text/javascript;base64,${code}`);
}

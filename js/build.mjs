// node js/build.mjs [--watch]: bundles every view into tvmdbg_widgets/static.
// anywidget imports each bundle from a Blob URL, so no chunk may be left to import.
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const out = join(root, "tvmdbg_widgets/static");
const source = join(root, "js/src");
/** A view is a folder with a module of its name; its figure is `<view>Figure` of `<view>_figure.ts`. */
const views = readdirSync(source).filter(
  (name) => name !== "engine" && existsSync(join(source, name, `${name}.ts`)),
);

/** The engine with the figures of all views. */
function engineEntry() {
  const found = views.flatMap((view) => {
    const places = [`./${view}/${view}_figure.ts`, `./${view}/figure/${view}_figure.ts`];
    const file = places.find((place) => existsSync(join(source, place)));
    return file ? [{ view, file }] : [];
  });
  return [
    ...found.map(({ view, file }) => `import { ${view}Figure } from "${file}";`),
    'import { figures } from "./engine/engine.ts";',
    `Object.assign(figures, { ${found.map(({ view }) => `${view}: ${view}Figure`).join(", ")} });`,
    'export * from "./engine/engine.ts";',
  ].join("\n");
}

/** The page of one view; one that answers more than recordings has an entry of its own in js/src/page. */
function pageEntry(view) {
  return [
    `import view from "./${view}/${view}.ts";`,
    'import { open } from "./page/open.ts";',
    `open({ views: { ${view}: view } });`,
  ].join("\n");
}
/** Shorter spellings of the same constants and functions. */
const define = {
  "Number.POSITIVE_INFINITY": "Infinity",
  "Number.NaN": "NaN",
  "Number.parseFloat": "parseFloat",
  "Number.parseInt": "parseInt",
};
const hashedFiles = ["package-lock.json", "js/build.mjs", "tvmdbg_widgets/figures/tokens.json"];

/** The bundled text of a worker, and the files it was made of. */
export async function bundleWorker(file, watch = false) {
  const result = await esbuild.build({
    entryPoints: [file],
    absWorkingDir: root,
    bundle: true,
    format: "iife",
    target: "es2022",
    minify: !watch,
    sourcemap: watch && "inline",
    legalComments: "none",
    define, // the same text as layout.js, whose hash a page's policy names
    write: false,
    metafile: true,
  });
  return {
    text: result.outputFiles[0].text.trim(),
    inputs: Object.keys(result.metafile.inputs).map((input) => resolve(root, input)),
  };
}

/** `import source from "worker:./x.worker.ts"` gives the worker's bundled text. */
function workers(watch) {
  return {
    name: "worker",
    setup(build) {
      build.onResolve({ filter: /^worker:/ }, (args) => ({
        path: resolve(args.resolveDir, args.path.slice("worker:".length)),
        namespace: "worker",
      }));
      build.onLoad({ filter: /.*/, namespace: "worker" }, async (args) => {
        const { text, inputs } = await bundleWorker(args.path, watch);
        return { contents: text, loader: "text", watchFiles: inputs };
      });
    },
  };
}

/** One hash of everything a bundle is made of; js/hatch_build.py computes the same. */
export function contentHash() {
  const sources = readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith("."))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/"));
  const hash = createHash("sha256");
  for (const name of [...sources, ...hashedFiles].sort()) {
    if (!existsSync(join(root, name))) continue;
    const bytes = readFileSync(join(root, name));
    hash.update(`${name}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest("hex");
}

function options(watch) {
  const common = {
    absWorkingDir: root,
    bundle: true,
    target: "es2022",
    minify: !watch,
    sourcemap: watch && "inline",
    legalComments: "none",
    define,
    logLevel: "warning",
    plugins: [workers(watch)],
  };
  const written = (contents) => ({ stdin: { contents, resolveDir: source, loader: "ts" } });
  const file = (path) => ({ entryPoints: [join(source, path)] });
  const page = (view) =>
    existsSync(join(source, `page/${view}.ts`))
      ? file(`page/${view}.ts`)
      : written(pageEntry(view));
  const esm = { ...common, format: "esm" };
  const iife = { ...common, format: "iife" };
  const paged = views.filter((view) => view !== "debugger");
  return [
    ...views.map((view) => ({ ...esm, ...file(`${view}/${view}.ts`), name: view })),
    ...["plot", "loader", "session", "run"].map((part) => ({
      ...esm,
      ...file(`${part}.ts`),
      name: part,
    })),
    ...[...paged, "unpack"].map((view) => ({ ...iife, ...page(view), name: `page_${view}` })),
    { ...iife, ...file("page.ts"), name: "page" },
    { ...iife, ...file("graph/layout/layout.worker.ts"), name: "layout" },
    { ...iife, ...written(engineEntry()), name: "engine", globalName: "tvmdbgEngine" },
  ].map(({ name, ...rest }) => ({ ...rest, outfile: join(out, `${name}.js`) }));
}

/** The engine's bundle within promises of its own (`js/src/engine/promises.ts`), which async functions return too. */
export async function withOwnPromises(options) {
  if (options.globalName !== "tvmdbgEngine") return options;
  const { outputFiles } = await esbuild.build({
    ...options,
    stdin: undefined,
    entryPoints: [join(source, "engine/promises.ts")],
    globalName: "promises",
    write: false,
  });
  return {
    ...options,
    supported: { "async-await": false },
    banner: { js: `var tvmdbgEngine=(()=>{${outputFiles[0].text}var{Promise}=promises;` },
    footer: { js: "return tvmdbgEngine})();" },
  };
}

const schema = {
  entryPoints: [join(source, "shared/client/wire.ts")],
  bundle: true,
  format: "esm",
  write: false,
};

/** The columns of each answer as JSON: `tvmdbg_widgets/engine.py` holds Python's answers to them. */
async function wire({ outputFiles }) {
  const source = Buffer.from(outputFiles[0].contents).toString("base64");
  const { WIRE } = await import(`data:text/javascript;base64,${source}`);
  return Buffer.from(`${JSON.stringify(WIRE)}\n`);
}

function replace(path, contents) {
  const fresh = `${path}.${process.pid}.new`;
  writeFileSync(fresh, contents);
  renameSync(fresh, path);
}

async function build() {
  const hash = contentHash();
  const results = await Promise.allSettled(
    options(false).map(async (each) =>
      esbuild.build({ ...(await withOwnPromises(each)), write: false }),
    ),
  );
  const built = results.flatMap(({ value }) => value ?? []);
  mkdirSync(out, { recursive: true });
  rmSync(join(out, "hash.json"), { force: true });
  const files = built.flatMap((result) => result.outputFiles);
  files.push({ path: join(out, "wire.json"), contents: await wire(await esbuild.build(schema)) });
  for (const { path, contents } of files) replace(path, contents);
  const kept = new Set(files.map(({ path }) => basename(path)));
  for (const name of readdirSync(out)) if (!kept.has(name)) rmSync(join(out, name));
  if (built.length === results.length) {
    replace(join(out, "hash.json"), `${JSON.stringify({ sha256: hash })}\n`);
  } else {
    process.exitCode = 1; // esbuild has said why; the other bundles can be used meanwhile
  }
  const kilobytes = (count) => (count / 1000).toFixed(1).padStart(8);
  for (const { path, contents } of files) {
    const name = basename(path).padEnd(16);
    const sent = kilobytes(gzipSync(contents, { level: 9 }).length);
    console.log(`${name}${kilobytes(contents.length)} kB, compressed${sent} kB`);
  }
}

async function watch() {
  rmSync(join(out, "hash.json"), { force: true }); // what is written now is for development only
  for (const each of options(true)) {
    await (await esbuild.context({ ...(await withOwnPromises(each)), logLevel: "info" })).watch();
  }
  const onEnd = async (result) => {
    if (!result.errors.length) replace(join(out, "wire.json"), await wire(result));
  };
  const plugins = [{ name: "wire", setup: (build) => build.onEnd(onEnd) }];
  await (await esbuild.context({ ...schema, plugins })).watch();
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await (process.argv.includes("--watch") ? watch() : build());
}

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
const views = ["graph", "tensor", "timeline", "memory", "comparison", "tuning", "debugger"];
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
    write: false,
    metafile: true,
  });
  return {
    text: result.outputFiles[0].text.trim(), // a page's policy names its hash
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
  const sources = readdirSync(join(root, "js/src"), { recursive: true, withFileTypes: true })
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
    outdir: out,
    bundle: true,
    target: "es2022",
    minify: !watch,
    sourcemap: watch && "inline",
    legalComments: "none",
    logLevel: "warning",
    plugins: [workers(watch)],
  };
  const entries = [
    ...views.map((view) => ({ source: `js/src/${view}/${view}.ts`, out: view, format: "esm" })),
    ...["plot", "loader", "session", "run"].map((part) => ({
      source: `js/src/${part}.ts`,
      out: part,
      format: "esm",
    })),
    { source: "js/src/page.ts", out: "page", format: "iife" },
    ...["graph", "tensor", "timeline", "memory", "comparison", "tuning", "unpack"].map((part) => ({
      source: `js/src/page/${part}.ts`,
      out: `page_${part}`,
      format: "iife",
    })),
    { source: "js/src/graph/layout/layout.worker.ts", out: "layout", format: "iife" },
    {
      source: "js/src/engine/engine.ts",
      out: "engine",
      format: "iife",
      globalName: "tvmdbgEngine",
    },
  ];
  return entries
    .filter(({ source }) => existsSync(join(root, source)))
    .map(({ source, out, ...rest }) => ({
      ...common,
      ...rest,
      entryPoints: [{ in: source, out }],
    }));
}

/** The engine's bundle within promises of its own (`js/src/engine/promises.ts`), which async functions return too. */
export async function withOwnPromises(options) {
  if (options.globalName !== "tvmdbgEngine") return options;
  const { outputFiles } = await esbuild.build({
    ...options,
    entryPoints: [join(root, "js/src/engine/promises.ts")],
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
  entryPoints: [join(root, "js/src/shared/client/wire.ts")],
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

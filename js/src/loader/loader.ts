import type { AnyModel, RenderProps } from "@anywidget/types";
import { errorText, message } from "../shared/message.ts";
import { isAbort, request } from "../shared/request.ts";

interface LoaderState {
  run: string;
  /** Which view, and of which build: "tensor 1f3a…". */
  _code: string;
}

interface ViewModule {
  default: { render(props: RenderProps<LoaderState>): Promise<void> };
}

const TIMEOUT_MS = 60_000;
const KEPT = Symbol.for("tvmdbg-widgets.code");

function kept(): Map<string, Promise<ViewModule>> {
  const page = globalThis as typeof globalThis & { [KEPT]?: Map<string, Promise<ViewModule>> };
  page[KEPT] ??= new Map();
  return page[KEPT];
}

/** The module of a view: fetched once a page, by whichever view of its kind is shown first. */
async function fetched(name: string, run: AnyModel, signal: AbortSignal): Promise<ViewModule> {
  const known = kept().get(name);
  if (known) {
    try {
      return await known;
    } catch (error) {
      if (!isAbort(error) || signal.aborted) throw error;
      return fetched(name, run, signal); // the view that had asked has gone
    }
  }
  const module = imported(name, run, signal);
  kept().set(name, module);
  module.catch(() => kept().delete(name));
  return module;
}

async function imported(name: string, run: AnyModel, signal: AbortSignal): Promise<ViewModule> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const { buffers } = await request<null>(run, "code", { view: name.split(" ")[0] }, limit);
  const bytes = buffers[0] as DataView<ArrayBuffer>;
  const text = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const code = await new Response(text).text();
  const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  try {
    return await import(url);
  } finally {
    URL.revokeObjectURL(url);
  }
}

/**
 * What the state of every view carries: it asks the run for the view's own code.
 *
 * Each instance's state carries its `_esm`, in a saved notebook too; so that is kept small, and the code travels
 * compressed, once a page.
 */
export default {
  async render(props: RenderProps<LoaderState>): Promise<void> {
    const { model, el, host, signal } = props;
    let view: ViewModule;
    try {
      const run = await host.getModel(model.get("run"));
      view = await fetched(model.get("_code"), run as AnyModel, signal);
    } catch (error) {
      if (signal.aborted) return;
      const why = error instanceof DOMException ? "The kernel does not answer" : errorText(error);
      const said = message("error", "This view could not be loaded", `${why}. Run the cell again.`);
      said.classList.add("tvmdbg");
      el.append(said);
      return;
    }
    await view.default.render(props);
  },
};

/** The entry of a page without a kernel: the same views, on models that live in the page. */
import type { AnyModel, RenderProps } from "@anywidget/types";
import debuggerView from "./debugger/debugger.ts";
import graph from "./graph/graph.ts";
import { layoutSteps } from "./graph/layout/index.ts";
import { shareLayout } from "./graph/layout_shared.ts";
import { type Ask, modelOfView, StaticModel } from "./shared/static_model.ts";
import tensor from "./tensor/tensor.ts";
import timeline from "./timeline/timeline.ts";

// A page may forbid both workers and scripts from Blobs.
shareLayout(layoutSteps);

const VIEWS = { debugger: debuggerView, graph, tensor, timeline } as const;

interface PageWidget {
  render: (props: RenderProps) => Promise<void> | void;
}

interface PageView {
  /** A view of ours, or a widget of the page's own. */
  view: keyof typeof VIEWS | PageWidget;
  model: string;
  element: HTMLElement;
}

interface Page {
  /** State of each model by id; references read `anywidget:<id>`. */
  models: Record<string, Record<string, unknown>>;
  views: PageView[];
  ask: Ask;
}

/** Shows the views; the models come back so that the page can set them, and `close` takes all away. */
async function start(
  page: Page,
): Promise<{ models: Record<string, StaticModel>; close: () => void }> {
  const models = Object.fromEntries(
    Object.entries(page.models).map(([id, state]) => [id, new StaticModel(state, page.ask)]),
  );
  const controller = new AbortController();
  const find = (reference: string): AnyModel => {
    const model = models[reference.replace(/^anywidget:/, "")];
    if (!model) throw new Error(`this page has no model ${reference}`);
    return modelOfView(model, controller.signal);
  };
  await Promise.all(
    page.views.map(({ view, model, element }) => {
      const shown = (typeof view === "string" ? VIEWS[view] : view) as PageWidget;
      return shown.render({
        model: find(model),
        el: element,
        signal: controller.signal,
        host: {
          getModel: async (reference: string) => find(reference),
          getWidget: () => Promise.reject(new Error("a page has no nested widgets")),
        },
        experimental: { invoke: () => Promise.reject(new Error("a page has no kernel")) },
      } as RenderProps);
    }),
  );
  return { models, close: () => controller.abort() };
}

(globalThis as typeof globalThis & { tvmdbgPage?: object }).tvmdbgPage = { start };

import type { AnyModel, RenderProps } from "@anywidget/types";
import { type Ask, modelOfView, StaticModel } from "../shared/client/static_model.ts";

export interface PageWidget {
  render: (props: RenderProps) => Promise<void> | void;
}

interface PageView {
  /** A view of this bundle by its name, or a widget of the page's own. */
  view: string | PageWidget;
  model: string;
  element: HTMLElement;
}

export interface Page {
  /** State of each model by id; references read `anywidget:<id>`. */
  models: Record<string, Record<string, unknown>>;
  views: PageView[];
  /** `model` is the id of the one that is asked. */
  ask: (message: unknown, model: string) => ReturnType<Ask>;
}

export interface Started {
  models: Record<string, StaticModel>;
  close: () => void;
}

/** Shows the views; the models come back so that the page can set them, and `close` takes all away. */
export async function start(
  known: Readonly<Record<string, unknown>>,
  page: Page,
): Promise<Started> {
  const models = Object.fromEntries(
    Object.entries(page.models).map(([id, state]) => [
      id,
      new StaticModel(state, (message) => page.ask(message, id)),
    ]),
  );
  const controller = new AbortController();
  const find = (reference: string): AnyModel => {
    const model = models[reference.replace(/^anywidget:/, "")];
    if (!model) throw new Error(`this page has no model ${reference}`);
    return modelOfView(model, controller.signal);
  };
  await Promise.all(
    page.views.map(({ view, model, element }) => {
      const shown = (typeof view === "string" ? known[view] : view) as PageWidget | undefined;
      if (!shown) throw new Error(`this page has no view ${view}`);
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

import type { AnyModel, RenderProps } from "@anywidget/types";
import { type AnswerMessage, modelOfView, StaticModel } from "../shared/client/page_model.ts";
import { button, relabel } from "../shell/dom.ts";
import { say } from "./status.ts";

export interface PageWidget {
  render: (props: RenderProps) => Promise<void> | void;
}

interface PageView {
  /** A view of this bundle by its name, or a widget of the page's own. */
  view: string | PageWidget;
  model: string;
  element: HTMLElement;
}

export interface SavedPage {
  /** States of the models by id; references read `anywidget:<id>`. */
  models: Record<string, Record<string, unknown>>;
  views: PageView[];
  ask: (message: unknown, model: string) => ReturnType<AnswerMessage>;
}

export interface StartedPage {
  models: Record<string, StaticModel>;
  close: () => void;
}

/** Shows the views; returns the models, so that the page can set them, and `close`, which removes everything. */
export async function start(
  known: Readonly<Record<string, unknown>>,
  page: SavedPage,
): Promise<StartedPage> {
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

const DARK = matchMedia("(prefers-color-scheme: dark)");

export function themeToggle(): HTMLButtonElement {
  const root = document.documentElement;
  const dark = () => (root.dataset.theme ?? (DARK.matches ? "dark" : "light")) === "dark";
  const label = () => {
    const text = dark() ? "Light" : "Dark";
    relabel(toggle, text, `${text} theme`);
  };
  const toggle = button("", "", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    label();
  });
  DARK.addEventListener("change", label);
  label();
  return toggle;
}

export function copyLink(link: () => string): HTMLButtonElement {
  return button("Copy link", "Copy a link to the selection", () => {
    const copy = (event: ClipboardEvent) => {
      event.clipboardData?.setData("text/plain", link());
      event.preventDefault();
    };
    document.addEventListener("copy", copy, { capture: true });
    const copied = document.execCommand("copy");
    document.removeEventListener("copy", copy, { capture: true });
    say(copied ? `Copied ${link()}` : `This browser does not let pages copy: ${link()}`);
  });
}

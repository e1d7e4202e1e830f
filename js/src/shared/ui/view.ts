import type { AnyModel, RenderProps } from "@anywidget/types";
import { type RunClient, runClient } from "../client/run_client.ts";
import { SessionClient, type SessionState } from "../client/session_client.ts";
import { withAutoHeight } from "./auto_height.ts";
import { withFullScreen } from "./full_screen.ts";
import type { ViewOptions } from "./view_options.ts";
import { viewRoot } from "./view_root.ts";

/** All that a view is given; `signal` aborts when the view goes. */
export interface ViewContext<T> {
  run: RunClient;
  session: SessionClient;
  options: ViewOptions<T>;
  signal: AbortSignal;
}

export type Mount<T> = (root: HTMLElement, context: ViewContext<T>) => void | Promise<void>;

/** Every view's model names its run and its session, e.g. `anywidget:<model id>`. */
export interface ViewState {
  run: string;
  session: string;
  _figure_id: string;
}

/** The traits of a model as options of a view. */
export function modelOptions<T>(model: AnyModel): ViewOptions<T> {
  return {
    get: (name) => model.get(name) as never,
    set: (name, value) => {
      if (JSON.stringify(model.get(name)) === JSON.stringify(value)) return;
      model.set(name, value);
      model.save_changes();
    },
    onChange: (name, listener, signal) => {
      model.on(`change:${name}`, listener);
      signal.addEventListener("abort", () => model.off(`change:${name}`, listener));
    },
  };
}

/** The options with the height that the view has; one that it takes by itself is at most `most`. */
export function sized<T extends { height: unknown }>(
  root: HTMLElement,
  options: ViewOptions<T>,
  signal: AbortSignal,
  most?: number,
): ViewOptions<T> {
  return withFullScreen(root, withAutoHeight(root, options, signal, most), signal);
}

/** Makes the anywidget `render` of a view that only knows plain data and callbacks. */
export function widget<T extends { height: unknown }>(mount: Mount<T>, most?: number) {
  return {
    async render({ model, el, host, signal }: RenderProps<ViewState & T>): Promise<void> {
      const run = await host.getModel(model.get("run"));
      const session = await host.getModel<SessionState>(model.get("session"));
      if (signal.aborted) return;
      const root = viewRoot(el, model.get("_figure_id"), signal);
      await mount(root, {
        run: runClient(run, model.get("run"), signal),
        session: new SessionClient(session),
        options: sized(root, modelOptions<T>(model as unknown as AnyModel), signal, most),
        signal,
      });
    },
  };
}

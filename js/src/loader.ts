import type { AnyModel, RenderProps } from "@anywidget/types";
import { pageModule } from "./shared/client/page_model.ts";
import { errorText, request } from "./shared/client/request.ts";
import { message } from "./shell/message.ts";

interface LoaderState {
  /** Run of the view; a view of a tuning log names the log instead. */
  run?: string;
  log?: string;
  /** Name and build of the view: "tensor 1f3a…". */
  _code: string;
}

/** The state of every view: it asks the run for the view's code, which so travels compressed, once a page. */
export default {
  async render(props: RenderProps<LoaderState>): Promise<void> {
    const { model, el, host, signal } = props;
    let view: { default: { render(props: RenderProps<LoaderState>): Promise<void> } };
    try {
      const source = model.get("run") ?? model.get("log");
      const run = (await host.getModel(source!)) as AnyModel;
      const name = model.get("_code");
      const [kind] = name.split(" ");
      view = await pageModule(name, (limit) => request(run, "code", { view: kind }, limit), signal);
    } catch (error) {
      if (signal.aborted) return;
      const why = error instanceof DOMException ? "The kernel does not answer" : errorText(error);
      const alert = message(
        "error",
        "This view could not be loaded",
        `${why}. Run the cell again.`,
      );
      alert.classList.add("tvmdbg");
      el.append(alert);
      return;
    }
    await view.default.render(props);
  },
};

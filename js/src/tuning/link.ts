import type { SessionClient } from "../shared/client/session_client.ts";
import type { ViewOptions } from "../shared/ui/view_options.ts";
import type { TuningOptions } from "./data/options.ts";
import type { TuningView } from "./view.ts";

const SOURCE = "tuning";

/** A task that is picked selects its nodes in the run's views; a node that is selected there picks its task. */
export function linkSession(
  view: Pick<TuningView, "data">,
  session: SessionClient,
  options: ViewOptions<TuningOptions>,
  signal: AbortSignal,
): void {
  let known = options.get("task");
  const tell = () => {
    const task = options.get("task");
    if (task === known) return;
    known = task;
    const nodes = task === null ? [] : (view.data.info.tasks[task]?.nodes ?? []);
    if (nodes.length && !nodes.includes(session.node ?? -1)) session.selectMany(nodes, SOURCE);
  };
  const follow = () => {
    const { node } = session;
    if (node === null) return;
    const task = view.data.info.tasks.find(({ nodes }) => nodes.includes(node));
    if (!task || task.index === known) return;
    known = task.index;
    options.set("trial", null);
    options.set("task", task.index);
  };
  options.onChange("task", tell, signal);
  session.onChange(follow, signal, ["selected"]);
}

import type { GraphOptions } from "../graph/options.ts";
import type { ViewOptions } from "../shared/ui/view_options.ts";

/** Traits of the Python `ComparisonView`. */
export interface ComparisonOptions {
  linked: boolean;
  /** The only kind of difference that is listed. */
  kind: string | null;
  color_by: string;
  fold_parameters: boolean;
  direction: "down" | "right";
  grouped: boolean;
  height: number;
}

const SHARED = ["color_by", "fold_parameters", "direction", "grouped"] as const;
type Shared = (typeof SHARED)[number];

/** What a graph of a comparison is shown with: some of it is the comparison's, the rest its own as long as it is there. */
export function graphOptions(
  options: ViewOptions<ComparisonOptions>,
  own: Partial<GraphOptions>,
): ViewOptions<GraphOptions> {
  const values: Partial<GraphOptions> = {
    focus: null,
    hops: null,
    color_limits: null,
    label: "",
    _color_columns: {},
    _color_paused: false,
    search: "",
    isolate: null,
    hidden: [],
    camera: null,
    open_groups: null,
    wrapped: false,
    group: null,
    history: {},
    bookmarks: {},
    ...own,
  };
  const listeners = new EventTarget();
  const shared = (name: string): name is Shared => SHARED.includes(name as Shared);
  return {
    get: (name) => (shared(name) ? options.get(name) : values[name]) as never,
    set: (name, value) => {
      if (shared(name)) {
        options.set(name, value as never);
      } else if (JSON.stringify(values[name]) !== JSON.stringify(value)) {
        values[name] = value;
        listeners.dispatchEvent(new Event(name));
      }
    },
    onChange: (name, listener, signal) => {
      if (shared(name)) options.onChange(name, listener, signal);
      else listeners.addEventListener(name, listener, { signal });
    },
  };
}

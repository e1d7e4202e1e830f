import { COPY_KEY } from "../shell/code_copy.ts";
import { bindKeys, type KeyAction } from "../shell/keys.ts";
import { mounted } from "../shell/mount.ts";
import { paletteAction } from "../shell/palette.ts";
import { fullScreenAction, type Mount, type ViewContext } from "../shell/view.ts";
import { Entries } from "./entries.ts";
import { Inspector } from "./inspector.ts";
import { following } from "./layout_picker.ts";
import { CELLS, MAPS, RANGE_NAMES, switched } from "./picture/color_controls.ts";
import { SCALE_CHOICES } from "./picture/color_scale.ts";
import { planeOf, swapped } from "./plane.ts";
import { opening } from "./requested_view.ts";
import { type KeptOptions, SHOWS, type TensorOptions } from "./state.ts";

const PAGE = 16;
const STRIDE = 10;
/** Share of the visible part that one key moves by. */
const PAN = 0.25;
/** Rows and columns that an arrow key moves by. */
const ARROWS: Record<string, readonly [rows: number, cols: number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

function actions(inspector: Inspector): KeyAction[] {
  const { panels, steering, wish } = inspector;
  const arrow = ({ key, shiftKey }: KeyboardEvent) => {
    const [rows, cols] = ARROWS[key]!;
    const inPicture = panels.shown?.show === "heatmap";
    const stride = shiftKey ? STRIDE : 1;
    if (shiftKey && inPicture) steering.mark(rows, cols);
    else steering.move(rows * stride, cols * stride);
  };
  const end = Number.MAX_SAFE_INTEGER;
  const either = (first: string, does: (by: 1 | -1) => void) => (event: KeyboardEvent) =>
    does(
      first.split(" ").includes(event.key.length === 1 ? event.key.toLowerCase() : event.key)
        ? -1
        : 1,
    );
  const pans = Object.keys(ARROWS).map((key) => `Ctrl+${key}`);
  const pan = ({ key }: KeyboardEvent) => {
    const [rows, cols] = ARROWS[key]!;
    steering.pan(cols * PAN, rows * PAN);
  };

  const list: [keys: string, does: string, run: (event: KeyboardEvent) => void][] = [
    ["ArrowUp ArrowDown ArrowLeft ArrowRight", "move the crosshair (Shift: mark a region)", arrow],
    ["j", "go to an index", () => panels.readout.focus()],
    ["Home End", "start or end of the row", either("Home", (by) => steering.move(0, by * end))],
    [
      "PageUp PageDown",
      `up or down ${PAGE} rows`,
      either("PageUp", (by) => steering.move(by * PAGE, 0)),
    ],
    ["Escape", "clear the region, then the crosshair", () => panels.clear()],
    ["- + =", "zoom out or in", either("-", (by) => steering.zoom(2 ** by))],
    ["0", "fit the whole heatmap", () => inspector.whole()],
    [pans.join(" "), "pan", pan],
    [
      "m x",
      "go to the minimum or maximum",
      either("m", (by) => inspector.goToExtreme(by < 0 ? "argmin" : "argmax")),
    ],
    ["i", "next NaN or Inf in the heatmap", () => panels.cross.toNextSpecial()],
    [
      ", .",
      "previous or next index of the first fixed axis",
      either(",", (by) => steering.index(by)),
    ],
    ["s", "swap rows and columns", () => inspector.look(swapped)],
    ["[ p ] n", "previous or next tensor", either("[ p", (by) => inspector.step(by))],
    ["/", "search tensors", () => panels.picker.focus()],
    [
      "1 2 3",
      "heatmap, channels, line plot",
      ({ key }) => inspector.display(SHOWS[Number(key) - 1]!),
    ],
    ["Enter", "open the selected channel", () => panels.channels.open()],
    ["a", "next layout", () => panels.nextLayout()],
    ["t", "next axis of the channels or line plot", () => inspector.nextAlong()],
    ["v", "show or hide the values", () => panels.toggleTable()],
    ["f", "values as decimal, hex, bits, dequantized", () => panels.table.nextFormat()],
    ["q", "more or fewer statistics", () => panels.numbers.toggle()],
    ["g", "log counts", () => panels.histogram.toggleLog()],
    ["h", "histogram scale: auto, linear, log or symlog", () => panels.histogram.nextKind()],
    [
      "l",
      "color scale: auto, linear, log or symlog",
      () => inspector.recolor({ scale: following(SCALE_CHOICES, wish.colors.scale) }),
    ],
    ["c", "next color map", () => inspector.recolor({ map: following(MAPS, wish.colors.map) })],
    [
      "r",
      "next color range",
      () => inspector.recolor({ range: following(RANGE_NAMES, wish.colors.range) }),
    ],
    [
      "o",
      "show all values, or leave out far outliers",
      () => inspector.recolor({ range: switched(wish.colors.range) }),
    ],
    [
      "e",
      "downsample by mean, min, max or max abs",
      () => inspector.cells(following(CELLS, wish.cells)),
    ],
    ["k", "stop or resume scanning all values", () => inspector.viewing.toggleCount()],
    ["w", "save this view", () => panels.saving.toggle()],
    [COPY_KEY, "copy Python code for the value, region or heatmap", () => inspector.copy()],
  ];
  const offer = (typed: string) => inspector.offer(typed);
  return list.map(([keys, does, run]) => ({
    ...{ keys: keys.split(" "), does, run },
    ...(keys === "j" && { offer }),
  }));
}

/** Makes an inspector follow its traits and the session. */
function follow(
  inspector: Inspector,
  { options, session, signal }: ViewContext<TensorOptions>,
): void {
  const selected = () => {
    if (session.entry) inspector.show(session.entry, null);
  };
  session.onChange(selected, signal, ["selected", "entry"]);
  session.onChange(() => inspector.noted(), signal, ["notes"]);
  const pending = new Set<string>();
  const lay = () => {
    const wish = opening(options, new Set([...pending, "reading", "data_layout", "data_sizes"]));
    inspector.lay(wish.layout, undefined, wish);
  };
  const plane = () =>
    inspector.look(({ shape, axes, index }) =>
      planeOf(
        shape,
        pending.has("axes") ? options.get("axes") : axes,
        pending.has("index") ? options.get("index") : index,
      ),
    );
  /** In an order in which no step undoes another. */
  const takes: { [K in keyof KeptOptions]: (value: KeptOptions[K]) => void } = {
    entry: (entry) => {
      const more = ["axes", "index", "along", "reading", "data_layout", "data_sizes"];
      // Another view of the same model also reports the entry when it first rests: choices within it stay.
      if (!entry || inspector.shows(entry)) return;
      inspector.show(
        entry,
        more.some((name) => pending.has(name)) ? opening(options, pending) : null,
      );
    },
    reading: (reading) => inspector.read(reading),
    data_layout: lay,
    data_sizes: lay,
    axes: plane,
    index: plane,
    along: (along) => inspector.along(along),
    show: (show) => inspector.display(show),
    region: (region) => inspector.steering.region(region),
    marked_region: (region) => inspector.panels.marked.mark(region),
    color_scale: (scale) => inspector.recolor({ scale }),
    color_map: (map) => inspector.recolor({ map }),
    color_range: (range) => inspector.recolor({ range }),
    cells: (cells) => inspector.cells(cells),
    value_format: (format) => inspector.value({ format }),
    scale: (scale) => inspector.value({ scale }),
    zero_point: (zeroPoint) => inspector.value({ zeroPoint }),
  };
  const names = Object.keys(takes) as (keyof KeptOptions)[];
  const take = () => {
    for (const name of names) {
      if (pending.has(name) && !signal.aborted) takes[name](options.get(name) as never);
    }
    pending.clear();
  };
  for (const name of names) {
    const changed = (isOwn?: boolean) => {
      if (isOwn) return;
      if (pending.size === 0) queueMicrotask(take);
      pending.add(name);
    };
    options.onChange(name, changed, signal);
  }
}

const TITLE = {
  name: "tensor",
  noun: "tensor inspector",
  label: "Tensor inspector",
  data: "list of tensors",
};

export const mountTensor: Mount<TensorOptions> = (root, context) => {
  const { run, options, signal } = context;
  const resize = () => {
    root.style.height = `${options.get("height")}px`;
  };
  options.onChange("height", resize, signal);
  resize();
  const read = () => Promise.all([run.ask("tensors"), run.ask("graph"), run.ask("summary")]);
  return mounted(root, TITLE, signal, read, ([tensors, graph, summary], say) => {
    if (!tensors?.node.length) {
      say("empty", "No tensors", summary.missing.tensors ?? "This run has none.");
      bindKeys(root, [], signal);
      return;
    }
    const inspector = new Inspector(root, context, new Entries(tensors, graph));
    follow(inspector, context);
    const keys = [...actions(inspector), paletteAction(root, context), fullScreenAction(root)];
    bindKeys(root, keys, signal);
    inspector.start();
  });
};

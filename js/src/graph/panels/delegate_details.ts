import { element } from "../../shared/ui/dom.ts";
import { section, table } from "./details_parts.ts";

type Attributes = readonly (readonly [name: string, value: string])[];

/** The operator of a delegate that computes a node: rows in parts, a heading each. */
export interface DelegateFacts {
  title: string;
  parts: (readonly [heading: string, rows: Attributes])[];
}

const OPERATOR = "delegate_node";
const RAN = [OPERATOR, "runs as", "runs in", "match", "came from", "inserted", "inserted for it"];
const SETTINGS = [
  ...["kernel size", "pooling window", "stride", "padding", "dilation", "groups"],
  ...["group input channels", "group output channels", "output padding", "new size", "axis"],
  ...["perm", "new shape", "offsets", "sizes", "pre paddings", "post paddings", "padding value"],
  ...["alpha", "negative slope", "flags", "fused activation", "bounds", "layout"],
];
const QUANTIZATION = " quantization";
const KERNEL = "kernel";
/** How it is called in the program, which its section or the boxes around it say. */
const SAID = ["kind", "delegate", "delegate_index", "backend"];
const WORDS: Record<string, string> = {
  [OPERATOR]: "operator",
  "group input channels": "input channels",
  "group output channels": "output channels",
};
const TITLES: Record<string, string> = { Xnnpack: "XNNPACK", Qnn: "QNN" };

/** What attributes tell of the delegate's operator, in an order that can be read, and the others. */
export function delegateOf(attrs: Attributes): {
  delegate: DelegateFacts | null;
  attrs: Attributes;
} {
  const left = new Map(attrs);
  if (!left.has(OPERATOR)) return { delegate: null, attrs };
  const call = left.get("delegate") ?? "";
  const [backend = "", ...where] = call.split(", ");
  const name = (left.get("backend") ?? backend).replace(/Backend$/, "");
  const taken = (names: Iterable<string>): Attributes => {
    const found = [...names].filter((each) => left.has(each));
    const rows = found.map((each) => [shown(each), left.get(each)!] as const);
    for (const each of found) left.delete(each);
    return rows;
  };
  const kernel = partsOf(left.get(KERNEL) ?? "");
  for (const each of [KERNEL, ...SAID]) left.delete(each);
  const quantized = [...left.keys()].filter((each) => each.endsWith(QUANTIZATION));
  const parts: DelegateFacts["parts"] = [
    ["", taken(RAN)],
    ["settings", taken(SETTINGS)],
    ["quantization", taken(quantized)],
    ["in the name", kernel],
  ];
  const title = [TITLES[name] ?? (name || "delegate"), ...where].join(", ");
  return { delegate: { title, parts: parts.filter(([, rows]) => rows.length) }, attrs: [...left] };
}

/** `F32: 32-bit floats; GEMM: matrix multiplication` by its parts. */
function partsOf(text: string): Attributes {
  const found: [string, string][] = [];
  for (const part of text.split("; ")) {
    const [name = "", ...rest] = part.split(": ");
    if (rest.length) found.push([name, rest.join(": ")]);
    else if (found.length) found.at(-1)![1] += `; ${part}`;
  }
  return found;
}

function shown(name: string): string {
  return WORDS[name] ?? name.replace(new RegExp(`${QUANTIZATION}$`), "");
}

export function delegateSection({ title, parts }: DelegateFacts): HTMLElement {
  return section(
    title,
    ...parts.flatMap(([heading, rows]) => [
      heading ? element("h5", {}, heading) : null,
      table(rows),
    ]),
  );
}

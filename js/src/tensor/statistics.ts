import { button, element } from "../shared/dom.ts";
import type { ExactNumber } from "../shared/tensor_questions.ts";
import { piece } from "./parts.ts";
import { indexText } from "./plane.ts";
import type { Acts, Shown } from "./state.ts";

/** The numbers of the whole tensor; the places of its extremes are links into the picture. */
export function statisticsTable({ statistics: known }: Shown, acts: Pick<Acts, "go">): HTMLElement {
  const section = element("section", {
    class: "tvmdbg-tensor-statistics",
    "aria-label": "Statistics of the whole tensor",
  });
  const statistics = known?.statistics;
  const go = (index: readonly number[]) => acts.go(index, "stored");
  if (!statistics) {
    section.append(element("p", { class: "tvmdbg-muted" }, "not known"));
    return section;
  }
  const { minimum, maximum, mean, std, argmin, argmax } = statistics;
  section.append(
    element(
      "table",
      {},
      row("min", minimum, argmin, "Go to the minimum (m)", go),
      row("max", maximum, argmax, "Go to the maximum (x)", go),
      row("mean", mean),
      row("std", std),
    ),
  );
  if (statistics.finite < statistics.size) {
    section.append(element("p", { class: "tvmdbg-muted" }, "of the finite values only"));
  }
  return section;
}

function row(
  name: string,
  number: ExactNumber,
  index: number[] | null = null,
  title = "",
  go: (index: readonly number[]) => void = () => {},
): HTMLElement {
  const link = index && button(`at ${indexText(index)}`, title, () => go(index));
  link?.setAttribute("aria-label", `${title}: ${indexText(index!)}`);
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, name),
    element("td", {}, piece("number", number.text || "none"), link),
  );
}

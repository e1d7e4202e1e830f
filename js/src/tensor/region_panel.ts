import { button, element } from "../shared/dom.ts";
import { integer } from "../shared/format.ts";
import { errorText } from "../shared/message.ts";
import { aboutText } from "../shared/number_text.ts";
import type { ExactNumber, RegionAnswer, TensorAnswer } from "../shared/tensor_questions.ts";
import { placeText } from "./code_text.ts";
import { muted, part, piece } from "./parts.ts";
import { sizeWords, sourceWords, specialWords } from "./region_words.ts";
import type { Region } from "./state.ts";

interface Events {
  copy(): void;
  /** Brings the region into sight. */
  zoomTo(): void;
  clear(): void;
}

/** What the marked region holds: counts, bounds, mean and a small histogram. */
export class RegionPanel {
  readonly node = element("section", {
    class: "tvmdbg-tensor-region",
    "aria-label": "Marked region",
    hidden: true,
  });
  readonly #place = element("code", {});
  readonly #size = muted();
  readonly #facts = part("region-facts");
  #dtype = "";

  constructor(events: Events) {
    this.node.append(
      part("region-head", element("strong", {}, "Region"), this.#place),
      part(
        "region-bar",
        this.#size,
        button("copy", "Copy Python code for the region (y)", () => events.copy()),
        button("zoom to", "Zoom to the region", () => events.zoomTo()),
        button("clear", "Clear the region (Esc)", () => events.clear()),
      ),
      this.#facts,
    );
  }

  hide(): void {
    this.node.hidden = true;
  }

  /** The numbers of the region before stay, dimmed, until the new ones come. */
  wait(answer: TensorAnswer, region: Region): void {
    this.node.hidden = false;
    this.node.dataset.ready = "false";
    this.#dtype = answer.dtype;
    this.#place.textContent = placeText(answer, region);
    this.#size.textContent = sizeWords(region);
  }

  show(found: RegionAnswer): void {
    this.node.dataset.ready = "true";
    const source = sourceWords(found);
    const special = specialWords(found);
    this.#facts.replaceChildren(
      part(
        "region-numbers",
        fact("min", found.minimum, this.#dtype),
        fact("max", found.maximum, this.#dtype),
        fact("mean", found.mean, null),
        special === "all finite" ? muted(special) : piece("loud", special),
        found.zero ? muted(`${integer(found.zero)} zero`) : null,
      ),
      ...bars(found),
      source && muted(source),
    );
  }

  fail(error: unknown): void {
    this.node.dataset.ready = "true";
    this.#facts.replaceChildren(
      element(
        "div",
        { class: "tvmdbg-error" },
        `The region could not be read: ${errorText(error)}`,
      ),
    );
  }
}

/** A number in its own dtype, short; one that was computed as it is told. */
function fact(name: string, { text, value }: ExactNumber, dtype: string | null): HTMLElement {
  const shown = value === null || dtype === null ? text : aboutText(value, dtype);
  return element("span", { title: text }, muted(name), piece("number", shown));
}

function bars({ histogram }: RegionAnswer): HTMLElement[] {
  if (!histogram) return [];
  const { counts, edges, exact } = histogram;
  const most = Math.max(...counts);
  const [low, high] = [edges[0]!, edges.at(-1)!];
  const ends = `${aboutText(low)} to ${aboutText(high)}`;
  const about = exact ? "" : "≈ ";
  const chart = element("div", {
    class: "tvmdbg-tensor-region-bars",
    role: "img",
    "aria-label": `Histogram of the region, ${ends}, max count ${about}${integer(most)}`,
  });
  counts.forEach((count, bin) => {
    const bar = element("span", {
      title: `${aboutText(edges[bin]!)} … ${aboutText(edges[bin + 1]!)}: ${about}${integer(count)}`,
    });
    bar.style.setProperty("--share", String(count / most));
    chart.append(bar);
  });
  return [
    chart,
    part(
      "region-ends",
      element("span", {}, aboutText(low)),
      muted(`max count ${about}${integer(most)}`),
      element("span", {}, aboutText(high)),
    ),
  ];
}

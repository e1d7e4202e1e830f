// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import { element, iconButton, select } from "../../src/shell/dom.ts";
import { bindKeys } from "../../src/shell/keys.ts";
import { actionCommands, type Commands, matching } from "../../src/shell/palette.ts";

function named(...names: string[]): Commands {
  return {
    texts: names.map((name) => name.toLowerCase()),
    at: (index) => ({ label: names[index]!, kind: "", value: "", run: () => {} }),
  };
}

const labels = (query: string, ...sources: Commands[]) =>
  matching(sources, query, 50).commands.map(({ label }) => label);

describe("matching", () => {
  it("ranks matches at the start first, then at word starts, then elsewhere", () => {
    const nodes = named("reduce_max #7", "global max pool #3", "maximum #12");
    expect(labels("max", nodes)).toEqual(["maximum #12", "global max pool #3", "reduce_max #7"]);
  });

  it("ranks by every word, not by the first alone", () => {
    const actions = named(
      "Show or hide the Graph view",
      "Hide params of the subgraph",
      "hide graph",
    );
    expect(labels("hide graph", actions)).toEqual([
      "hide graph",
      "Show or hide the Graph view",
      "Hide params of the subgraph",
    ]);
  });

  it("puts matches with all words in sequence first", () => {
    const tasks = named("task 2: 3458e754 128×768", "task 31: dense", "Task: task 3: conv2d");
    expect(labels("task 3", tasks)[0]).toBe("Task: task 3: conv2d");
  });

  it("requires every word, in any order and case", () => {
    const nodes = named("conv2d + add #38", "conv2d #3", "add #9");
    expect(labels("38 CONV", nodes)).toEqual(["conv2d + add #38"]);
    expect(labels("conv dense", nodes)).toEqual([]);
  });

  it("keeps the order of the sources, and counts the matches", () => {
    const [findings, nodes] = [named("Inf in conv2d"), named("conv2d #1", "Inf")];
    expect(labels("", findings, nodes)).toEqual(["Inf in conv2d", "conv2d #1", "Inf"]);
    const found = matching([findings, nodes], "", 2);
    expect([found.commands.length, found.total]).toEqual([2, 3]);
  });
});

describe("the actions of a view", () => {
  function view() {
    const done: string[] = [];
    const bar = element("div", { class: "tvmdbg-bar", "aria-label": "memory" });
    bar.append(
      iconButton("fit", "fit", "fit all (0)", () => done.push("fit")),
      select(
        "color by (c)",
        [
          ["time", "time"],
          ["kind", "op kind"],
        ],
        "time",
        (to) => done.push(to),
      ),
    );
    const root = element("div", { class: "tvmdbg" }, bar);
    document.body.replaceChildren(root);
    const key = (keys: string[], does: string) => ({
      keys,
      does,
      run: (event: KeyboardEvent) => void done.push(`${does}: ${event.key}`),
    });
    bindKeys(
      root,
      [
        key(["0"], "fit"),
        key(["p"], "peak (Shift: lowest); again: next"),
        key(["Shift+F"], "full"),
        key(["Home"], "first"),
      ],
      new AbortController().signal,
    );
    const { texts, at } = actionCommands(root);
    return { done, all: texts.map((_, index) => at(index)) };
  }

  it("include its buttons, choices and other keys once each", () => {
    expect(view().all.map(({ label, kind, value }) => [label, kind, value])).toEqual([
      ["Fit all", "memory", "0"],
      ["Color by: time", "memory", ""],
      ["Color by: op kind", "memory", ""],
      ["Peak", "memory", "p"],
      ["Full", "memory", "Shift+F"],
    ]);
  });

  it("have the effects of the controls and keys", () => {
    const { done, all } = view();
    for (const { run } of all) run();
    expect(done).toEqual([
      "fit",
      "time",
      "kind",
      "peak (Shift: lowest); again: next: p",
      "full: F",
    ]);
  });
});

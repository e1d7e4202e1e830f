import { element } from "../../shared/ui/dom.ts";
import { list } from "../parts.ts";
import { axisText } from "../plane.ts";
import type { InspectorCommands, Shown } from "../state.ts";

/** The choice of the axis that is gone along. */
export class AlongPicker {
  readonly node = element("span", {});
  readonly #words: string;
  readonly #title: string;
  readonly #commands: Pick<InspectorCommands, "along" | "leave">;

  constructor(words: string, title: string, commands: Pick<InspectorCommands, "along" | "leave">) {
    this.#words = words;
    this.#title = title;
    this.#commands = commands;
  }

  /** Keeps the keyboard while the choices change. */
  show({ answer, along }: Shown, axes: readonly number[]): void {
    const held = this.node.contains(document.activeElement);
    const choice = list(
      this.#commands.leave,
      this.#title,
      axes.map((axis) => {
        const name = axisText(answer!.axisNames, axis);
        return [String(axis), `${name} (${answer!.viewShape[axis]})`] as const;
      }),
      String(along),
      (axis) => this.#commands.along(Number(axis)),
    );
    this.node.replaceChildren(...(axes.length ? [element("label", {}, this.#words, choice)] : []));
    if (held) choice.focus({ preventScroll: true });
  }
}

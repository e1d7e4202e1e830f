import type { TensorAnswer } from "../../shared/client/tensor_questions.ts";
import { button } from "../../shared/ui/dom.ts";
import { logicalIndex } from "../../shared/unfold.ts";
import { indexText } from "../plane.ts";
import type { InspectorCommands } from "../state.ts";

/** A link to a value by its stored index, which says where it is among the axes shown. */
export function placeButton(
  answer: TensorAnswer | null,
  stored: readonly number[] | null,
  title: string,
  commands: Pick<InspectorCommands, "go">,
  before = "at ",
): HTMLButtonElement | null {
  if (!stored) return null;
  const shown = indexText(answer ? logicalIndex(answer, stored) : stored);
  const unfolded = answer?.layout ? `, stored at ${indexText(stored)}` : "";
  const node = button(`${before}${shown}`, `${title}${unfolded}`, () =>
    commands.go(stored, "stored"),
  );
  node.dataset.key = title;
  return node;
}

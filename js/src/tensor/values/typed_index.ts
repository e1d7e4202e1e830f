import { counted } from "../../shared/format.ts";
/** The index that was typed, `0,3,2,1`, `[0, 3, 2, 1]` or `0 3 2 1`, counted from the end where negative; or why it is none. */
export function typedIndex(text: string, shape: readonly number[]): number[] | string {
  const plain = text.replace(/^\s*[[(]|[\])]\s*$/g, "").trim();
  const words = plain.split(/[\s,]+/).filter(Boolean);
  if (!words.every((word) => /^[-−]?\d+$/.test(word))) return "expected integers, such as 0,3,2,1";
  const axes = counted(shape.length, "axis");
  if (words.length !== shape.length) return `the tensor has ${axes}: [${shape.join(", ")}]`;
  const index = words.map((word, axis) => {
    const at = Number(word.replace("−", "-"));
    return at < 0 ? at + shape[axis]! : at;
  });
  const wrong = index.findIndex((at, axis) => at < 0 || at >= shape[axis]!);
  return wrong < 0 ? index : `axis ${wrong} has indices 0 to ${shape[wrong]! - 1}`;
}

/** The choice after this one, round and round; the first behind what is none of them. */
export function following<T>(choices: readonly T[], choice: unknown): T {
  return choices[(choices.indexOf(choice as T) + 1) % choices.length]!;
}

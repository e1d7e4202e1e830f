/** Moves by the arrow keys, or by Home, End and pages; whether the key was one of them. */
export function arrows(
  key: string,
  across: (by: number) => void,
  down: (by: number) => void,
  page: number,
): boolean {
  const moves: Record<string, readonly [move: (by: number) => void, by: number]> = {
    ArrowLeft: [across, -1],
    ArrowRight: [across, 1],
    Home: [across, -Infinity],
    End: [across, Infinity],
    ArrowUp: [down, -1],
    ArrowDown: [down, 1],
    PageUp: [down, -page],
    PageDown: [down, page],
  };
  const [move, by] = moves[key] ?? [];
  move?.(by!);
  return move !== undefined;
}

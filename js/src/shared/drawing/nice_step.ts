/** 1, 2 or 5 times a power of ten, `least` or more. */
export function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  const rest = least / power;
  return power * (rest <= 1 ? 1 : rest <= 2 ? 2 : rest <= 5 ? 5 : 10);
}

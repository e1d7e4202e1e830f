/** Never 0 % of something nor 100 % of less than all. */
export function share(count: number, size: number): string {
  if (count === 0 || size === 0) return "";
  const percent = (100 * count) / size;
  if (percent < 0.1) return " (< 0.1 %)";
  if (percent > 99.9 && count < size) return " (> 99.9 %)";
  return ` (${percent.toFixed(1)} %)`;
}

/** What the axes of a vector type are called, as `axis_names` of model/array_values.py does. */

export interface LaneAxes {
  /** Empty for a type without lanes. */
  names: string[];
  /** Whether the file lacks some of the lanes. */
  missing: boolean;
}

/**
 * @param dtype  such as "float32x4".
 * @param declared  the shape that the file declares.
 * @param shape  of the values as they are read.
 */
export function laneAxes(dtype: string, declared: number[], shape: number[]): LaneAxes {
  const isVector = !dtype.includes("xvscale") && /.x(\d+)$/.exec(dtype.replace("complex", "c"));
  const lanes = isVector ? Number(isVector[1]) : 1;
  if (lanes <= 1) return { names: [], missing: false };
  if (shape.length <= declared.length || shape[declared.length] !== lanes) {
    return { names: ["stored lane value"], missing: true };
  }
  const axes = declared.map((_, axis) => `axis ${axis}`);
  const byte = shape.length > declared.length + 1 ? ["byte"] : [];
  return { names: [...axes, "lane", ...byte], missing: false };
}

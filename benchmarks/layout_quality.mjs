// Judges a picture of a graph by what is drawn, the same for every layout: boxes by their centers, lines as polylines.

/** Height of the bands by which segments are compared, px. */
const BAND = 40;

function segmentsOf(strokes, tensorOf) {
  const segments = [];
  for (const { edge, points } of strokes) {
    for (let i = 0; i + 3 < points.length; i += 2) {
      let [x0, y0, x1, y1] = [points[i], points[i + 1], points[i + 2], points[i + 3]];
      if (y0 > y1) [x0, y0, x1, y1] = [x1, y1, x0, y0];
      segments.push({ edge, tensor: tensorOf[edge], x0, y0, x1, y1 });
    }
  }
  return segments;
}

function byBand(items, low, high) {
  const bands = new Map();
  items.forEach((item) => {
    for (let b = Math.floor(low(item) / BAND); b <= Math.floor(high(item) / BAND); b++) {
      if (bands.has(b)) bands.get(b).push(item);
      else bands.set(b, [item]);
    }
  });
  return bands;
}

/** Where two segments cross in their insides, y; NaN where they do not. */
function crossing(p, q) {
  const side = (s, x, y) => (s.x1 - s.x0) * (y - s.y0) - (s.y1 - s.y0) * (x - s.x0);
  const [a, b] = [side(p, q.x0, q.y0), side(p, q.x1, q.y1)];
  const [c, d] = [side(q, p.x0, p.y0), side(q, p.x1, p.y1)];
  const cross = ((a > 0 && b <= 0) || (a <= 0 && b > 0)) && ((c > 0 && d <= 0) || (c <= 0 && d > 0));
  return cross ? q.y0 + ((q.y1 - q.y0) * a) / (a - b) : Number.NaN;
}

/**
 * Crossings of lines of different tensors; `merged`: as if the lines of a tensor were one down to the rank above each reader,
 * so that between two ranks two tensors' trunks, or one's trunk and a branch to one reader, cross once.
 */
function crossings(strokes, tensorOf, rankAt, rankOf) {
  const segments = segmentsOf(strokes, tensorOf);
  const bands = byBand(segments, (s) => s.y0, (s) => s.y1);
  let all = 0;
  const merged = new Set();
  for (const [band, members] of bands) {
    members.sort((p, q) => Math.min(p.x0, p.x1) - Math.min(q.x0, q.x1));
    for (let i = 0; i < members.length; i++) {
      const p = members[i];
      const right = Math.max(p.x0, p.x1);
      for (let j = i + 1; j < members.length; j++) {
        const q = members[j];
        if (Math.min(q.x0, q.x1) > right) break;
        if (p.tensor === q.tensor) continue;
        const y = crossing(p, q);
        if (Number.isNaN(y) || Math.floor(y / BAND) !== band) continue;
        all++;
        const gap = rankAt(y);
        const piece = ({ edge, tensor }) => (rankOf[edge] === gap ? `e${edge}` : `t${tensor}`);
        merged.add(`${gap} ${[piece(p), piece(q)].sort().join(" ")}`);
      }
    }
  }
  return { all, merged: merged.size };
}

function overBoxes(input, { x, y, strokes }) {
  const inset = 0.5;
  const boxes = Array.from(x, (_, v) => ({
    v,
    x0: x[v] - input.width[v] / 2 + inset,
    x1: x[v] + input.width[v] / 2 - inset,
    y0: y[v] - input.height[v] / 2 + inset,
    y1: y[v] + input.height[v] / 2 - inset,
  }));
  const bands = byBand(boxes, (b) => b.y0, (b) => b.y1);
  const hits = new Set();
  for (const { edge, points } of strokes) {
    for (let i = 0; i + 3 < points.length; i += 2) {
      const [ax, ay, bx, by] = [points[i], points[i + 1], points[i + 2], points[i + 3]];
      for (let b = Math.floor(Math.min(ay, by) / BAND); b <= Math.floor(Math.max(ay, by) / BAND); b++) {
        for (const box of bands.get(b) ?? []) {
          if (box.v === input.source[edge] || box.v === input.target[edge]) continue;
          let [from, to] = [0, 1];
          for (const [s, d, low, high] of [
            [ax, bx - ax, box.x0, box.x1],
            [ay, by - ay, box.y0, box.y1],
          ]) {
            if (d === 0) {
              if (s <= low || s >= high) to = -1;
            } else {
              from = Math.max(from, Math.min((low - s) / d, (high - s) / d));
              to = Math.min(to, Math.max((low - s) / d, (high - s) / d));
            }
          }
          if (from < to) hits.add(`${edge} ${box.v}`);
        }
      }
    }
  }
  return hits.size;
}

const lengthOf = (strokes) => {
  let sum = 0;
  for (const { points } of strokes) {
    for (let i = 2; i < points.length; i += 2) {
      sum += Math.hypot(points[i] - points[i - 2], points[i + 1] - points[i - 1]);
    }
  }
  return sum;
};

/** Links of chains, from a box with one reader to one with no other input but parameters: how many are upright, and how far off. */
function straightness(input, { x }) {
  const readers = new Int32Array(input.count);
  const inputs = new Int32Array(input.count);
  const computed = new Uint8Array(input.count);
  for (const t of input.target) computed[t] = 1;
  for (let e = 0; e < input.source.length; e++) {
    readers[input.source[e]]++;
    if (computed[input.source[e]]) inputs[input.target[e]]++;
  }
  let [links, upright, drift] = [0, 0, 0];
  for (let e = 0; e < input.source.length; e++) {
    const [s, t] = [input.source[e], input.target[e]];
    if (!computed[s] || readers[s] !== 1 || inputs[t] !== 1) continue;
    links++;
    const off = Math.abs(x[s] - x[t]);
    if (off < 0.5) upright++;
    drift += off;
  }
  return { upright: upright / Math.max(1, links), drift: drift / Math.max(1, links) };
}

export function measure(input, picture) {
  const { x, y, strokes, paths } = picture;
  const tensorOf = Array.from(input.source, (s, e) => s * 16 + input.sourceSlot[e]);
  const ranks = [...new Set(Array.from(y, Math.round))].sort((a, b) => a - b);
  const rankAt = (at) => {
    let [low, high] = [0, ranks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ranks[middle] <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  let [minX, maxX, minY, maxY] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let v = 0; v < input.count; v++) {
    minX = Math.min(minX, x[v] - input.width[v] / 2);
    maxX = Math.max(maxX, x[v] + input.width[v] / 2);
    minY = Math.min(minY, y[v] - input.height[v] / 2);
    maxY = Math.max(maxY, y[v] + input.height[v] / 2);
  }
  for (const { points } of strokes) {
    for (let i = 0; i < points.length; i += 2) {
      minX = Math.min(minX, points[i]);
      maxX = Math.max(maxX, points[i]);
    }
  }
  const rankOf = Array.from(input.target, (t) => rankAt(Math.round(y[t])) - 1);
  const drawn = crossings(strokes, tensorOf, rankAt, rankOf);
  const perEdge = crossings(paths, tensorOf, rankAt, rankOf);
  const shared = strokes === paths;
  return {
    drawn: shared ? drawn.merged : drawn.all,
    merged: perEdge.merged,
    perEdge: perEdge.all,
    ink: lengthOf(strokes) / 1e6,
    edgeInk: lengthOf(paths) / 1e6,
    area: ((maxX - minX) * (maxY - minY)) / 1e6,
    width: maxX - minX,
    bends: strokes.reduce((sum, { points }) => sum + points.length / 2 - 2, 0),
    over: overBoxes(input, picture),
    ...straightness(input, picture),
  };
}

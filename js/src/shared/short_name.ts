/** Names in a file may have any length. */
const MOST_LETTERS = 2000;
const LONG_WORD = 80;
/** A word of a phrase or of a name with its separator, and with the node number or a verdict's sign before it. */
const WORD =
  /\([^)]*\)[\s_]*|× \d+\s*|(?:[✕!?] )?(?:#\d+(?::\d+)? )?[^\s_./:+,·×|]+(?:[\s_./:+,·|]|×(?! ))*|[\s_./:+,·×|]+/gu;
const BETWEEN = /[\s_./:+,·×|]+$/u;
const FUSED = " + ";

/**
 * A name in the room there is, a number of letters or a test: shortened in the middle, its node id first and kept
 * longest. Of fused operators the first and the last: `#38 conv2d + … + relu`. Of other texts complete words from the
 * beginning and the end around an ellipsis, or if there is no room for both only the beginning of a phrase or the end
 * of a name; a first word that is too long is cut at its end. Empty if not even three letters would fit.
 */
export function shortName(long: string, room: number | ((words: string) => boolean)): string {
  const fits =
    typeof room === "number" ? (words: string) => Array.from(words).length <= room : room;
  const half = MOST_LETTERS / 2;
  const text = long.length > MOST_LETTERS ? long.slice(0, half) + long.slice(-half) : long;
  if (fits(text)) return text;
  const fused = text.split(FUSED);
  const isFused = fused.length > 2 || (fused.length > 1 && !text.includes("×"));
  const words = isFused ? fused : (text.match(WORD) ?? [text]);
  const most = words.length - 1;
  const cut = (heads: number, tails: number) => {
    const ends = words.slice(words.length - tails);
    if (isFused) return [...words.slice(0, heads), "…", ...(tails ? ends : [])].join(FUSED);
    const head = words.slice(0, heads).join("").replace(BETWEEN, "");
    return `${head}…${tails ? ends.join("") : ""}`;
  };
  const isPhrase = text.includes(" ");
  let [heads, tails] = [1, most > (isFused ? 1 : 0) && !text.endsWith(")") ? 1 : 0];
  if (tails && !fits(cut(1, 1))) {
    const tellsNothing = words[most]!.length < 3;
    [heads, tails] = isPhrase || tellsNothing || !fits(cut(0, 1)) ? [1, 0] : [0, 1];
  }
  if (!fits(cut(heads, tails))) return firstLetters(words[0]!.replace(BETWEEN, ""), fits);
  const holds = (head: number, tail: number) => head + tail <= most && fits(cut(head, tail));
  for (let was = 0; was < heads + tails; ) {
    was = heads + tails;
    if (isPhrase && heads && holds(heads + 1, tails)) heads++;
    if (tails && holds(heads, tails + 1)) tails++;
    else if (heads && holds(heads + 1, tails)) heads++;
  }
  const shown = cut(heads, tails).replace("… + …", "…");
  return shown === "…" ? "" : shown;
}

/** The beginning of a word; of a node's name at least its id. */
function firstLetters(word: string, fits: (words: string) => boolean): string {
  const id = /^#\d+(?::\d+)?(?= )/.exec(word)?.[0] ?? "";
  const letters = Array.from(word).slice(0, LONG_WORD);
  const least = id ? id.length + 4 : 3;
  while (letters.length >= least && !fits(`${letters.join("")}…`)) letters.pop();
  if (letters.length >= least) return `${letters.join("")}…`;
  return fits(id) ? id : "";
}

// Pairs of rules, one that all style sheets share and one of a view, that have the same specificity and set the same
// property of an element that is there: which of them holds would depend on the order of the sheets. States count as
// possible, and so do conditions of media and containers.
([own, shared]) => {
  const closing = (text, from) => {
    let depth = 0;
    for (let at = from; at < text.length; at++) {
      if (text[at] === "(") depth++;
      if (text[at] === ")" && --depth === 0) return at;
    }
    return text.length;
  };
  const parts = (text) => {
    const found = [];
    let [depth, begin] = [0, 0];
    for (let at = 0; at <= text.length; at++) {
      if ("([".includes(text[at] ?? " ")) depth++;
      if (")]".includes(text[at] ?? " ")) depth--;
      if (at < text.length && (text[at] !== "," || depth > 0)) continue;
      found.push(text.slice(begin, at).trim());
      begin = at + 1;
    }
    return found;
  };
  const weigh = (selector) => {
    let [text, sum] = [selector, 0];
    for (let hit; (hit = /:(where|is|not|has)\(/.exec(text)); ) {
      const open = hit.index + hit[0].length - 1;
      const close = closing(text, open);
      if (hit[1] !== "where") sum += Math.max(...parts(text.slice(open + 1, close)).map(weigh));
      text = text.slice(0, hit.index) + text.slice(close + 1);
    }
    const taken = (pattern) => {
      const count = text.match(pattern)?.length ?? 0;
      text = text.replace(pattern, "");
      return count;
    };
    text = text.replace(/(:nth[\w-]*)\([^)]*\)/g, "$1");
    const attributes = taken(/\[[^\]]*\]/g);
    const types = taken(/::[\w-]+/g);
    return sum + 1000 * (attributes + taken(/[.:][\w-]+/g)) + types + taken(/[a-z][\w-]*/gi);
  };
  const STATES =
    /:(hover|focus-visible|focus-within|focus|active|disabled)|\[aria-(pressed|disabled|selected|expanded)[^\]]*\]/g;
  const flat = (rules) =>
    [...rules].flatMap((rule) => (rule.cssRules?.length && !rule.selectorText ? flat(rule.cssRules) : [rule]));
  const rulesOf = (css) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    const styles = flat(sheet.cssRules).filter((rule) => rule.selectorText);
    return styles.flatMap(({ selectorText, style }) =>
      parts(selectorText).map((selector) => {
        const pseudo = /::[\w-]+$/.exec(selector)?.[0] ?? "";
        const stateless = selector.replace(STATES, ":is(*)");
        return {
          key: selector + style.cssText,
          selector,
          style,
          pseudo,
          weight: weigh(selector),
          target: stateless.slice(0, stateless.length - pseudo.length) || "*",
        };
      }),
    );
  };
  const sheets = shared.map((css) => new Map(rulesOf(css).map((rule) => [rule.key, rule])));
  const common = [...sheets[0].values()].filter(({ key }) => sheets.every((sheet) => sheet.has(key)));
  const known = new Set(common.map(({ key }) => key));
  const views = rulesOf(own).filter(({ key }) => !known.has(key));
  const elements = [...document.querySelectorAll(".tvmdbg, .tvmdbg *")];
  const targets = new Map();
  const targetsOf = ({ target }) => {
    if (!targets.has(target)) targets.set(target, elements.filter((each) => each.matches(target)));
    return targets.get(target);
  };
  const ties = [];
  for (const one of common) {
    for (const other of views) {
      if (other.weight !== one.weight || other.pseudo !== one.pseudo) continue;
      const [a, b] = [one.style, other.style];
      // A shorthand with a variable has no value by its parts.
      const differs = (name) => !a.getPropertyValue(name) || a.getPropertyValue(name) !== b.getPropertyValue(name);
      const names = [...a].filter((name) => [...b].includes(name) && differs(name));
      if (names.length === 0) continue;
      const here = new Set(targetsOf(one));
      if (targetsOf(other).some((each) => here.has(each)))
        ties.push(`${one.selector} | ${other.selector}: ${names.join(" ")}`);
    }
  }
  return [common.length, views.length, ties];
}

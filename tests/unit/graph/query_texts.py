"""Queries written from trees: what a parser must read again, told by no parser."""

from typing import Any

from hypothesis import strategies as st

TEXTS = ("name", "func", "kind", "dtype", "device", "layout", "group", "op", "attr.some_key")
NUMBERS = ("id", "storage", "rank", "inputs", "outputs", "consumers", "depth", "attr.some_key")
UNITS = {
    "time": {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9},
    "share": {"%": 0.01},
    "bytes": {"": 1.0, "B": 1.0, "KB": 1e3, "kib": 1024.0, "MiB": 2.0**20, "GB": 1e9},
}
SIGNS = ("<", "<=", ">", ">=", "=", "!=", "==", ":")

Tree = list[Any]
#: A tree, and its text.
Written = tuple[Tree, str]

_letters = st.text("abcxyz012_ ()|>", min_size=1, max_size=8)
_quoted = st.tuples(_letters, st.sampled_from("\"'")).map(
    lambda pair: ("has", pair[0], f"{pair[1]}{pair[0].upper()}{pair[1]}")
)
_glob = st.from_regex(r"[a-c1_]{0,4}[*?][a-c1_*?]{0,4}", fullmatch=True).map(
    lambda text: ("glob", text, text)
)
_regex = st.sampled_from(["conv.*_[1-4]$", r"^p\\d+$", "a|b", "(ab)+x{2,3}", "[^a]"]).map(
    lambda text: ("regex", text, f"/{text}/")
)
_pattern = st.one_of(_quoted, _glob, _regex)


def _text(field: str, sign: str, pattern: tuple[str, str, str]) -> Written:
    mode, text, written = pattern
    mode = "is" if mode == "has" and sign != ":" else mode
    return ["text", field, mode, text, sign == "!="], f"{field}{sign}{written}"


@st.composite
def _compare(draw: st.DrawFn) -> Written:
    field = draw(st.sampled_from([*NUMBERS, *UNITS]))
    sign = draw(st.sampled_from(SIGNS))
    if field.startswith("attr."):  # a text, unless it is compared
        sign = draw(st.sampled_from(SIGNS[:4]))
    number = draw(st.sampled_from(["0", "7", "2.5", ".5", "1e3", "-4", "+2.", "123456789"]))
    unit, factor = draw(st.sampled_from([*UNITS.get(field, {"": 1.0}).items()]))
    space = draw(st.sampled_from(["", " "])) if unit else ""
    by = {":": "=", "==": "="}.get(sign, sign)
    return ["compare", field, by, float(number) * factor], f"{field}{sign}{number}{space}{unit}"


@st.composite
def _shape(draw: st.DrawFn) -> Written:
    size = st.sampled_from(["1", "64", "*", "?0", "6?", "..."])
    sizes = draw(st.lists(size, min_size=1, max_size=5))
    sign = draw(st.sampled_from([":", "=", "!="]))
    way = draw(st.sampled_from([",", "x", "(, )", "[,]"]))
    written = f"{way[0]}{way[1:-1].join(sizes)}{way[-1]}" if way[0] in "([" else way.join(sizes)
    return ["shape", sizes, sign == "!="], f"shape{sign}{written}"


TERMS: st.SearchStrategy[Written] = st.one_of(
    st.integers(0, 999_999_999).map(lambda node: (["id", node], f"#{node}")),
    _pattern.map(lambda each: (["word", *each[:2]], each[2])),
    st.builds(_text, st.sampled_from(TEXTS), st.sampled_from([":", "=", "!="]), _pattern),
    _compare(),
    _shape(),
)


def trees() -> st.SearchStrategy[Tree]:
    """Trees whose leaves hold their text; :func:`written` takes both apart."""
    return st.recursive(
        TERMS.map(lambda each: ["term", each]),
        lambda inner: st.one_of(
            st.tuples(st.sampled_from(["not ", "-", "NOT "]), inner).map(lambda two: ["not", *two]),
            *(
                st.tuples(st.sampled_from(between), st.lists(inner, min_size=2, max_size=3)).map(
                    lambda two, kind=kind: [kind, *two]
                )
                for kind, between in (
                    ("and", [" ", " and ", " AND "]),
                    ("or", [" or ", "|", " OR "]),
                    ("path", [" -> ", "->> ", " ->>"]),
                )
            ),
        ),
        max_leaves=8,
    )


#: How tightly each binds; a part that binds no tighter than what holds it stands in parentheses.
_BINDS = {"or": 0, "and": 1, "not": 2, "path": 3, "term": 4}


def written(made: Tree) -> Written:
    """Return the tree and its text, with no more parentheses than it needs."""
    kind, *rest = made
    if kind == "term":
        tree, text = rest[0]
        return tree, text
    sign, inner = rest
    parts = [written(each) for each in (inner if kind != "not" else [inner])]
    kinds = [each[0] for each in (inner if kind != "not" else [inner])]
    least = _BINDS[kind] + (kind != "not")
    texts = [
        text if _BINDS[each] >= least else f"({text})"
        for each, (_, text) in zip(kinds, parts, strict=True)
    ]
    found = [tree for tree, _ in parts]
    if kind == "not":
        return ["not", *found], sign + texts[0]
    if kind == "path":
        return ["path", [sign.strip()] * (len(found) - 1), *found], sign.join(texts)
    return [kind, *found], sign.join(texts)

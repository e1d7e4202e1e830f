"""Words that people read: one term a thing (docs/glossary.md), and no odd ones."""

import ast
import json
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from tvmdbg_widgets.model.findings import Confidence, Severity

ROOT = Path(__file__).parents[2]
MOST_TERMS = 64

#: Odd words, as patterns, and what to write instead.
ODD = {
    r"\bdoubt\w*": "warning, questionable",
    r"\b(sound|ill)\b": "OK, bad, all values finite",
    r"\bborn\b|\bmade the first\b": "first appears in",
    r"\blikewise\b": "and N more",
    r"\bspread widely\b": "noisy",
    r"\blies? at the ends\b": "is saturated",
    r"\blaid end to end\b": "back to back",
    r"\bof no duration\b": "zero-duration",
    r"\btouched by\b": "overlaps",
    r"\bslices inside\b": "children",
    r"\bjoined by (order|name)\b": "matched by",
    r"\bof no format read here\b": "unrecognized files",
    r"\bwhen it was read is not known\b": "capture time unknown",
    r"\ba picture for each\b|\btile by\b": "channels",
    r"\bin sight\b": "visible",
    r"\bhand(ed)? it on\b": "export",
    r"\btake the crosshair away\b": "clear crosshair",
    r"\b95 % sure\b": "95 % CI",
    r"\bsurely stand\b": "have a match",
    r"\btold from noise\b": "distinguished from noise",
    r"\bB less A\b": "B minus A",
    r"\bwhat the machine can do\b": "hardware peak",
    r"\bno copy\b": "zero-copy",
    r"\bwhat the next edge carries\b": "inspect next edge",
    r"\bdrawn (inside|alike)\b": "inside block, identical",
    r"\balike\b": "identical",
    r"\bmade of\b": "structure",
    r"\b(open|close) all\b": "expand all, collapse all",
    r"\blooks kept\b": "saved views",
    r"\bwhat can be done to\b": "context menu",
    r"\bstop looking\b": "cancel",
    r"\brides? (along|with)\b": "included",
    r"\bnothing disagrees\b": "no issues",
    r"\bformat of TVM\b": "TVM 0.9–0.19 format",
    r"\b(de)?(quanti|optimi|normali)s(e|es|ed|ing|ation)\b": "-ize",
    r"\bcolours?\b|\bcoloured\b": "color",
    r"\b(un)?recognis\w*|\blabelled\b": "recognize, labeled",
    r"\bsought\b": "searched for",
    r"speedno": "a blank between speed and no",
    r"\bas one text\b": "as a string",
    r"\btables? of pandas\b": "a pandas DataFrame",
    r"\bwhole numbers?\b": "integer",
    r"\banew\b|\ball the same\b": "again, anyway",
    r"\bas (they|it) stands?\b": "as is",
    r"\bgain of a round\b": "expected gain",
    r"\b(take|taken|goes|come|comes) along\b": "export, included",
    r"(?<!-)\btold\b": "known by, named, shown",
    r"\b(is|are) said\b": "the view says",
    r"^(?:[*|\d. ]*)What [^?]{3,80} (is|are)\b(?![^.]*\?)": "the noun first",
    r"\bwhat is (known|unknown|left|shown|found|seen|readable|unusual|asked)\b": "the noun",
    r"\bhow sure(ly)?\b": "confidence, match quality",
    r"\bhow to tell\b": "how to confirm",
    r"\b(one|two|\d+) a (node|page|row|run|view|task|repeat|item|thread|track|kind|call)\b": "per",
    r"\bstands? (first|below|above|beside|there)\b": "is",
    r"\bthe last sound\b": "the last operator with finite values",
    r"\bdesynchroni\w*": "out of sync",
    r"\bforetell\w*": "predict",
    r"\blines refused\b": "lines skipped",
    r"\bplain sum\b": "unweighted sum",
    r"\b[\d.]+ % (slower|faster)\b": "1.11× faster",
}

_COMMENT = re.compile(r"/\*.*?\*/|(?<![:\"'`\w])//[^\n]*", re.DOTALL)
_LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`')


@cache
def typescript() -> dict[str, list[str]]:
    """Literals with a blank in them, by file: others are names."""
    found = {}
    for path in sorted((ROOT / "js/src").rglob("*.ts")):
        code = _COMMENT.sub("", path.read_text("utf-8"))
        texts = (match[1] or match[2] or "" for match in _LITERAL.finditer(code))
        found[_place(path)] = [text for text in texts if " " in text.strip()]
    return found


@cache
def python() -> dict[str, list[str]]:
    """Literals with a blank in them, without docstrings but those of the command line's verbs."""
    found = {}
    for path in sorted((ROOT / "tvmdbg_widgets").rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        is_cli = "cli" in path.relative_to(ROOT).parts
        silent = {id(each) for node in ast.walk(tree) for each in _silent(node, is_cli)}
        texts = [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in silent
        ]
        plain = (re.sub(r"``.*?``", "", text) for text in texts)  # without code
        found[_place(path)] = [text for text in plain if " " in text.strip()]
    for path in sorted((ROOT / "tvmdbg_widgets").rglob("*.toml")):
        told = _texts(tomllib.loads(path.read_text("utf-8")))
        found[_place(path)] = [text for text in told if " " in text.strip()]
    return found


def _texts(value: object) -> list[str]:
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return [text for each in inner for text in _texts(each)]
    return [value] if isinstance(value, str) else []


@cache
def prose() -> dict[str, list[str]]:
    """Pages and the notebooks' own text, without code."""
    found = {}
    pages = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md"]
    for path in sorted(pages):
        text = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text("utf-8"), flags=re.DOTALL)
        found[_place(path)] = text.split("\n")
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        texts = ["".join(each["source"]) for each in cells if each["cell_type"] == "markdown"]
        found[_place(path)] = [
            re.sub(r"```.*?```|`[^`\n]*`", "", t, flags=re.DOTALL) for t in texts
        ]
    return found


def _silent(node: ast.AST, is_cli: bool) -> list[ast.AST]:
    scoped = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    if not isinstance(node, scoped) or (is_cli and isinstance(node, ast.FunctionDef)):
        return []
    own = [each.value for each in node.body if isinstance(each, ast.Expr)]
    return [each for each in own if isinstance(each, ast.Constant)]


def _place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def odd(texts: dict[str, list[str]]) -> list[str]:
    """Return where odd words are."""
    any_of_them = re.compile("|".join(ODD), re.IGNORECASE)
    return [
        f"{place}: {found[0]!r} in {text!r}: write {better!r}"
        for place, some in texts.items()
        for text in some
        if any_of_them.search(text)
        for pattern, better in ODD.items()
        if (found := re.search(pattern, text, re.IGNORECASE))
    ]


@pytest.mark.parametrize("read", [typescript, python, prose])
def test_no_odd_word_is_shown(read: object) -> None:
    texts = read()  # type: ignore[operator]
    assert sum(map(len, texts.values())) > 100
    wrong = odd({place: "\n".join(some).split("\n") for place, some in texts.items()})
    assert not wrong, "\n".join(wrong)


def test_odd_word_is_detected_in_shown_text() -> None:
    assert odd({"x": ["All values are sound"]})
    assert not odd({"x": ["sounds like an identifier", "all values finite"]})


GLOSSARY = "docs/glossary.md"


def terms() -> dict[str, list[str]]:
    """Terms of the glossary, each with the names that are not used for it."""
    row = r"^\| ([^|]+) \| [^|]+ \| ?([^|\n]*?) ?\|$"
    rows = re.findall(row, (ROOT / GLOSSARY).read_text("utf-8"), re.MULTILINE)
    return {
        term: [name for name in others.split(", ") if name]
        for term, others in rows
        if term not in ("term", "---")
    }


def test_glossary_is_short_and_has_no_duplicates() -> None:
    found = terms()
    rejected = {name for others in found.values() for name in others}
    assert len(rejected) > 30
    assert not rejected & set(found)
    assert len(found) <= MOST_TERMS
    rows = re.findall(r"^\| (.*?) \|", (ROOT / GLOSSARY).read_text("utf-8"), re.MULTILINE)
    assert len(found) == sum(each not in ("term", "---") for each in rows)
    assert {each.value for each in Severity} <= set(found)
    assert {"severity", "confidence"} <= set(found)
    text = (ROOT / GLOSSARY).read_text("utf-8")
    assert all(each.value in text for each in Confidence)
    assert "glossary" in (ROOT / "docs/index.md").read_text()


def test_every_glossary_term_is_used() -> None:
    shown = " ".join(
        text
        for read in (typescript, python, prose)
        for place, some in read().items()
        if place != GLOSSARY
        for text in some
    ).lower()
    unused = [term for term in terms() if term.lower() not in shown]
    assert not unused


def test_no_page_uses_a_rejected_name() -> None:
    names = [re.escape(name) for others in terms().values() for name in others]
    rejected = re.compile(rf"\b({'|'.join(names)})s?\b", re.IGNORECASE)
    found = [
        f"{place}: {match[0]}"
        for place, some in prose().items()
        if place != GLOSSARY
        for text in some
        for match in rejected.finditer(text)
    ]
    assert not found

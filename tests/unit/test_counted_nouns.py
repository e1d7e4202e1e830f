"""Counts stand before nouns and verbs that fit one as well as several: `counted` and `agree`."""

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tvmdbg_widgets.model.base.numbers import counted

Parts = Callable[[str], Iterator[tuple[str, str]]]

ROOT = Path(__file__).parents[2]
#: A script for other machines, ExecuTorch's own sentences, and errors that no user sees.
LEFT = {
    *("export/rerun_script.py", "analysis/executorch/time_scale.py"),
    *("formats/executorch/debug_buffer.py", "graph/layout/layout.ts", "shared/client/columns.ts"),
}
#: What stands before a plural and is no count, or a limit that is far above one.
NO_COUNT = re.compile(
    r"(\w+\.)*_?[A-Z][A-Z_\d]+(\.size)?|most|high|min\(weights\)|(\w+\.)*(dtype|name|title|item)"
    r"|kind|name|their|id|start|first|\w*Step|across|at|shape|what|wrong|\w+\[\w+(\[first\])?\]|act"
    r"|.* if .*|.*\b(agree|duration|fixed|percent|\w+_text|\w*name|node)\(.*"
)
#: Verbs for several, right behind a count; sentences that are said of several only.
VERBS = re.compile(r"( of \w+)? (are|were|have|do|they|differ|share|take|need|fit|belong)\b")
OF_SEVERAL = re.compile(
    r" (are (each a|named|called)|have$|share( several)?( \w+;)?|take )| repeats take"
)


@cache
def sources(folder: str, ending: str) -> dict[str, str]:
    files = sorted((ROOT / folder).rglob(f"*.{ending}"))
    return {path.relative_to(ROOT / folder).as_posix(): path.read_text("utf-8") for path in files}


@cache
def plurals() -> re.Pattern[str]:
    """Return all nouns that the package counts somewhere, for several."""
    code = "\n".join([*sources("tvmdbg_widgets", "py").values(), *sources("js/src", "ts").values()])
    nouns = re.findall(r"counted\([^\n]*?,\s*f?[\"']([a-zA-Z ]+)[\"']\)", code)
    several = "|".join(sorted({counted(2, noun).split()[-1] for noun in nouns}))
    adjectives = r"((?!of|by|in|with|on|from|no|not|to|over|its|above|the|along)[a-z-]+ ){0,2}?"
    return re.compile(rf" {adjectives}({several})\b")


def in_python(code: str) -> Iterator[tuple[str, str]]:
    """Yield what stands in braces of f-strings, and the text behind."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.JoinedStr):
            for value, then in zip(node.values, node.values[1:], strict=False):
                if isinstance(value, ast.FormattedValue) and isinstance(then, ast.Constant):
                    yield ast.unparse(value.value), then.value


def in_typescript(code: str) -> Iterator[tuple[str, str]]:
    for found in re.finditer(r"\$\{((?:[^{}]|\{[^{}]*\})*)\}([^`$]*)", code):
        yield found[1], found[2]


def broken(code: str, parts: Parts) -> list[str]:
    """Return the counts with a noun or verb behind that does not fit 1."""
    return [
        f"{{{count}}}{then[:40]}"
        for count, then in parts(code)
        if not OF_SEVERAL.match(then)
        and (
            VERBS.match(then)
            if count.startswith("counted(")
            else plurals().match(then) and not NO_COUNT.fullmatch(count)
        )
    ]


@pytest.mark.parametrize(
    ("folder", "ending", "parts"),
    [("tvmdbg_widgets", "py", in_python), ("js/src", "ts", in_typescript)],
)
def test_counts_agree_with_their_noun_and_verb(folder: str, ending: str, parts: Parts) -> None:
    files = {name: code for name, code in sources(folder, ending).items() if name not in LEFT}
    found = [f"{name}: {each}" for name, code in files.items() for each in broken(code, parts)]
    assert len(files) > 100
    assert not found, "use counted() and agree():\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("text", "is_broken"),
    [
        ('f"{len(lines)} lines were refused"', True),
        ('f"{n:,} more tensors"', True),
        ("f\"{counted(n, 'event')} are kept\"", True),
        ("f\"{counted(n, 'event')} of B have no match\"", True),
        ("f\"{counted(n, 'event')} {agree(n, 'is')} kept\"", False),
        ('f"{percent(share)} of the values"', False),
        ('f"at most {_MOST:,} bytes"', False),
    ],
)
def test_count_checker_flags_text_wrong_for_one(text: str, is_broken: bool) -> None:
    assert bool(broken(text, in_python)) is is_broken
    template = re.sub(r"\{(.*?):,\}", r"{\1}", text[2:-1]).replace("{", "${")
    assert bool(broken(f"`{template}`", in_typescript)) is is_broken

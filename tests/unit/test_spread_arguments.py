"""Calls of the views' code take no array as their arguments: a long one ends them."""

import re
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "js/src"
#: Calls that take values one by one, up to an array spread among them; not one in brackets.
SPREAD = re.compile(
    r"(?:Math\.\w+|\.(?:push|unshift|splice|concat)|fromCharCode|fromCodePoint|Array\.of)"
    r"\((?:[^()\[\]{}]|\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\})*?\.\.\."
)
COMMENT = re.compile(r"^\s*(?://|/?\*).*$", re.MULTILINE)


def test_no_call_spreads_an_array() -> None:
    files = sorted(SOURCES.rglob("*.ts"))
    found = [
        f"{file.relative_to(SOURCES)}: {match[0]}"
        for file in files
        for match in SPREAD.finditer(COMMENT.sub("", file.read_text("utf-8")))
    ]
    assert len(files) > 100
    assert not found, "use largest, smallest or append of js/src/shared/many.ts"


@pytest.mark.parametrize(
    "line",
    [
        "Math.max(...all)",
        "Math.min(0, ...all.map(({ x }) => x))",
        "found?.push(...more)",
        "found.push(one, ...(more ?? []))",
        "found.push({ one }, ...more)",
        "String.fromCharCode(...bytes)",
        "list.splice(0, list.length, ...other)",
    ],
)
def test_a_spread_is_found(line: str) -> None:
    assert SPREAD.search(line)


@pytest.mark.parametrize(
    "line", ["found.push([...more])", "found.push({ ...more })", "Math.max(a, b); f(...three)"]
)
def test_other_calls_are_not_reported(line: str) -> None:
    assert not SPREAD.search(line)

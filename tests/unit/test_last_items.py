"""The last ``n`` of a list are never taken as ``items[-n:]``, which of none makes all."""

import ast
from pathlib import Path

import tvmdbg_widgets

PACKAGE = Path(tvmdbg_widgets.__file__).parent


def of_none_all(source: str) -> list[str]:
    """Slices that start a variable number of items before the end; constants are upper case."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Slice) or not isinstance(node.lower, ast.UnaryOp):
            continue
        number = node.lower.operand
        name = number.attr if isinstance(number, ast.Attribute) else getattr(number, "id", "x")
        if not isinstance(number, ast.Constant) and not name.isupper():
            found.append(f"line {node.lineno}: [{ast.unparse(node)}]")
    return found


def test_no_slice_starts_at_a_negated_variable() -> None:
    files = sorted(PACKAGE.rglob("*.py"))
    assert len(files) > 100
    found = {str(file): of_none_all(file.read_text("utf-8")) for file in files}
    assert not {file: lines for file, lines in found.items() if lines}


def test_negated_variable_slices_are_detected() -> None:
    assert of_none_all("logged[-count:]") == ["line 1: [-count:]"]
    assert of_none_all("a[-len(b):] + a[-b.c :]") == ["line 1: [-len(b):]", "line 1: [-b.c:]"]
    assert not of_none_all("a[-2:] + a[-_MOST:] + a[: -count] + a[len(a) - count :]")

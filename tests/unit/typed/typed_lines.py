"""Lines of Python that our texts tell a user to type: where they stand, and what is wrong with one.

A whole line is run; of one in which something is left out, names and keywords are looked up.
"""

import ast
import inspect
import re
import textwrap
import warnings
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout, suppress
from io import StringIO
from typing import Any, Final

from traitlets import HasTraits

Space = dict[str, Any]

_CLOSES: Final = {"(": ")", "[": "]"}
_DOTTED: Final = re.compile(r"(?<![\w.\\$%@<>\-/\"'…])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_ATTRIBUTE: Final = re.compile(r"\.[A-Za-z_]\w*")
_FENCED: Final = re.compile(r"^[ >]*```.*?^[ >]*```", re.DOTALL | re.MULTILINE)
_PYTHON: Final = re.compile(r"```python\n(.*?)```", re.DOTALL)
_INDENTED: Final = re.compile(r"::\n\n((?: +.*\n|\n)+)")
_PROMPTED: Final = re.compile(r"^ *(?:>>>|\.\.\.) ?(.*)$(?!\n *Traceback)", re.MULTILINE)
_INLINE: Final = re.compile(r"(?<!`)(`{1,2})([^`\n]+)\1(?!`)")


def blocks(kind: str, text: str) -> Iterator[str]:
    """Python that stands in lines of its own."""
    if kind == "page":
        yield from map(textwrap.dedent, _PYTHON.findall(text))
    elif kind == "docstring":
        text = inspect.cleandoc(text) + "\n"
        yield from map(textwrap.dedent, _INDENTED.findall(text))
        yield "\n".join(_PROMPTED.findall(text))


def chains(kind: str, text: str) -> Iterator[str]:
    """Names with dots, calls and subscripts between words, as far as their brackets go."""
    if kind == "page":
        parts = [inline for _, inline in _INLINE.findall(_FENCED.sub("", text))]
    elif kind == "docstring":
        parts = [inline for _, inline in _INLINE.findall(_INDENTED.sub("", text))]
    else:
        parts = [text]
    for part in parts:
        at = 0
        while (found := _DOTTED.search(part, at)) is not None:
            at = _end(part, found.end())
            code = part[found.start() : at]
            if not code.isidentifier():
                yield code


def _end(text: str, at: int) -> int:
    """Where a chain ends whose first name ends there."""
    while at < len(text):
        name = _ATTRIBUTE.match(text, at)
        after = name.end() if name else _closed(text, at) if text[at] in _CLOSES else None
        if after is None:
            return at
        at = after
    return at


def _closed(text: str, at: int) -> int | None:
    stack: list[str] = []
    quote = ""
    for place in range(at, len(text)):
        sign = text[place]
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in _CLOSES:
            stack.append(_CLOSES[sign])
        elif stack and sign == stack[-1]:
            stack.pop()
            if not stack:
                return place + 1
    return None


def parsed(code: str) -> ast.expr | None:
    """The expression of a line, with ``...`` for what is left out; None where it is no Python."""
    code = re.sub(r"(?<=[\"'])…(?=[,)])", ", **...", code.replace("…=…", "**..."))
    code = code.replace("…", "...")
    try:
        return ast.parse(code, mode="eval").body
    except SyntaxError:
        return None


def dotted(expression: ast.AST) -> str:
    """The names of a chain, without what stands in brackets."""
    match expression:
        case ast.Attribute(value=value, attr=attr):
            return f"{dotted(value)}.{attr}"
        case ast.Call(func=value) | ast.Subscript(value=value):
            return dotted(value)
        case ast.Name(id=name):
            return name
    return ""


def names_of(line: ast.AST) -> dict[str, set[str]]:
    """Each chain of names in a line, and the keywords that it is called with."""
    found: dict[str, set[str]] = {}
    for each in ast.walk(line):
        match each:
            case ast.Call(func=func, keywords=keywords):
                words = {word.arg for word in keywords if word.arg}
                found[dotted(func)] = found.get(dotted(func), set()) | words
            case ast.Attribute():
                found.setdefault(dotted(each), set())
            case ast.Import(names=names):
                found |= {alias.name: set() for alias in names}
            case ast.ImportFrom(module=module, names=names):
                found |= {f"{module}.{alias.name}": set() for alias in names}
    return {
        name: words
        for name, words in found.items()
        if name and not name.startswith(".") and not any(o.startswith(f"{name}.") for o in found)
    }


class _LeftOut(Exception):  # noqa: N818 (no error: what a line gives is not known)
    pass


def _leaves_out(expression: ast.AST) -> bool:
    return any(
        each.value is ... or (isinstance(each.value, str) and "..." in each.value)
        for each in ast.walk(expression)
        if isinstance(each, ast.Constant)
    )


def _value(expression: ast.expr, space: Space) -> Any:
    if not _leaves_out(expression):
        return eval(compile(ast.Expression(expression), "<typed>", "eval"), space)  # noqa: S307
    match expression:
        case ast.Attribute(value=value, attr=attr):
            return getattr(_value(value, space), attr)
        case ast.Subscript(value=value):
            _value(value, space)
        case ast.Call(func=func, args=args, keywords=keywords):
            given = {each.arg: None for each in keywords if each.arg}
            called = _value(func, space)
            inspect.signature(called).bind_partial(*args, **given)
            if isinstance(called, type) and issubclass(called, HasTraits):
                known = {*inspect.signature(called).parameters, *called.class_trait_names()}
                if unknown := given.keys() - known:
                    raise TypeError(f"no argument {', '.join(unknown)}")
    for child in ast.iter_child_nodes(expression):
        inner = child.value if isinstance(child, ast.keyword) else child
        if isinstance(inner, ast.expr) and not isinstance(inner, ast.Starred):
            look_up(inner, space)
    raise _LeftOut


def takes_anything(called: object) -> bool:
    """Whether a function says nothing of the keywords that it takes."""
    parameters = inspect.signature(called).parameters if callable(called) else {}
    return any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())


def look_up(expression: ast.expr, space: Space) -> None:
    """Look up the names of a line in which something is left out; run it where nothing is."""
    with suppress(_LeftOut):
        _value(expression, space)


def problem(line: ast.expr | ast.stmt, spaces: Iterable[Space]) -> str | None:
    """What a user meets who types a line; None where it runs on one of the samples."""
    problems = []
    for space in spaces:
        try:
            with redirect_stdout(StringIO()), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if isinstance(line, ast.expr):
                    look_up(line, space)
                elif isinstance(line, ast.Expr) and _leaves_out(line):
                    look_up(line.value, space)
                else:
                    exec(compile(ast.Module([line], []), "<typed>", "exec"), space)  # noqa: S102
        except Exception as raised:  # noqa: BLE001 (whatever a user would meet)
            problems.append(f"{type(raised).__name__}: {str(raised)[:200]}")
        else:
            if not isinstance(line, (ast.Import, ast.ImportFrom, ast.FunctionDef)):
                return None
    return problems[0] if problems else None

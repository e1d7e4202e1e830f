"""No pattern of the package costs more than its text is long.

Patterns are found where they are: in the namespaces of all modules, and in calls of ``re``.
"""

import ast
import importlib
import inspect
import pkgutil
import re
import time
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any, Final

import pytest

import tvmdbg_widgets
from tests.unit.hostile.attacks import attacks
from tvmdbg_widgets.analysis.known_messages import MESSAGES

pytestmark = pytest.mark.slow  # it reads a clock

_USES: Final = ("match", "fullmatch", "search", "finditer", "findall", "sub", "subn", "split")
#: Those that begin anew behind each match, and so try what ``search`` tries.
_OFTEN: Final = frozenset(("finditer", "findall", "sub", "subn", "split"))
#: Patterns that are put together when they are needed, and why they are linear.
_PUT_TOGETHER: Final = {
    "analysis.known_messages": "tested below",
    "export.private_parameters": "of texts of numbers, each taken as it is",
    "export.rerun": "of one name, taken as it is",
    "formats.pasted.lines": "matched at the end of the last match; numbers and words in turn",
    "formats.pasted.node_tables": "found in its namespace",
    "formats.families": "of one word, taken as it is",
    "formats.tvm.layout": "of cells of known widths",
    "model.base.writing": "of one name, taken as it is",
}
_ENDS: Final = ("", "\n\0")
#: Letters of a text that is tried first, the seconds that tell nothing yet, and those too many;
#: and those too few of a text 16 times as long, where a repetition of hundreds is at work.
_SHORT, _SOON, _LATE, _LONG = 2_000, 4e-4, 0.03, 0.2
#: Repetitions of a text that even an exponential pattern ends with.
_FEW = 21


def test_every_pattern_is_linear() -> None:
    found = _patterns()
    assert len(found) > 250
    slow = [
        f"{where}: {pattern.pattern!r:.80} {use} {told}"
        for pattern, (where, uses) in found.items()
        for use in sorted(uses)
        if (told := _superlinear(pattern, use))
    ]
    assert not slow, "\n".join(slow)


def test_every_message_is_found_in_time() -> None:
    slow = [
        f"{message.id}: {told}"
        for message in MESSAGES
        for told in (
            _superlinear(message.literal_regex, "search"),
            _superlinear(message.regex, "search", most=_SHORT),
        )
        if told
    ]
    assert not slow, "\n".join(slow)


def test_patterns_built_at_run_time_are_listed() -> None:
    told = {name for name, _, pattern in _called() if pattern is None}
    assert told == set(_PUT_TOGETHER)


@pytest.mark.parametrize("bad", [r"\s*\s*x", r"(a+)+b", r"\d+x", r"a[^c]*b", r"(?:_\d+)+$"])
def test_a_pattern_that_is_not_linear_is_found(bad: str) -> None:
    assert _superlinear(re.compile(bad, re.DOTALL), "search")


def _superlinear(pattern: re.Pattern[Any], use: str, most: int = 16 * _SHORT) -> str:
    """Say what text takes too long, ``""`` where none does."""
    task: Callable[[Any], object] = getattr(pattern, "findall" if use in _OFTEN else use)
    for begun, again in attacks(pattern):
        for end in _ENDS:

            def took(length: int, begun: str = begun, again: str = again, end: str = end) -> float:
                times = length if length == _FEW else max(1, length // len(again))
                text: Any = begun + again * times + end
                if isinstance(pattern.pattern, bytes):
                    text = text.encode("latin-1", "replace")
                started = time.perf_counter()
                task(text)
                return time.perf_counter() - started

            if _is_slow(took, most):
                return f"{begun[-40:]!r} {again[:40]!r} {end!r}"
    return ""


def _is_slow(took: Callable[[int], float], most: int) -> bool:
    """Tell whether what takes long takes more than its share of a longer text.

    The least of several counts, as the machine has more to do. Short texts go first, since a bad
    pattern would not come back from longer ones.
    """
    if any(took(length) > _LATE < took(length) for length in (_FEW, 150, 600)):
        return True
    if (short := took(_SHORT)) < _SOON:
        return False
    short = min(short, *(took(_SHORT) for _ in range(3)))
    if short < _SOON or short > _LATE:
        return short > _LATE
    if most <= _SHORT or took(4 * _SHORT) < 6 * short or (longer := took(most)) < _LONG:
        return False
    longer = min(longer, took(most))
    return longer > _LONG and longer / short > (most / _SHORT) ** 1.5


def _patterns() -> dict[re.Pattern[Any], tuple[str, set[str]]]:
    """Return all patterns, where they are, and how they are used."""
    found: dict[re.Pattern[Any], tuple[str, set[str]]] = {}
    for module in _modules():
        used = _used(module)
        for name, value in list(vars(module).items()):
            for pattern in () if name.startswith("__") else _held(value):
                uses = found.setdefault(pattern, (f"{module.__name__}.{name}", set()))[1]
                uses |= used.get(name, set())
    for name, use, called in _called():
        if called is not None:
            uses = found.setdefault(called, (name, set()))[1]
            uses |= {use} - {"compile"}
    return {
        pattern: (where, _least(uses) or {"match", "fullmatch", "search"})
        for pattern, (where, uses) in found.items()
    }


def _least(uses: set[str]) -> set[str]:
    often = uses & _OFTEN
    return (uses - _OFTEN - {"search"}) | {min(often)} if often else uses


def _held(value: object, depth: int = 3) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(inner := getattr(value, "__self__", None), re.Pattern):
        yield inner
    elif depth and isinstance(value, dict):
        yield from (each for item in value.items() for each in _held(item, depth - 1))
    elif depth and isinstance(value, tuple | list | set | frozenset):
        yield from (each for item in value for each in _held(item, depth - 1))
    elif depth and isinstance(value, type) and value.__module__.startswith("tvmdbg_widgets"):
        yield from (each for item in list(vars(value).values()) for each in _held(item, 1))


def _used(module: ModuleType) -> dict[str, set[str]]:
    """Return the methods that are asked of each name, or of what it holds."""
    found: dict[str, set[str]] = {}
    for node in _nodes(module):
        if isinstance(node, ast.Attribute) and node.attr in _USES:
            held = node.value.value if isinstance(node.value, ast.Subscript) else node.value
            if isinstance(held, ast.Name):
                found.setdefault(held.id, set()).add(node.attr)
    return found


def _called() -> Iterator[tuple[str, str, re.Pattern[Any] | None]]:
    """Yield each call of ``re``: its module, the function, the pattern where it is a constant."""
    for module in _modules():
        for node in _nodes(module):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id == "re"
                and node.func.attr in ("compile", *_USES)
            ):
                name = module.__name__.removeprefix("tvmdbg_widgets.")
                yield name, node.func.attr, _constant(node, module)


def _constant(call: ast.Call, module: ModuleType) -> re.Pattern[Any] | None:
    """Return the pattern of a call, with its flags, as far as the module's names tell it."""
    assert isinstance(call.func, ast.Attribute)
    function = getattr(re, call.func.attr)
    bound = inspect.signature(function).bind(
        *call.args, **{each.arg: each.value for each in call.keywords if each.arg}
    )
    told = [bound.arguments[name] for name in ("pattern", "flags") if name in bound.arguments]
    try:
        names = dict(vars(module))
        return re.compile(*(eval(ast.unparse(each), names) for each in told))  # noqa: S307
    except NameError:
        return None


@cache
def _modules() -> list[ModuleType]:
    found = pkgutil.walk_packages(tvmdbg_widgets.__path__, "tvmdbg_widgets.")
    return [importlib.import_module(each.name) for each in found if "__main__" not in each.name]


@cache
def _nodes(module: ModuleType) -> list[ast.Call | ast.Attribute]:
    nodes = ast.walk(ast.parse(inspect.getsource(module)))
    return [each for each in nodes if isinstance(each, ast.Call | ast.Attribute)]

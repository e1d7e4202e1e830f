"""Texts on which a pattern may try much: what it matches up to a repetition, and that repeated."""

import importlib
import re
from collections.abc import Iterator
from typing import Any, Final

#: How Python reads patterns itself (``Lib/re``); there is no public door to it.
_PARSER: Any = importlib.import_module("re._parser")
_COMPILER: Any = importlib.import_module("re._compiler")
_LETTERS: Final = " a0\n\t.-_\"'()[]{}<>|=,:;/\\*+#%&@!`~^$?AzfFxEeT9é│─·\u201c\u00a0\r\0"
_PAIRS: Final = (
    *("a ", "a.", "a,\n", "a\n", "0 ", "0.", " \n", "a_", "()", "[]", '""', "a=", "a:", "1,"),
    *("\r\n", "ab"),
)
_REPEATS: Final = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_ONE: Final = ("ANY", "IN", "NOT_LITERAL")
#: Repetitions that end sooner cost that much at most for each letter.
_LONG: Final = 200
_DEEPEST: Final = 3


def attacks(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str]]:
    """Yield what a text begins with and what follows again and again.

    Each repetition of the pattern is fed with every class of letters that it takes, behind what
    the pattern asks for before it; and so are runs of the pattern's own parts, of every letter
    and of pairs of letters.
    """
    return iter(dict.fromkeys(each for each in _Attacks(pattern).all() if each[1]))


class _Attacks:
    def __init__(self, pattern: re.Pattern[Any]) -> None:
        self._tree = _PARSER.parse(pattern.pattern, pattern.flags)
        self._flags = pattern.flags
        self._of_bytes = isinstance(pattern.pattern, bytes)
        self._groups: dict[int | None, str] = {}

    def all(self) -> Iterator[tuple[str, str]]:
        yield from self._within("", self._tree, 0)
        yield from (("", each) for each in (*_LETTERS, *_PAIRS))

    def _within(self, begun: str, parts: Any, depth: int) -> Iterator[tuple[str, str]]:
        flat = list(_flat(parts))
        texts = [self._samples(each)[0] for each in flat]
        for at, (kind, argument) in enumerate(flat):
            before, inner = begun + "".join(texts[:at]), []
            if str(kind) in _REPEATS:
                _, most, body = argument
                inner = [body]
                if int(most) > _LONG:
                    fed = self._fed(body)
                    pairs = (a + b for a in fed[:3] for b in fed[:3] if a != b)
                    yield from ((before, each) for each in (*fed, *pairs))
            elif str(kind) == "BRANCH":
                inner = argument[1]
            elif str(kind).startswith("ASSERT") and argument[0] > 0:
                inner = [argument[1]]
            for each in inner * (depth < _DEEPEST):
                yield from self._within(before, each, depth + 1)
            for end in {*range(at + 1, min(at + 7, len(flat) + 1)), len(flat)}:
                yield before, "".join(texts[at:end])

    def _samples(self, part: Any) -> list[str]:
        """Return short texts that a part matches, at least one."""
        kind, argument = part
        match str(kind):
            case "LITERAL":
                return [chr(argument)]
            case "BRANCH":
                return [self._sample(each) for each in argument[1]]
            case "SUBPATTERN":
                found = [self._sample(argument[3])]
                self._groups[argument[0]] = found[0]
                return found
            case "ATOMIC_GROUP":
                return [self._sample(argument)]
            case "GROUPREF":
                return [self._groups.get(argument, "")]
            case kind if kind in _REPEATS:
                return [self._sample(argument[2]) * max(int(argument[0]), 1)]
            case kind if kind in _ONE:
                return self._letters(part)[:1]
        return [""]

    def _sample(self, parts: Any) -> str:
        return "".join(self._samples(each)[0] for each in parts)

    def _fed(self, body: Any) -> list[str]:
        """Return what a repetition of this may be fed with."""
        if len(body) != 1:
            return [self._sample(body)]
        kind, argument = body[0]
        if str(kind) in _ONE:
            return self._letters(body[0])
        if str(kind) == "SUBPATTERN":
            return self._fed(argument[3])
        if str(kind) == "BRANCH":
            return [text for each in argument[1] for text in self._fed(each)]
        return self._samples(body[0])

    def _letters(self, part: Any) -> list[str]:
        one = _COMPILER.compile(_PARSER.SubPattern(self._tree.state, [part]), self._flags)
        named = part[1] if str(part[0]) == "IN" else ()
        own = [chr(a) for kind, a in named if str(kind) == "LITERAL"]
        own += [chr(a[0]) for kind, a in named if str(kind) == "RANGE"]
        letters = dict.fromkeys((*_LETTERS, *own))
        return [each for each in letters if one.fullmatch(self._encoded(each))] or ["a"]

    def _encoded(self, text: str) -> str | bytes:
        return text.encode("latin-1", "replace") if self._of_bytes else text


def _flat(parts: Any) -> Iterator[Any]:
    """Yield parts one by one, those of groups in their place."""
    for kind, argument in parts:
        if str(kind) == "SUBPATTERN":
            yield from _flat(argument[3])
        elif str(kind) == "ATOMIC_GROUP":
            yield from _flat(argument)
        else:
            yield kind, argument

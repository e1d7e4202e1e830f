r"""Regular expressions that take time linear in the text, by the views' own js/src/shared/regex.ts.

Letters, ``.``, ``[a-z]``, ``\d \w \s`` and their opposites, ``( )``, ``|``, ``* + ? {2,5}``, ``^``
and ``$``; upper and lower case alike.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.engine.host import call

#: Characters that are searched in one call: takes 2 s of the 10 s that it may take.
_BLOCK = 10_000_000


class RegexError(ValueError):
    """An expression that cannot be read; ``at`` is the character where it goes wrong."""

    def __init__(self, at: int, message: str) -> None:
        super().__init__(message)
        self.at = at


def search(pattern: str, texts: Sequence[str], *, is_glob: bool = False) -> npt.NDArray[np.bool_]:
    """Return which texts have a match anywhere (bool [T])."""
    sizes = np.cumsum([len(each) for each in texts], dtype=np.int64)
    ends = [*np.flatnonzero(np.diff(sizes // _BLOCK)) + 1, len(texts)]
    blocks = itertools.pairwise([0, *ends])
    found = [_search(pattern, texts[first:end], is_glob=is_glob) for first, end in blocks]
    return np.concatenate(found)


def _search(pattern: str, texts: Sequence[str], *, is_glob: bool) -> npt.NDArray[np.bool_]:
    request = {"pattern": pattern, "isGlob": is_glob, "texts": texts}
    failure = "the texts could not be searched"
    answer = json.loads(call("searchTexts", json.dumps(request), failure=failure))
    if "error" in answer:
        raise RegexError(answer["at"], answer["error"])
    found: npt.NDArray[np.bool_] = np.frombuffer(answer["found"].encode(), np.uint8) == ord("1")
    return found

"""Names of functions without what the compiler puts before them for a module.

Since v0.8 TVM writes ``tvmgen_``, the module's name and ``_`` before each name, the VM's compiler
``vm_mod_``; the module's name is any text (``relay.build(mod_name=…)``, ``tvmc --module-name``) and
``default`` where none is given. What follows is ``fused_`` and operators, or the name of an
external compiler's function (``get_name_mangled``, ``src/runtime/name_transforms.cc`` @ v0.8).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

#: What each name of a module begins with.
MODULE: Final = "tvmgen_"
_DEFAULT: Final = ("tvmgen_default_",)
_FUSED: Final = re.compile(r"(?:tvmgen|vm_mod)_(?:.*_)?(?=fused_)", re.DOTALL)
_NO_WORD: Final = re.compile(r"\W", re.ASCII)
#: From its end on: from the front each digit would be tried as the first of the number.
_NUMBER: Final = re.compile(r"(?:\d+_)+")


def number_at_end(name: str) -> str:
    """Return the variant number that a function's name ends with: ``"_1_2"`` of ``"add_1_2"``."""
    found = _NUMBER.match(name[::-1])
    return name[len(name) - found.end() :] if found else ""


def module_prefix(name: str, known: tuple[str, ...] = ()) -> str:
    """Return the module's prefix of a function's name, ``""`` where it is not known."""
    found = _FUSED.match(name)
    if found is not None:
        return found[0]
    fitting = (each for each in (*known, *_DEFAULT) if name.startswith(each) and name != each)
    return max(fitting, key=len, default="")


def module_prefixes(functions: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Learn what stands before the names of functions, the longest first.

    Fused functions tell it, and so do those of which the external compiler is known.
    """
    found = set()
    for name, compiler in functions:
        fused = _FUSED.match(name)
        at = name.rfind(f"_{_NO_WORD.sub('_', compiler)}_") if compiler else -1
        if fused is not None:
            found.add(fused[0])
        elif name.startswith(MODULE) and at >= 0:
            found.add(name[: at + 1])
    return tuple(sorted(found, key=lambda each: (-len(each), each)))


def without_prefix(name: str, known: tuple[str, ...] = ()) -> str:
    """Return a name without its prefix: ``"nn_relu"`` for ``"tvmgen_default_fused_nn_relu"``.

    A name that is nothing but a prefix stays as it is.
    """
    return name.removeprefix(module_prefix(name, known)).removeprefix("fused_") or name

"""Which argument of which function a message is about, as far as it says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_NUMBERED = re.compile(r"arg(\d{1,4})")


def which_argument(facts: Mapping[str, str]) -> list[str]:
    """Return a sentence on the argument, or nothing where the message does not tell.

    ``arg0`` is by position and names no function @ v0.5 to v0.10; ``pad.var_A`` names function and
    parameter from v0.11 on; from v0.24 on the message has the position and the signature.
    """
    name, index = facts.get("name", ""), facts.get("index")
    signature = facts.get("signature")
    if index is not None:
        of = f" of {signature}" if signature else ""
        return [f"It is argument {index}{of}, counted from 0; outputs are arguments too."]
    numbered = _NUMBERED.fullmatch(name)
    if numbered is not None:
        at = f"{name} is argument {numbered[1]} of the compiled function, counted from 0; outputs"
        return [f"{at} are arguments too. The message does not name the function."]
    function, dot, parameter = name.rpartition(".")
    if dot and function != "arg":
        return [f"It is the argument {parameter} of the function {function}."]
    return []

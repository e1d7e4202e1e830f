"""Whether a place of a text lies in printed source code, where a message is a constant.

Logs hold such lines: LLVM IR, generated C, TVMScript, and the lines of a traceback.
"""

from __future__ import annotations

import re
from typing import Final

#: Letters before a place that are looked at: for all it depends on, and for what ends there.
_MOST, _NEAR = 1000, 120
#: Ends what stands before the quote mark of a constant.
_BEFORE_CONSTANT: Final = re.compile(
    r"(?:\bc|\.(?:asciz?|ascii|string)\s{1,8}|<<\s{0,8}|\breturn\s{1,8}|\s=\s{0,8}"
    r"|#\s{0,8}define\s{1,8}\w{1,80}\s{1,8})$"
)
#: Letters before a quote mark that belong to it.
_PREFIXES: Final = "rfbuLFR"
#: Ends the name of what is printed with its text in parentheses: an error, not a call.
_PRINTED: Final = re.compile(r"(?:Error|Exception|Warning|Result|Interrupt|Exit)$")
#: A statement that raises what follows.
_RAISED: Final = re.compile(r"\b(?:raise|throw)\s{1,8}[\w.:]{0,100}$")
_RAISES: Final = re.compile(r"\b(?:raise|throw|new)\s[^\"']{0,100}$|SetLastError$")
_ASSERTS: Final = re.compile(r"\bassert\b")
_CHECKS: Final = re.compile(
    r"\b(?:(?:TVM_FFI_)?[ID]?CHECK(?:_[A-Z]{2,9})?\(|(?:TVM_FFI_)?THROW\(|ET_CHECK\w{0,30}\("
    r"|D?LOG\((?:FATAL|ERROR|WARNING|INFO)|ET_LOG\(\s?(?:Fatal|Error|Info|Debug))"
)
_NAME: Final = re.compile(r"[A-Za-z_][\w.:>-]{0,100}$")
#: A quote mark that is no apostrophe.
_DOUBLE: Final = re.compile(r'(?<!\\)"')
_SINGLE: Final = re.compile(r"(?<![\\\w])'|(?<!\\)'(?!\w)")
#: Follows a constant that has a line of its own.
_ENDS_CALL: Final = re.compile(r"\s{0,8}(?:\)[\s);,{:]{0,8}|;|<<.{0,400})\s{0,8}$")
_GOES_ON: Final = ("(", "<<", '"', "\\")


def is_in_source(before: str, line: str, at: int) -> bool:
    """Return whether what begins at a place of a line is source code and nothing that occurred."""
    head = line[max(0, at - _MOST) : at]
    if '\\"' in head:
        # A string of JSON that holds source code.
        outer = [each.start() for each in _DOUBLE.finditer(head)]
        inner = head[outer[-1] + 1 :] if len(outer) % 2 else head
        inner = inner.replace("\\\\", "\\").replace('\\"', '"').rpartition("\\n")[2]
        rest = line[at:].replace('\\"', '"')
        if is_in_source("", inner + rest, len(inner)):
            return True
    near = head[-_NEAR:]
    if ("raise" in near or "throw" in near) and _RAISED.search(near):
        return True
    if ("CHECK" in head or "LOG" in head or "THROW" in head) and _CHECKS.search(head):
        return True
    if head.count('"') and len(starts := [each.start() for each in _DOUBLE.finditer(head)]) % 2:
        opening = head[: starts[-1]]
        return _opens_constant(opening) or _continues(before, opening, line[at:])
    if '"' not in head and _began_above(before):
        return True
    if "'" not in head:
        return False
    starts = [each.start() for each in _SINGLE.finditer(head)]
    return len(starts) % 2 == 1 and _opens_constant(head[: starts[-1]])


def _opens_constant(head: str) -> bool:
    """Return whether a quote mark behind this begins a constant of C++, Python, IR or assembly."""
    bare = head.rstrip(_PREFIXES)
    if any(_BEFORE_CONSTANT.search(each[-_NEAR:]) for each in (head, bare)):
        return True
    if bare.rstrip().endswith(",") and _ASSERTS.search(bare):
        return True
    called = _open_call(bare)
    name = None if called is None else _NAME.search(bare[max(0, called - _NEAR) : called])
    if called is None or name is None or bare.endswith("="):
        return False
    near = bare[max(0, called - _NEAR) : called]
    return not _PRINTED.search(name.group()) or _RAISES.search(near) is not None


def _began_above(before: str) -> bool:
    """Return whether a constant that began on a line above goes on: a terminal cut its line."""
    if '"' not in before:
        return False
    starts = [each.start() for each in _DOUBLE.finditer(before)]
    return len(starts) % 2 == 1 and _opens_constant(before[: starts[-1]])


def _open_call(head: str) -> int | None:
    """Return where the innermost parenthesis opens that is not closed again."""
    depth = 0
    for sign in reversed(list(re.finditer(r"[()]", head))):
        if sign.group() == ")":
            depth += 1
        elif depth:
            depth -= 1
        else:
            return sign.start()
    return None


def _continues(before: str, head: str, rest: str) -> bool:
    """Return whether a line is a further piece of a constant that a line above began."""
    if head.rstrip(_PREFIXES).strip():
        return False
    tail = rest.rpartition('"')[2]
    if '"' in rest and _ENDS_CALL.match(tail):
        return True
    return before.rstrip().endswith(_GOES_ON) and tail.strip() in {"", ","}

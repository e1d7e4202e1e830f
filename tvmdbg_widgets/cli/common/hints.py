"""Hints with options of the command line."""

from __future__ import annotations

import re
import shlex

_FILES = frozenset(("graph", "params", "trace", "table", "debug_buffer"))
_CHOICES = frozenset(("device", "method"))
_OPTIONS = {
    "open(…, follow_links=True)": "--follow-links",
    "open the log with dag=": "give a DAG text along",
}
_WRITE = re.compile(r"log\.write\(path(?:, log\.select\(\"([^\"]*)\"\))?\)")
_ERRORS = re.compile(r"log\.errors_by\(\"(\w+)\"\)")
_FOLDER = re.compile(r"tvmdbg_widgets\.open\(('[^']*')\)")
_GRAPH = re.compile(r"\(open\(…, graph=(lib\.\w+\(\))\)\)|open\(…, graph=(lib\.\w+\(\))\)")
_GIVEN = re.compile(r"open\(…, (?:(\w+)=)?'([^']*)'\)")
_EXECUTION = re.compile(r"open\(…, execution=(\d+)\)")
_LIMIT = re.compile(r"open\(…, limits=\{'(\w+)': (\d+) \* 2\*\*30\}\)")


def for_shell(text: str) -> str:
    """Return a hint with options of this command instead of calls of ``open``.

    A call without an option stays: ``open(…, module='first')``.
    """
    text = _ERRORS.sub(r"tvmdbg tuning errors LOG --by \1", _WRITE.sub(_write, text))
    text = _FOLDER.sub(lambda call: shlex.quote(call[1][1:-1]), text)
    text = _GRAPH.sub(_graph, text)
    for call, option in _OPTIONS.items():
        text = text.replace(call, option)
    text = _LIMIT.sub(r"--limit \1=\2G", text)
    text = _EXECUTION.sub(r"--execution \1", text)
    return _GIVEN.sub(_given, text)


def _graph(call: re.Match[str]) -> str:
    if call[1]:
        return f"({call[1]} in a file, as --graph FILE)"
    return f"give --graph FILE, which holds {call[2]}"


def _write(call: re.Match[str]) -> str:
    chosen = f" --select {shlex.quote(call[1])}" if call[1] else ""
    return f"tvmdbg tuning merge LOG{chosen} -o FILE"


def _given(call: re.Match[str]) -> str:
    name, value = call[1], shlex.quote(call[2])
    if name in _CHOICES:
        return f"--{name} {value}"
    if name in _FILES:
        return f"give --{name.replace('_', '-')} {value}"
    return call[0] if name == "module" else f"add {value}"

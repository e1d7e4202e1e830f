"""Queries as the views understand them, asked of a process of Node."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tvmdbg_widgets.answers.answers import answer

if TYPE_CHECKING:
    from types import TracebackType

    from tvmdbg_widgets.run import DebugRun

ROOT = Path(__file__).parents[3]


def packed(run: DebugRun) -> dict[str, Any]:
    """Columns of graph and facts as a view is sent them, the buffers in base64."""
    found = {}
    for kind in ("graph", "facts"):
        reply = answer(run, {"kind": kind})
        buffer = base64.b64encode(reply.buffers[0]).decode()
        found[kind] = {**reply.result, "buffer": buffer}
    return found


class NodeQueries:
    """A process that answers queries; a context manager."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            ["node", "js/tests/query_answers.mjs"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def open(self, run: DebugRun) -> None:
        """Ask the queries that follow of this run."""
        self._ask({"open": packed(run)})

    def answer(self, text: str) -> dict[str, Any]:
        """Tree and nodes, or error and position."""
        return self._ask({"text": text})

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(question) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        assert line, "the process ended"
        found: dict[str, Any] = json.loads(line)
        return found

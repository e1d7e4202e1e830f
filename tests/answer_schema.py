"""Every answer that a test causes is held to the types with which the views read it."""

from __future__ import annotations

import functools
import hashlib
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fastjsonschema

from tvmdbg_widgets.answers.answers import Answers
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.answers.tuning import TuningAnswers
from tvmdbg_widgets.figures import byte_map, sequence, struct
from tvmdbg_widgets.figures import comparison as comparison_figures
from tvmdbg_widgets.figures.engine import draw_view
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.widgets import comparison

if TYPE_CHECKING:
    import pytest


ROOT = Path(__file__).parents[1]
TYPES = ROOT / "js" / "tests" / "answers.ts"
GENERATOR = ROOT / "node_modules" / "ts-json-schema-generator"
#: Worktrees may share the folder of modules.
_NAME = f"answers-{hashlib.sha256(str(ROOT).encode()).hexdigest()[:12]}.json"
MADE = ROOT / "node_modules" / ".cache" / _NAME


def make_schema() -> None:
    """Write the JSON schema of the types, unless it is there and they have not changed since."""
    if not GENERATOR.exists():
        return
    content = hashlib.sha256()
    for path in (TYPES, *sorted((ROOT / "js" / "src").rglob("*.ts"))):
        content.update(path.read_bytes())
    if _made().get("sources") == content.hexdigest():
        return
    program = GENERATOR / "bin" / "ts-json-schema-generator.js"
    flags = ["--expose", "none", "--jsDoc", "none", "--no-top-ref"]
    done = subprocess.run(
        ["node", program, "--path", TYPES, "--type", "Answers", *flags],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    MADE.parent.mkdir(exist_ok=True)
    made = {"sources": content.hexdigest(), "schema": json.loads(done.stdout)}
    MADE.write_text(json.dumps(made), "utf-8")


def hold_answers(patch: pytest.MonkeyPatch) -> None:
    """Let every answer of Python raise that is not what the views expect."""
    reply = _held("run", Answers.reply, lambda _, question, *__: question.kind)
    patch.setattr(Answers, "reply", reply)
    answer = _held("tuning", TuningAnswers.answer, lambda _, message: message["kind"])
    patch.setattr(TuningAnswers, "answer", answer)
    found = _held(
        "comparison", comparison.comparison_answer, lambda _, message, *__: message["kind"]
    )
    for module in (comparison, comparison_figures):
        patch.setattr(module, "comparison_answer", found)
    for module in (struct, byte_map, sequence):
        patch.setattr(module, "draw_view", _drawn)


def _drawn(
    view: str, title: str, options: Any, answer: Callable[..., Reply], **look: Any
) -> Figure:
    held = _held("figure", answer, lambda question: question["kind"])
    return draw_view(view, title, options, held, **look)


def is_made() -> bool:
    """Whether there is a schema; without Node's packages there is none."""
    return MADE.exists()


def _held(
    whose: str, answer: Callable[..., Reply], kind_of: Callable[..., str]
) -> Callable[..., Reply]:
    @functools.wraps(answer)
    def held(*given: Any) -> Reply:
        reply = answer(*given)
        if is_made():
            kind = kind_of(*given)
            try:
                _validator(whose, kind)(reply.result)
            except fastjsonschema.JsonSchemaValueException:
                raise TypeError(f"answer {kind!r}: {_wrong(whose, kind, reply.result)}") from None
        return reply

    return held


@functools.cache
def _validator(whose: str, kind: str) -> Callable[[Any], Any]:
    return fastjsonschema.compile(_types(whose, kind), use_default=False)


def _wrong(whose: str, kind: str, result: Any) -> str:
    from jsonschema import Draft7Validator  # takes a second to import
    from jsonschema.exceptions import best_match

    found = best_match(
        Draft7Validator(_types(whose, kind)).iter_errors(json.loads(json.dumps(result)))
    )
    return f"{found.json_path} {found.message}"


def _types(whose: str, kind: str) -> dict[str, Any]:
    return _made()["schema"]["properties"][whose]["properties"][kind]


def _made() -> dict[str, Any]:
    return json.loads(MADE.read_text("utf-8")) if MADE.exists() else {}

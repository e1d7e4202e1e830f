"""The modules around a node of an exported program, from its metadata."""

from __future__ import annotations

from functools import lru_cache

from tvmdbg_widgets.model.executorch.exported_program import ModuleFrame


@lru_cache(maxsize=16_384)
def module_stack(text: str) -> tuple[ModuleFrame, ...]:
    """Return the frames of ``nn_module_stack``, outermost first.

    Frames are split at ``;``, the three parts of each at commas outside of brackets, as
    ``deserialize_metadata`` does (``exir/serde/export_serialize.py`` @ v1.4.1).
    """
    frames = [_parts(frame) for frame in text.split(";")] if text else []
    if any(len(parts) != 3 for parts in frames):
        return ()
    return tuple(ModuleFrame(*parts) for parts in frames)


def _parts(frame: str) -> list[str]:
    if "(" not in frame and "[" not in frame:
        return [part.strip() for part in frame.split(",")]
    parts, start, depth = [], 0, 0
    for at, letter in enumerate(frame):
        if letter in "[(":
            depth += 1
        elif letter in "])":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(frame[start:at].strip())
            start = at + 1
    return [*parts, frame[start:].strip()]

"""A target string, taken apart (``TargetNode::str()``, src/target/target.cc)."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

#: Letters of a target in which quotation marks are looked for; the longest real one has 500.
_LONGEST = 10_000


@dataclass(frozen=True)
class Target:
    """``"cuda -keys=cuda,gpu -max_num_threads=1024 -model=t4"`` in its parts.

    Attributes
    ----------
    text : str
        As it stands in the log.
    kind : str
        ``"cuda"``, ``"llvm"``, …
    keys : tuple of str
    attrs : mapping of str to str
        All other options, as text.
    """

    text: str
    kind: str
    keys: tuple[str, ...] = ()
    attrs: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Target:
        """Take a target string apart; what is no option is kept in ``text`` alone."""
        try:
            words = shlex.split(text) if len(text) <= _LONGEST else text.split()
        except ValueError:  # a quotation mark without its partner
            words = text.split()
        kind = words[0] if words and not words[0].startswith("-") else ""
        attrs: dict[str, str] = {}
        for word in words[bool(kind) :]:
            name, _, value = word.lstrip("-").partition("=")
            if word.startswith("-") and name:
                attrs[name] = value
        keys = tuple(key for key in attrs.pop("keys", "").split(",") if key)
        return cls(text, kind, keys, attrs)

    @property
    def model(self) -> str:
        """The ``-model`` option, empty where there is none or it is unknown."""
        found = self.attrs.get("model", "")
        return "" if found == "unknown" else found

    @property
    def is_gpu(self) -> bool:
        """Whether schedules bind blocks and threads."""
        return "gpu" in self.keys or self.kind in ("cuda", "rocm", "opencl", "vulkan", "metal")

    def __str__(self) -> str:
        return self.text

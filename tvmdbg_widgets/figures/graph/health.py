"""The health of what nodes computed, in the verdicts, words and signs of the live graph."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.model.verdicts.health import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tvmdbg_widgets.figures.graph.scene import Scene
    from tvmdbg_widgets.figures.theme import Paint, Theme
    from tvmdbg_widgets.model.verdicts.health import EntryHealth, Health

#: What is said of a node whose values the dump does not hold.
NO_VALUES = "no values"
_LABELS = {Verdict.UNKNOWN: "cannot be judged"}
_SIGNS = {"suspicious": "!", "faulty": "✕", "cannot be judged": "?"}
#: The least severe first.
_ORDER = ("not scanned", "OK", NO_VALUES, "cannot be judged", "suspicious", "faulty")
#: Verdicts with a fill of their own.
JUDGED = ("OK", "suspicious", "faulty")


def sign(label: str) -> str:
    """Return the sign that goes with a verdict's color; empty where it needs none."""
    return _SIGNS.get(label, "")


def is_unknown(label: str) -> bool:
    """Whether nothing is known of the values: told by hatching."""
    return label in (NO_VALUES, "cannot be judged")


def fill(theme: Theme, label: str) -> Paint:
    """Return the fill of a verdict."""
    return theme.health(label) if label in JUDGED else theme.plain


class NodeHealth:
    """The health of the nodes of a graph: of each, that of the worst of its outputs.

    Parameters
    ----------
    health : Health
    nodes : int
        How many the graph has.
    """

    def __init__(self, health: Health, nodes: int) -> None:
        self.health = health
        self._worst: dict[int, EntryHealth] = {}
        for each in health:
            node = each.entry[0]
            here = self._worst.get(node)
            if node < nodes and (here is None or _key(each) > _key(here)):
                self._worst[node] = each
        first = next(iter(health.suspicious), None)
        #: The most suspicious node; -1 where nothing is suspicious.
        self.worst = -1 if first is None else first.entry[0]
        self.counts = Counter(self.label(node) for node in range(nodes))

    def label(self, node: int) -> str:
        """Return the verdict of a node in words."""
        each = self._worst.get(node)
        return NO_VALUES if each is None else _label(each)

    def counted(self) -> list[tuple[str, int]]:
        """Return verdicts with how many nodes have each, the worst first."""
        return [(each, self.counts[each]) for each in reversed(_ORDER) if self.counts[each]]

    def worst_of(self, nodes: Iterable[int]) -> int:
        """Return the node of the worst verdict; of equals the first, the suspicious before others.

        The first node is what the others are drawn inside of: these count where they are worse
        than merely unknown.
        """
        first, *others = nodes
        for node in others:
            rank = _ORDER.index(self.label(node))
            if rank > max(_ORDER.index(self.label(first)), _ORDER.index(NO_VALUES)):
                first = node
        return first

    def brief(self, node: int) -> str:
        """Return the health of a node in two or three words: ``"59 Inf"``, ``"OK"``."""
        each = self._worst.get(node)
        return (each.brief if each is not None else "") or self.label(node)

    def words(self, node: int) -> str:
        """Return why the verdict is what it is; empty where there is nothing to tell."""
        each = self._worst.get(node)
        return "" if each is None else each.words

    def of_box(self, scene: Scene, box: int) -> tuple[str, str]:
        """Return verdict and words of a box: of its first node or the worst of those inside it."""
        node = scene.nodes[box]
        told = self.worst_of((*scene.members[box], *scene.folded[box]))
        where = "" if told == node else f" in #{told}"
        return self.label(told), f"{self.brief(told)}{where}"

    def of_group(self, nodes: Iterable[int]) -> tuple[str, str]:
        """Return the worst verdict of some nodes, and of how many it is: ``"✕ 2 faulty"``."""
        counts = Counter(map(self.label, nodes))
        worst = max(counts, key=_ORDER.index)
        return worst, f"{sign(worst)} {counts[worst]:,} {worst}".strip()

    def describe(self) -> dict[str, Any]:
        """Return the counts as JSON-able facts."""
        first = self.health.first_nonfinite
        return {
            "complete": self.health.complete,
            "counts": dict(self.counted()),
            "first_nonfinite": None if first is None else list(first.entry),
        }


def _label(each: EntryHealth) -> str:
    return _LABELS.get(each.verdict, each.verdict.value)


def _key(each: EntryHealth) -> tuple[int, int]:
    return _ORDER.index(_label(each)), -each.rank

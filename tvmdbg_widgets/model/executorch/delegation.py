"""How much of a program its partitioner gave to delegates, as ExecuTorch printed it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tvmdbg_widgets.model.base.frames import data_frame
from tvmdbg_widgets.model.base.numbers import counted, percent
from tvmdbg_widgets.model.base.tables import html_table
from tvmdbg_widgets.model.base.text import one_line

_SHOWN = 8


@dataclass(frozen=True, repr=False)
class DelegationInfo:
    """What ``get_delegation_info`` counted in a lowered program; None is not in the text.

    Source: ``devtools/backend_debug/delegation_info.py`` @ v1.4.1 (``exir/backend/utils.py`` up to
    v0.5).

    Attributes
    ----------
    subgraphs : int or None
        Delegated subgraphs, each a call of a delegate.
    delegated, non_delegated : int or None
        Nodes inside delegated subgraphs, and outside of them.
    operators : Mapping of str to (int, int)
        The same by operator, as far as the table was pasted.
    complete : bool
        Whether the rows of the table add up to ``delegated`` and ``non_delegated``.
    """

    subgraphs: int | None = None
    delegated: int | None = None
    non_delegated: int | None = None
    operators: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every operator is in the table."""
        sums = tuple(sum(counts) for counts in zip(*self.operators.values(), strict=True))
        return bool(sums) and sums == (self.delegated, self.non_delegated)

    @property
    def share(self) -> float:
        """Delegated nodes of all nodes, from 0 to 1; NaN where the text lacks either count."""
        if self.delegated is None or self.non_delegated is None:
            return float("nan")
        total = self.delegated + self.non_delegated
        return self.delegated / total if total else float("nan")

    def left_out(self) -> dict[str, int]:
        """Return the operators that no delegate took, the most frequent first."""
        found = {name: count for name, (_, count) in self.operators.items() if count}
        return dict(sorted(found.items(), key=lambda each: -each[1]))

    def to_dataframe(self) -> Any:
        """Return one row an operator, with the columns of ExecuTorch's table, without its total.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        counts = list(self.operators.values())
        return data_frame(
            {
                "op_type": list(self.operators),
                "occurrences_in_delegated_graphs": [each[0] for each in counts],
                "occurrences_in_non_delegated_graphs": [each[1] for each in counts],
            }
        )

    @property
    def title(self) -> str:
        """The counts in one sentence."""
        if self.delegated is None or self.non_delegated is None:
            text = f"{counted(len(self.operators), 'operator')}, their totals are not in the text"
        else:
            nodes = counted(self.delegated + self.non_delegated, "node")
            text = f"{self.delegated:,} of {nodes} delegated ({percent(self.share)})"
        if self.subgraphs is None:
            return text
        return f"{text} in {counted(self.subgraphs, 'subgraph')}"

    def _repr_html_(self) -> str:
        rows = sorted(self.operators.items(), key=lambda each: (-each[1][1], -each[1][0]))
        cells = [
            [name, f"{inside:,}", f"{outside:,}", percent(inside / max(1, inside + outside))]
            for name, (inside, outside) in rows
        ]
        head = ("operator", "delegated", "not delegated", "delegated share")
        below = [] if self.complete else ["The table does not hold every operator."]
        return html_table(head, cells, caption=self.title, below=below)

    def __repr__(self) -> str:
        lines = [f"DelegationInfo: {self.title}"]
        left = self.left_out()
        lines += [f"  {one_line(name)}: {count:,} not delegated" for name, count in left.items()][
            :_SHOWN
        ]
        if len(left) > _SHOWN:
            lines.append(f"  … {len(left) - _SHOWN} more in left_out()")
        if self.operators and not self.complete:
            lines.append("  the table does not hold every operator")
        return "\n".join(lines)

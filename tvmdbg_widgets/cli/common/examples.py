"""Examples at the end of a verb's help."""

from __future__ import annotations


def examples(*pairs: tuple[str, str]) -> str:
    """Lay out what to type and what it does; each on a line of its own, which fits 80 columns."""
    lines = ["[bold]Examples[/]"]
    for what, command in pairs:
        lines += [f"[dim]{what}[/]", f"  [cyan]{command}[/]"]
    return "\n".join(lines)

"""What differs between two layouts of one struct."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from tvmdbg_widgets.model.abi.struct_layout import ScalarMember, StructLayout
from tvmdbg_widgets.model.base.numbers import counted


@dataclass(frozen=True, slots=True)
class LayoutChanges:
    """How a layout of a struct differs from another of the same struct."""

    moved: Mapping[str, int]
    retyped: Mapping[str, tuple[ScalarMember, ScalarMember]]
    added: tuple[str, ...]
    gone: tuple[str, ...]
    size: tuple[int, int]
    align: tuple[int, int]

    def mark(self, path: str) -> str:
        """Return what is other about a value in a few letters: ``"+8"``, ``"1→2 B"``."""
        marks = []
        if path in self.added:
            marks.append("new")
        if path in self.retyped:
            was, now = (leaf.type for leaf in self.retyped[path])
            resized = was.size != now.size
            marks.append(f"{was.size}→{now.size} B" if resized else f"was {was.name}")
        if path in self.moved:
            marks.append(f"{self.moved[path]:+d}")
        return ", ".join(marks)

    def lines(self) -> list[str]:
        """Return the differences as sentences; none where nothing differs."""
        found = [
            f"{path}: {now.type.name} at {now.offset}, was {was.type.name} at {was.offset}"
            for path, (was, now) in self.retyped.items()
        ]
        by_shift: defaultdict[int, list[str]] = defaultdict(list)
        for path, shift in self.moved.items():
            if path not in self.retyped:
                by_shift[shift].append(path)
        for shift, paths in by_shift.items():
            where = "later" if shift > 0 else "earlier"
            found.append(f"{counted(abs(shift), 'byte')} {where}: {', '.join(paths)}")
        found += [f"only here: {path}" for path in self.added]
        found += [f"not here: {path}" for path in self.gone]
        for name, (before, after) in (("size", self.size), ("alignment", self.align)):
            if before != after:
                found.append(f"{name}: {counted(after, 'byte')}, was {before}")
        return found


def layout_changes(before: StructLayout, after: StructLayout) -> LayoutChanges:
    """Compare two layouts of one struct, value by value."""
    old = {leaf.path: leaf for leaf in before.leaves()}
    new = {leaf.path: leaf for leaf in after.leaves()}
    both = [path for path in new if path in old]
    return LayoutChanges(
        moved={
            path: new[path].offset - old[path].offset
            for path in both
            if new[path].offset != old[path].offset
        },
        retyped={
            path: (old[path], new[path])
            for path in both
            if (new[path].type.name, new[path].type.size)
            != (old[path].type.name, old[path].type.size)
        },
        added=tuple(path for path in new if path not in old),
        gone=tuple(path for path in old if path not in new),
        size=(before.size, after.size),
        align=(before.align, after.align),
    )

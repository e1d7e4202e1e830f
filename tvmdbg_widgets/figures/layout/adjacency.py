"""Compressed rows: the items of row r are ``item[start[r]:start[r + 1]]``, in input order."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Rows:
    """Items grouped by row."""

    start: list[int]
    item: list[int]


def group_by(count: int, key: list[int]) -> Rows:
    """Group the positions of `key` by their value; negative values are left out."""
    groups: list[list[int]] = [[] for _ in range(count)]
    for i, k in enumerate(key):
        if k >= 0:
            groups[k].append(i)
    start = [0]
    item: list[int] = []
    for group in groups:
        item += group
        start.append(len(item))
    return Rows(start, item)


def neighbors(count: int, key: list[int], value: list[int]) -> list[list[int]]:
    """Return lists of which list v holds ``value[i]`` for each i with ``key[i] == v``."""
    lists: list[list[int]] = [[] for _ in range(count)]
    for k, v in zip(key, value, strict=True):
        lists[k].append(v)
    return lists

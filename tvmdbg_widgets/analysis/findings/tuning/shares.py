"""Lost trials of groups: counts, shares, and the words for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbers import percent


@dataclass(frozen=True, eq=False)
class Shares:
    """How many trials of each of G groups were lost."""

    keys: npt.NDArray[np.int64]
    lost: npt.NDArray[np.int64]
    trials: npt.NDArray[np.int64]

    @classmethod
    def of(cls, lost: npt.NDArray[np.bool_], groups: npt.NDArray[np.signedinteger[Any]]) -> Shares:
        """Count by group: both are columns of the same rows."""
        keys, of_row = np.unique(groups, return_inverse=True)
        return cls(
            keys.astype(np.int64),
            np.bincount(of_row[lost], minlength=len(keys)),
            np.bincount(of_row, minlength=len(keys)),
        )

    @property
    def share(self) -> npt.NDArray[np.float64]:
        """Lost of all (float64 [G])."""
        return np.asarray(self.lost / self.trials)

    def within(self, chosen: npt.NDArray[np.bool_]) -> tuple[int, int]:
        """Return lost and all trials of some groups together."""
        return int(self.lost[chosen].sum()), int(self.trials[chosen].sum())

    def words(self, names: Iterable[str]) -> list[str]:
        """Return ``"36 of 1,088 (3.31 %) in task 0"`` for each group."""
        return [
            f"{lost:,} of {trials:,} ({percent(lost / trials)}) {name}"
            for lost, trials, name in zip(
                self.lost.tolist(), self.trials.tolist(), names, strict=True
            )
        ]


def share_of(counts: tuple[int, int]) -> float:
    """Return lost of all; 0 where there is nothing."""
    lost, trials = counts
    return lost / trials if trials else 0.0

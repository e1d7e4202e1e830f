"""Error numbers of a measured trial (``MeasureErrorNO``, include/tvm/auto_scheduler/measure.h)."""

from __future__ import annotations

import enum

#: What a failed trial's only cost reads in an Ansor log, seconds (``MAX_FLOAT``, measure.py).
ANSOR_FAILED_COST = 1e10
#: The same in an AutoTVM log.
AUTOTVM_FAILED_COST = 1e9


class MeasureError(enum.IntEnum):
    """Why a trial has no cost; Ansor and AutoTVM use the same numbers.

    ``UNRECORDED`` is ours: MetaSchedule writes that a trial failed, not why.
    """

    UNRECORDED = -1
    NO_ERROR = 0
    INSTANTIATION_ERROR = 1
    COMPILE_HOST = 2
    COMPILE_DEVICE = 3
    RUNTIME_DEVICE = 4
    WRONG_ANSWER = 5
    BUILD_TIMEOUT = 6
    RUN_TIMEOUT = 7
    UNKNOWN_ERROR = 8

    @property
    def label(self) -> str:
        """The name TVM prints: ``"BuildTimeoutError"``."""
        return _LABELS[self]


_LABELS = {
    MeasureError.UNRECORDED: "an error without a code",
    MeasureError.NO_ERROR: "NoError",
    MeasureError.INSTANTIATION_ERROR: "InstantiationError",
    MeasureError.COMPILE_HOST: "CompileHostError",
    MeasureError.COMPILE_DEVICE: "CompileDeviceError",
    MeasureError.RUNTIME_DEVICE: "RuntimeDeviceError",
    MeasureError.WRONG_ANSWER: "WrongAnswerError",
    MeasureError.BUILD_TIMEOUT: "BuildTimeoutError",
    MeasureError.RUN_TIMEOUT: "RunTimeoutError",
    MeasureError.UNKNOWN_ERROR: "UnknownError",
}

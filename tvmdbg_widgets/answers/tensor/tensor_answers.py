"""What the tensor inspector is told, as ``js/src/shared/client/tensor_questions.ts`` has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tvmdbg_widgets.answers.answering import Context, Reply
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.answers.tensor.channels import channels
from tvmdbg_widgets.answers.tensor.data import data
from tvmdbg_widgets.answers.tensor.profile import profile
from tvmdbg_widgets.answers.tensor.region import region
from tvmdbg_widgets.answers.tensor.statistics import (
    cancel_tensor,
    percentiles,
    tensor_statistics,
)
from tvmdbg_widgets.answers.tensor.tensor import tensor
from tvmdbg_widgets.answers.tensor.values import values

#: By kind of question.
TENSOR_ANSWERS: Mapping[str, Callable[[Context, Question], Reply]] = {
    "tensor": tensor,
    "statistics": tensor_statistics,
    "percentiles": percentiles,
    "cancelTensor": cancel_tensor,
    "values": values,
    "profile": profile,
    "channels": channels,
    "data": data,
    "region": region,
}

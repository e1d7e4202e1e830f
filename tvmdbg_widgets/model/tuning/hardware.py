"""Hardware parameters of an Ansor task (src/auto_scheduler/search_task.cc)."""

from __future__ import annotations

from dataclasses import astuple, dataclass

#: ``max_local_memory_per_block`` of targets where it is not checked.
UNCHECKED = 2**31 - 1
#: TVM's names of the eight parameters (``HardwareParams``, search_task.py), in the log's order.
HARDWARE_NAMES = (
    *("num_cores", "vector_unit_bytes", "cache_line_bytes", "max_shared_memory_per_block"),
    *("max_local_memory_per_block", "max_threads_per_block", "max_vthread_extent", "warp_size"),
)


@dataclass(frozen=True, repr=False)
class HardwareParams:
    """Limits a schedule must keep, in the order of the log (formats: ``hardware_params``).

    Attributes
    ----------
    num_cores : int
        Threads of the tuning process; -1 on GPUs.
    vector_unit_bytes, cache_line_bytes : int
    max_shared_memory_per_block : int
        Bytes.
    slot4 : int
        Two meanings: bytes of local memory a block may have (2147483647: unchecked), or, in logs
        written before 2020-12-05, registers a block may have; see `slot4_meaning`.
    max_threads_per_block, max_vthread_extent, warp_size : int
    """

    num_cores: int
    vector_unit_bytes: int
    cache_line_bytes: int
    max_shared_memory_per_block: int
    slot4: int
    max_threads_per_block: int
    max_vthread_extent: int
    warp_size: int

    @property
    def slot4_meaning(self) -> str:
        """``"registers"`` for 65536, which only the old meaning has on CUDA, else ``"bytes"``."""
        return "registers" if self.slot4 == 65536 else "bytes"

    @property
    def max_registers_per_block(self) -> int | None:
        """The old meaning of slot 4; None where it has the new one."""
        return self.slot4 if self.slot4_meaning == "registers" else None

    @property
    def max_local_memory_per_block(self) -> int | None:
        """The new meaning of slot 4, bytes; None where it has the old one."""
        return None if self.slot4_meaning == "registers" else self.slot4

    def to_list(self) -> list[int]:
        """The eight numbers as the log has them."""
        return list(astuple(self))

    def __repr__(self) -> str:
        is_old = self.slot4_meaning == "registers"
        names = [
            "max_registers_per_block" if is_old and name == "max_local_memory_per_block" else name
            for name in HARDWARE_NAMES
        ]
        told = ", ".join(
            f"{name}={number}" for name, number in zip(names, self.to_list(), strict=True)
        )
        return f"HardwareParams({told})"

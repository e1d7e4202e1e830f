"""A captured connection of TVM's RPC as users hold it."""

from __future__ import annotations

from tvmdbg_widgets.rpc.log import RpcLog as RpcLog
from tvmdbg_widgets.rpc.opening import open_rpc as open_rpc

__all__ = ["RpcLog", "open_rpc"]

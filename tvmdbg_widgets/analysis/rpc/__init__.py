"""Who asked what in a connection of TVM's RPC, and who waited for whom."""

"""Figures of conversations of TVM's RPC."""

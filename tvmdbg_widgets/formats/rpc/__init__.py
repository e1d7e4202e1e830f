"""TVM's RPC on the wire: packets of both directions of a connection."""

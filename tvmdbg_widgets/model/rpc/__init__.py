"""What a conversation of TVM's RPC is made of."""

"""The graph JSON of TVM's graph executor and debugger."""

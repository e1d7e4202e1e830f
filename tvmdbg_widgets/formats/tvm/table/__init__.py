"""The table of times that TVM's debugger and VM print."""

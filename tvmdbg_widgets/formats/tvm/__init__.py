"""The files of TVM: graph JSON, parameters, execution traces and tables."""

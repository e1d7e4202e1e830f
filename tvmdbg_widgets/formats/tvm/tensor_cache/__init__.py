"""Folders of parameters in shards, as MLC and TVM's tensor cache have them."""

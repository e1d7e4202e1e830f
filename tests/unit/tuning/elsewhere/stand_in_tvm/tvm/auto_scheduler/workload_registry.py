import json
import sys

from tvm import called

WORKLOAD_FUNC_REGISTRY = {}


def register_workload(func_name, f=None, override=False):
    if callable(func_name):
        f, func_name = func_name, func_name.__qualname__

    def register(function):
        if func_name in WORKLOAD_FUNC_REGISTRY and not override:
            raise RuntimeError(f"{func_name} has been registered already")
        WORKLOAD_FUNC_REGISTRY[func_name] = function
        return function

    return register(f) if f else register


def workload_key_to_tensors(key):
    if key in WORKLOAD_FUNC_REGISTRY:
        return WORKLOAD_FUNC_REGISTRY[key]
    name, *args = json.loads(key)
    return WORKLOAD_FUNC_REGISTRY[name](*args)


def serialized(key):
    """Say whether another process could import the function, or gets it by value."""
    name = key if key in WORKLOAD_FUNC_REGISTRY else json.loads(key)[0]
    value = WORKLOAD_FUNC_REGISTRY[name]
    if callable(value):
        called("serialized", name, "name" if value.__module__ in sys.modules else "value")

# SPDX-License-Identifier: Apache-2.0
"""Dynamic networks from PyTorch to Switchyard, and its reports in pandas (docs/python.md).

    block = switchyard.switch(h, gate, threshold=0.5)      # in forward(): the one line of a router
    h = block.merge(block[0], layers(block[1]))
    captured = switchyard.capture(network, inputs, "out/network", batch=128)
    report = captured.run("configs/platforms/adyna.yaml")
"""
from .frames import read_experiment, read_report, read_sweep

__all__ = ["CaptureError", "Captured", "capture", "read_experiment", "read_report", "read_sweep", "switch"]


def __getattr__(name):
    """What needs PyTorch is loaded when it is asked for."""
    if name == "switch":
        from .routers import switch
        return switch
    if name in ("capture", "Captured", "CaptureError"):
        import importlib
        return getattr(importlib.import_module(".recording", __name__), name)
    raise AttributeError(name)

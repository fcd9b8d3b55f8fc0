"""Held-out associations: what predicts them, and sweeps over settings.

The stub `__init__.pyi` lists the public names. Each is loaded when it is first used: spreading of
activation needs none of them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

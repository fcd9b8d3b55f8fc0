"""Prediction of held-out associations, and sweeps over settings.

The stub `__init__.pyi` lists the public names. Each name is imported when it is first used, because
splits do not require the predictor.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

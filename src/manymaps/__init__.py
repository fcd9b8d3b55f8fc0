"""manymaps: visualize and model similarities that a single map cannot represent.

The stub `__init__.pyi` lists the public names. Each name is loaded at first use, so that
`import manymaps` is fast.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]

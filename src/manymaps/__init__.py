"""manymaps: show and model similarities that no single map can hold.

The stub `__init__.pyi` lists the public names. Each is loaded when it is first used, so that
`import manymaps` is quick.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]

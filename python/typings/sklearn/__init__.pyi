# For pyright, which finds `lookalike/NAME.py` where the package NAME is meant and not installed.
from typing import Any

def __getattr__(name: str) -> Any: ...

# The compiled module. What of it is public, and with which types, is in __init__.pyi.
from typing import Any

def __getattr__(name: str) -> Any: ...

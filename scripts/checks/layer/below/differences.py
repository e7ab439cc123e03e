"""placeholder"""
from pathlib import Path
LIST = Path("x.md")

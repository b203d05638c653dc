"""Near-duplicate documents, found fast and verified."""

from lookalike._engine import VERSION as __version__

__all__ = ["__version__"]

"""A faster replacement of datasketch 2.0.0: import ``lookalike.datasketch`` instead of
``datasketch``.

Both packages compute the same hash values, bands and results, bit for bit.
``docs/guides/datasketch.md`` lists the differences in behaviour.
"""

from __future__ import annotations

from typing import Any

from lookalike.datasketch.b_bit_minhash import bBitMinHash
from lookalike.datasketch.borrowed import BORROWED_NAMES
from lookalike.datasketch.borrowed import borrowed as _borrowed
from lookalike.datasketch.hashfunc import (
    sha1_hash32,
    sha1_hash64,
    token_hash32,
    token_hash64,
)
from lookalike.datasketch.hyperloglog import HyperLogLog, HyperLogLogPlusPlus
from lookalike.datasketch.lean_minhash import LeanMinHash
from lookalike.datasketch.lsh import (
    MinHashLSH,
    MinHashLSHDeletionSession,
    MinHashLSHInsertionSession,
)
from lookalike.datasketch.lsh_bloom import MinHashLSHBloom
from lookalike.datasketch.lshensemble import MinHashLSHEnsemble
from lookalike.datasketch.lshforest import MinHashLSHForest
from lookalike.datasketch.minhash import MinHash, from_token_sets
from lookalike.datasketch.pickles import dump, dumps, load, loads
from lookalike.datasketch.weighted_minhash import WeightedMinHash, WeightedMinHashGenerator

WeightedMinHashLSH = MinHashLSH
"""Another name for ``MinHashLSH``, which also takes a ``WeightedMinHash``."""
WeightedMinHashLSHForest = MinHashLSHForest
"""Another name for ``MinHashLSHForest``, which also takes a ``WeightedMinHash``."""

__all__ = [
    "HyperLogLog",
    "HyperLogLogPlusPlus",
    "LeanMinHash",
    "MinHash",
    "MinHashLSH",
    "MinHashLSHBloom",
    "MinHashLSHDeletionSession",
    "MinHashLSHEnsemble",
    "MinHashLSHForest",
    "MinHashLSHInsertionSession",
    "WeightedMinHash",
    "WeightedMinHashGenerator",
    "WeightedMinHashLSH",
    "WeightedMinHashLSHForest",
    "bBitMinHash",
    "dump",
    "dumps",
    "from_token_sets",
    "load",
    "loads",
    "sha1_hash32",
    "sha1_hash64",
    "token_hash32",
    "token_hash64",
]

# The version of datasketch that computes the same values.
__version__ = "2.0.0"


def __getattr__(name: str) -> Any:
    if name in BORROWED_NAMES:
        return _borrowed(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

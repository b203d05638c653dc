"""datasketch 2.0.0, many times faster: change ``datasketch`` to ``lookalike.datasketch``."""

from lookalike.datasketch.hashfunc import sha1_hash32, sha1_hash64
from lookalike.datasketch.minhash import MinHash, from_token_sets

__all__ = ["MinHash", "from_token_sets", "sha1_hash32", "sha1_hash64"]

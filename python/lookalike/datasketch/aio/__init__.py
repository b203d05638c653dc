"""The module ``aio`` of an installed datasketch."""

from lookalike.datasketch.borrowed import replace_stub

replace_stub(__name__, "lsh", "storage")

"""Stands for the module ``experimental`` of an installed datasketch, and replaces itself by it."""

from lookalike.datasketch.borrowed import replace_stub

replace_stub(__name__, "aio", "aio.lsh")

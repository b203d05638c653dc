"""Arrow values that are made without pandas.

``pyarrow.table``, ``pyarrow.array`` and ``pyarrow.scalar``, and functions of ``pyarrow.compute``
that get a value of Python, import pandas where it is installed, to see whether what they get is of
it. This takes each new process of a cluster 1.1 CPU seconds and some 50 MB (``bench/cluster.md``).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final

from lookalike.errors import OptionError

if TYPE_CHECKING:
    import pyarrow

MOST_BYTES: Final = (1 << 31) - 1
"""Bytes of texts that an Arrow array holds."""


def import_arrow() -> Any:
    """The module ``pyarrow``.

    Raises:
        OptionError: It is not installed.
    """
    try:
        import pyarrow
    except ImportError:
        raise OptionError("lookalike.stages needs pyarrow: pip install pyarrow") from None
    return pyarrow


def read_table(rows: Any) -> pyarrow.Table:
    """The table of an object with rows for Arrow, without copying them.

    Args:
        rows: An object with ``__arrow_c_stream__``.
    """
    return import_arrow().RecordBatchReader.from_stream(rows).read_all()


def int_scalar(value: int) -> pyarrow.Int64Scalar:
    """A number of 64 bits."""
    pa = import_arrow()
    return _of_buffers(pa.int64(), struct.pack("=q", value))[0]


def bool_scalar(value: bool) -> pyarrow.BooleanScalar:
    """A truth value."""
    return _of_buffers(import_arrow().bool_(), bytes([value]))[0]


def text_array(value: bytes) -> pyarrow.StringArray:
    """An array of one text, which is not copied.

    Args:
        value: UTF-8, at most ``MOST_BYTES``.
    """
    return _of_buffers(import_arrow().string(), struct.pack("=2i", 0, len(value)), value)


def _of_buffers(kind: Any, *buffers: bytes) -> Any:
    """An array of one value that is not null."""
    pa = import_arrow()
    return pa.Array.from_buffers(kind, 1, [None, *(pa.py_buffer(buffer) for buffer in buffers)])

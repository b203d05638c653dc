"""Creates Arrow values without importing pandas.

``pyarrow.table``, ``pyarrow.array`` and ``pyarrow.scalar`` import pandas if it is installed, to
check whether their argument is a pandas object. Functions of ``pyarrow.compute`` do the same for
an argument that is a Python value. The import takes 1.1 CPU seconds and some 50 MB in each new
process of a cluster (``bench/cluster.md``).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final

from lookalike.errors import OptionError

if TYPE_CHECKING:
    import pyarrow

MOST_BYTES: Final = (1 << 31) - 1
"""The most bytes of texts that an Arrow array with 32-bit offsets can hold."""


def import_arrow() -> Any:
    """Imports the module ``pyarrow``.

    Raises:
        OptionError: The package is not installed.
    """
    try:
        import pyarrow
    except ImportError:
        raise OptionError("lookalike.stages needs pyarrow: pip install pyarrow") from None
    return pyarrow


def read_table(rows: Any) -> pyarrow.Table:
    """Converts the rows of an object to a table, without copying them.

    Args:
        rows: An object with the method ``__arrow_c_stream__``.
    """
    return import_arrow().RecordBatchReader.from_stream(rows).read_all()


def int_scalar(value: int) -> pyarrow.Int64Scalar:
    """Creates a scalar of a 64-bit integer."""
    pa = import_arrow()
    return _of_buffers(pa.int64(), struct.pack("=q", value))[0]


def bool_scalar(value: bool) -> pyarrow.BooleanScalar:
    """Creates a boolean scalar."""
    return _of_buffers(import_arrow().bool_(), bytes([value]))[0]


def text_array(value: bytes) -> pyarrow.StringArray:
    """Creates an array of one text without copying it.

    Args:
        value: The text in UTF-8, of at most ``MOST_BYTES`` bytes.
    """
    return _of_buffers(import_arrow().string(), struct.pack("=2i", 0, len(value)), value)


def _of_buffers(kind: Any, *buffers: bytes) -> Any:
    """Creates an array of one value that is not null, from the buffers of its type."""
    pa = import_arrow()
    return pa.Array.from_buffers(kind, 1, [None, *(pa.py_buffer(buffer) for buffer in buffers)])

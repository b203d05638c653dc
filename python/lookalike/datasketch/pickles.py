"""Reads pickles of datasketch, and writes pickles that datasketch reads."""

from __future__ import annotations

import copyreg
import io
import pickle
from types import FunctionType
from typing import IO, Any, ClassVar, cast

__all__ = ["dump", "dumps", "load", "loads"]

_OWN_PACKAGE = "lookalike.datasketch"
_DATASKETCH = "datasketch"
# The module that defines the class ``BloomFilter``, in this package and for datasketch.
_OUR_FILTERS = f"{_OWN_PACKAGE}.lsh_bloom"
_THEIR_FILTERS = "pybloomfilter"


# Functions that only this package has, each with an alternative to suggest.
_TOKEN_HASH = "use pickle, or a sketch with a hashfunc that datasketch has, such as LeanMinHash(m)"
_OURS_ONLY = {
    "from_token_sets": "use pickle",
    "token_hash32": _TOKEN_HASH,
    "token_hash64": _TOKEN_HASH,
}


def reduced(value: Any, protocol: int) -> tuple[Any, ...] | None:
    """Returns the value of ``__reduce_ex__`` for an object of a class that is derived from a class
    of the engine. Returns None if the inherited value works: for protocols from 2 on, or if the
    class has its own ``__reduce__``. The default of protocols 0 and 1 cannot create such objects.
    """
    own = cast("Any", type(value)).__reduce__ is not object.__reduce__
    if protocol >= 2 or own:
        return None
    return copyreg.__newobj__, (type(value),), value.__getstate__()  # type: ignore[attr-defined]


def _made(cls: type, base: type, state: object) -> Any:
    """Replaces ``copyreg._reconstructor``, with which protocols 0 and 1 create objects. It would
    call ``object.__new__``, but an object of the engine must be created with the ``__new__`` of
    its own class.
    """
    if base is object:
        return cast("Any", cls).__new__(cls)
    return cast("Any", copyreg)._reconstructor(cls, base, state)


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if name == "_reconstructor" and module in ("copyreg", "copy_reg"):
            return _made
        if module == _DATASKETCH or module.startswith(f"{_DATASKETCH}."):
            module = _OWN_PACKAGE + module[len(_DATASKETCH) :]
        elif (module, name) == (_THEIR_FILTERS, "BloomFilter"):
            module = _OUR_FILTERS
        try:
            return super().find_class(module, name)
        except (ImportError, AttributeError) as error:
            if module.startswith(_OWN_PACKAGE):
                raise pickle.UnpicklingError(
                    f"{_OWN_PACKAGE} has no {name} of {module}: {error}"
                ) from error
            raise


class _Writer(pickle._Pickler):
    # Leave out the functions that dill registers, because they write names in another way.
    dispatch: ClassVar[Any] = {
        kind: save for kind, save in pickle._Pickler.dispatch.items() if save.__module__ == "pickle"
    }

    def save_global(self: Any, obj: Any, name: str | None = None) -> None:
        module = getattr(obj, "__module__", None) or ""
        if module != _OWN_PACKAGE and not module.startswith(f"{_OWN_PACKAGE}."):
            cast("Any", pickle._Pickler).save_global(self, obj, name)
            return
        if obj.__qualname__ in _OURS_ONLY:
            raise pickle.PicklingError(
                f"cannot write {obj.__qualname__} for datasketch, which does not have it: "
                f"{_OURS_ONLY[obj.__qualname__]}"
            )
        is_filter = (module, obj.__qualname__) == (_OUR_FILTERS, "BloomFilter")
        self.save(_THEIR_FILTERS if is_filter else _DATASKETCH + module[len(_OWN_PACKAGE) :])
        self.save(obj.__qualname__)
        self.write(pickle.STACK_GLOBAL)
        self.memoize(obj)

    dispatch[FunctionType] = save_global
    dispatch[dict] = cast("Any", pickle._Pickler).save_dict
    dispatch[type] = cast("Any", pickle._Pickler).save_type


def load(file: IO[bytes]) -> Any:
    """Reads a pickle of datasketch 2.0.0 or earlier. Returns objects of this package instead of
    objects of datasketch.

    Loading a pickle can run any code: read only files from sources that you trust.

    Args:
        file: The file, opened for reading in binary mode.

    Raises:
        pickle.UnpicklingError: The file is not a pickle, or needs a class that this package does
            not have.
    """
    return _Reader(file).load()


def loads(data: bytes) -> Any:
    """Like ``load``, but reads from bytes.

    Examples:
        >>> from lookalike.datasketch import MinHash
        >>> m = MinHash(num_perm=4)
        >>> loads(dumps(m)) == m
        True
    """
    return load(io.BytesIO(data))


def dump(obj: Any, file: IO[bytes], protocol: int = 4) -> None:
    """Writes a pickle of objects of this package that datasketch 2.0.0 can read.

    Args:
        obj: The object, or a container of objects.
        file: The file, opened for writing in binary mode.
        protocol: The protocol of the pickle, at least 4.

    Raises:
        ValueError: The protocol is less than 4, or Python does not support it.
        pickle.PicklingError: The object needs a function that datasketch does not have, such as
            ``token_hash32``.
    """
    if protocol < 4:
        raise ValueError(f"protocol must be at least 4, got {protocol}")
    _Writer(file, protocol).dump(obj)


def dumps(obj: Any, protocol: int = 4) -> bytes:
    """Like ``dump``, but returns bytes."""
    file = io.BytesIO()
    dump(obj, file, protocol)
    return file.getvalue()

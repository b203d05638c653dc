"""The types of ``lsh.keys`` and ``lsh.hashtables``. For an index in memory or in a folder, they
are views of the index. For another storage, such as Redis, they are its containers.

Containers in Redis have the layout of datasketch, so both packages can use the same index.
"""

from __future__ import annotations

import os
import random
import string
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, NoReturn, Protocol

__all__ = [
    "BucketView",
    "DictListStorage",
    "DictSetStorage",
    "KeyView",
    "OrderedStorage",
    "RedisBuffer",
    "RedisListStorage",
    "RedisSetStorage",
    "RedisStorage",
    "Storage",
    "UnorderedStorage",
    "ordered_storage",
    "unordered_storage",
]

_BUFFER_SIZE = 50000
# Classes that an installed datasketch provides.
_CASSANDRA = ("CassandraListStorage", "CassandraSetStorage")


def __getattr__(name: str) -> Any:
    if name in _CASSANDRA or name in ("CassandraClient", "CassandraSharedSession"):
        return _of_cassandra(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _of_cassandra(name: str) -> Any:
    try:
        import datasketch.storage as module
    except ImportError:
        module = None
    found = getattr(module, name, None)
    if found is None:
        raise AttributeError(
            f"cannot import {name}: indexes in Cassandra need datasketch and its driver; `pip "
            "install 'datasketch[cassandra]'`, or use {'type': 'redis', …} or {'type': "
            "'lookalike', 'path': FOLDER}, which need neither"
        )
    return found


def _random_name(length: int) -> bytes:
    """Returns random lower-case letters."""
    return "".join(random.choices(string.ascii_lowercase, k=length)).encode()


class Storage(ABC):
    """The base class of containers that store several values for each key."""

    @abstractmethod
    def keys(self) -> Iterable[Any]:
        """Returns all keys."""

    @abstractmethod
    def get(self, key: Any) -> Any:
        """Returns the values of ``key``; an empty container if the key does not exist."""

    @abstractmethod
    def insert(self, key: Any, *vals: Any, buffer: bool = False) -> None:
        """Adds values to ``key``. With ``buffer``, a storage may write them later, together with
        other changes.
        """

    @abstractmethod
    def remove(self, *keys: Any, buffer: bool = False) -> None:
        """Removes keys with their values."""

    @abstractmethod
    def remove_val(self, key: Any, val: Any, buffer: bool = False) -> None:
        """Removes a value of ``key``."""

    @abstractmethod
    def size(self) -> int:
        """Returns the number of keys."""

    @abstractmethod
    def itemcounts(self) -> dict[Any, int]:
        """Returns the number of values of each key."""

    @abstractmethod
    def has_key(self, key: Any) -> bool:
        """Tells whether ``key`` exists."""

    def getmany(self, *keys: Any) -> list[Any]:
        """Returns the values of each of these keys, in the form of ``get``."""
        return [self.get(key) for key in keys]

    @property
    def buffer_size(self) -> int:
        """The maximum number of changes that are collected before they are written."""
        return getattr(self, "_buffer_size", _BUFFER_SIZE)

    @buffer_size.setter
    def buffer_size(self, value: int) -> None:
        self._buffer_size = value

    def status(self) -> dict[str, Any]:
        """Returns a dict with the number of keys, ``keyspace_size``."""
        return {"keyspace_size": self.size()}

    def empty_buffer(self) -> None:
        """Writes the collected changes. A storage in memory collects none."""

    def add_to_select_buffer(self, keys: Iterable[Any]) -> None:
        """Reads the values of these keys. The next ``collect_select_buffer`` returns them."""
        vars(self).setdefault("_select_buffer", []).extend(self.getmany(*keys))

    def collect_select_buffer(self) -> list[Any]:
        """Returns the values that ``add_to_select_buffer`` read since the last call."""
        collected: list[Any] = vars(self).pop("_select_buffer", [])
        return collected

    def __getitem__(self, key: Any) -> Any:
        return self.get(key)

    def __delitem__(self, key: Any) -> None:
        self.remove(key)

    def __contains__(self, key: Any) -> bool:
        return self.has_key(key)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.keys())

    def __len__(self) -> int:
        return self.size()


class OrderedStorage(Storage):
    """The base class of containers that store a list for each key."""


class UnorderedStorage(Storage):
    """The base class of containers that store a set for each key."""


class DictListStorage(OrderedStorage):
    """Stores a list for each key, in memory.

    Args:
        config: Ignored.
        name: Ignored.

    Examples:
        >>> storage = ordered_storage({"type": "dict"})
        >>> storage.insert("a", 1, 2)
        >>> storage["a"], storage.itemcounts()
        ([1, 2], {'a': 2})
    """

    def __init__(self, config: dict[str, Any] | None = None, name: bytes | None = None) -> None:
        self._dict: defaultdict[Any, Any] = defaultdict(list)

    def keys(self) -> Iterable[Any]:
        """Returns all keys in the order of insertion."""
        return self._dict.keys()

    def get(self, key: Any) -> Any:
        """Returns the list of ``key``; an empty list if the key does not exist."""
        return self._dict.get(key, [])

    def insert(self, key: Any, *vals: Any, buffer: bool = False) -> None:
        """Adds values to ``key``."""
        self._dict[key].extend(vals)

    def remove(self, *keys: Any, buffer: bool = False) -> None:
        """Removes keys with their values. Stops with KeyError at the first key that does not
        exist.
        """
        for key in keys:
            del self._dict[key]

    def remove_val(self, key: Any, val: Any, buffer: bool = False) -> None:
        """Removes a value of ``key``."""
        self._dict[key].remove(val)

    def size(self) -> int:
        """Returns the number of keys."""
        return len(self._dict)

    def itemcounts(self) -> dict[Any, int]:
        """Returns the number of values of each key."""
        return {key: len(values) for key, values in self._dict.items()}

    def has_key(self, key: Any) -> bool:
        """Tells whether ``key`` exists."""
        return key in self._dict


class DictSetStorage(UnorderedStorage, DictListStorage):
    """Stores a set for each key, in memory.

    Args:
        config: Ignored.
        name: Ignored.
    """

    def __init__(self, config: dict[str, Any] | None = None, name: bytes | None = None) -> None:
        self._dict = defaultdict(set)

    def get(self, key: Any) -> Any:
        """Returns the set of ``key``; an empty set if the key does not exist."""
        return self._dict.get(key, set())

    def insert(self, key: Any, *vals: Any, buffer: bool = False) -> None:
        """Adds values to ``key``."""
        self._dict[key].update(vals)


class _ViewedIndex(Protocol):
    """The members of an index that its views use."""

    _buffer_size: int

    def _tables(self) -> Any: ...
    def _each_key(self) -> Iterator[Any]: ...
    def _insert_bands(self, key: Any, bands: list[bytes], buffer: bool) -> None: ...
    def _remove_kept(self, key: Any, buffer: bool) -> bool: ...
    def _commit(self) -> None: ...


class _View(Storage):
    """The base class of the views of an index."""

    def __init__(self, lsh: _ViewedIndex) -> None:
        self._lsh = lsh
        self._tables: Any = lsh._tables()

    @property
    def buffer_size(self) -> int:
        """The ``buffer_size`` of the index."""
        return self._lsh._buffer_size

    @buffer_size.setter
    def buffer_size(self, value: int) -> None:
        self._lsh._buffer_size = value

    def empty_buffer(self) -> None:
        """Writes the changes that a session of an index in a folder has collected. An index in
        memory collects none.
        """
        self._lsh._commit()

    def remove_val(self, key: Any, val: Any, buffer: bool = False) -> None:
        """Raises ValueError if ``key`` has the value, because only the index can remove it.
        Otherwise does nothing.
        """
        if val in self.get(key):
            self._refuse()

    def _refuse(self) -> NoReturn:
        raise ValueError(
            "cannot change a bucket or band without its key: add keys with "
            "lsh.insert(key, minhash) or lsh.keys.insert(key, *bands), and remove them with "
            "lsh.remove(key)"
        )


class KeyView(_View, OrderedStorage):
    """A view of the keys of an index, each with the bytes of its bands. It reflects later changes
    of the index.

    Examples:
        >>> from lookalike.datasketch import MinHash, MinHashLSH
        >>> lsh = MinHashLSH(num_perm=16, params=(4, 4))
        >>> lsh.insert("a", MinHash(num_perm=16))
        >>> list(lsh.keys), len(lsh.keys["a"])
        (['a'], 4)
    """

    def keys(self) -> list[Any]:
        """Returns all keys in the order of insertion."""
        return self._tables._keys()  # type: ignore[no-any-return]

    def get(self, key: Hashable) -> list[bytes]:
        """Returns the bytes of the bands of ``key``; an empty list if the key does not exist."""
        return self._tables._bands_of(key)  # type: ignore[no-any-return]

    def insert(self, key: Any, *vals: Any, buffer: bool = False) -> None:
        """Adds a key to the index and to its buckets.

        Args:
            key: The key; its pickle if the index has ``prepickle``.
            vals: The bytes of each band.
            buffer: Whether the change may be written later, together with other changes.

        Raises:
            ValueError: The index has another number of bands.
        """
        self._lsh._insert_bands(key, list(vals), buffer)

    def remove(self, *keys: Any, buffer: bool = False) -> None:
        """Removes keys from the index.

        Args:
            keys: The keys; their pickles if the index has ``prepickle``.
            buffer: Whether the change may be written later, together with other changes.

        Raises:
            KeyError: A key does not exist. The keys before it are removed.
        """
        for key in keys:
            if not self._lsh._remove_kept(key, buffer):
                raise KeyError(key)

    def has_key(self, key: Hashable) -> bool:
        """Tells whether ``key`` exists."""
        return self._tables._has(key)  # type: ignore[no-any-return]

    def size(self) -> int:
        """Returns the number of keys."""
        return self._tables._size()  # type: ignore[no-any-return]

    def itemcounts(self) -> dict[Any, int]:
        """Returns the number of bands of each key."""
        return {key: len(self.get(key)) for key in self}

    def __iter__(self) -> Iterator[Any]:
        return self._lsh._each_key()


class BucketView(_View, UnorderedStorage):
    r"""A view of the buckets of one band: sets of keys by the bytes of the band.

    Examples:
        >>> from lookalike.datasketch import MinHash, MinHashLSH
        >>> lsh = MinHashLSH(num_perm=16, params=(4, 4))
        >>> lsh.insert("a", MinHash(num_perm=16))
        >>> lsh.hashtables[0].get(b"\xff" * 16)
        {'a'}
    """

    def __init__(self, lsh: _ViewedIndex, band: int) -> None:
        super().__init__(lsh)
        self._band = band

    def keys(self) -> list[bytes]:
        """Returns the bytes of each bucket."""
        return list(self.itemcounts())

    def get(self, key: bytes) -> set[Any]:
        """Returns the keys in a bucket; an empty set if the bucket does not exist."""
        return set(self._tables._bucket(self._band, key))

    def insert(self, key: bytes, *vals: Any, buffer: bool = False) -> None:
        """Checks that the bucket contains these keys. It cannot add keys: ``lsh.keys.insert`` adds
        a key to its buckets.

        Raises:
            ValueError: The bucket does not contain one of the keys.
        """
        if not self.get(key).issuperset(vals):
            self._refuse()

    def remove(self, *keys: bytes, buffer: bool = False) -> None:
        """Raises ValueError unless these buckets are empty."""
        if any(map(self.has_key, keys)):
            self._refuse()

    def has_key(self, key: bytes) -> bool:
        """Tells whether the bucket exists."""
        return bool(self._tables._bucket(self._band, key))

    def size(self) -> int:
        """Returns the number of buckets."""
        return len(self.itemcounts())

    def itemcounts(self) -> dict[bytes, int]:
        """Returns the number of keys in each bucket."""
        return self._tables._counts_in(self._band)  # type: ignore[no-any-return]


class RedisBuffer:
    """A buffer that collects commands and sends them to Redis together: in ``execute``, and before
    a new command if it already has ``buffer_size`` commands.

    Args:
        connection_pool: The connection pool of a client.
        response_callbacks: The response callbacks of the same client.
        transaction: Whether the commands are sent as one transaction.
        buffer_size: The maximum number of collected commands.
        shard_hint: An argument of ``redis.client.Pipeline``.

    Raises:
        ImportError: The package ``redis`` is not installed.
    """

    def __init__(
        self,
        connection_pool: Any,
        response_callbacks: Any,
        transaction: bool,
        buffer_size: int,
        shard_hint: Any = None,
    ) -> None:
        pipeline = _redis_module().client.Pipeline
        self._begin(
            pipeline(connection_pool, response_callbacks, transaction, shard_hint), buffer_size
        )

    @classmethod
    def _of_client(cls, client: Any, transaction: bool) -> RedisBuffer:
        buffer = cls.__new__(cls)
        buffer._begin(client.pipeline(transaction=transaction), _BUFFER_SIZE)
        return buffer

    def _begin(self, pipeline: Any, buffer_size: int) -> None:
        self._pipeline = pipeline
        self._collected = 0
        self.buffer_size = buffer_size

    def __getattr__(self, command: str) -> Any:
        if command.startswith("_"):
            raise AttributeError(command)
        if self._collected >= max(self.buffer_size, 1):
            self.execute()
        self._collected += 1
        return getattr(self._pipeline, command)

    def execute(self) -> Any:
        """Sends the collected commands and returns the answers. If the server refuses a command,
        the command is not sent again.
        """
        self._collected = 0
        return self._pipeline.execute()


class RedisStorage:
    """The base class of containers in Redis. It has the client and a buffer of commands.

    Args:
        config: ``{"type": "redis", "redis": {…}}`` with the arguments of ``redis.Redis``. The
            value of an argument may be ``{"env": VARIABLE, "default": …}``, which reads it from an
            environment variable. With ``"redis_buffer": {"transaction": False}``, collected
            commands are sent without a transaction.
        name: The prefix of the container's keys in Redis; by default random letters.
        like: Another storage, whose client and buffer the container uses.

    Raises:
        ImportError: The package ``redis`` is not installed.
    """

    def __init__(
        self,
        config: dict[str, Any],
        name: bytes | None = None,
        like: RedisStorage | None = None,
    ) -> None:
        self.config = config
        self._name = _random_name(11) if name is None else name
        if like is None:
            self._redis: Any = _redis_module().Redis(**_resolved(config["redis"]))
            options = _resolved(config.get("redis_buffer", {}))
            self._buffer = RedisBuffer._of_client(self._redis, options.get("transaction", True))
        else:
            self._redis, self._buffer = like._redis, like._buffer

    @property
    def buffer_size(self) -> int:
        """The maximum number of commands that are collected before they are sent."""
        return self._buffer.buffer_size

    @buffer_size.setter
    def buffer_size(self, value: int) -> None:
        self._buffer.buffer_size = value

    def _by(self, buffer: bool) -> Any:
        """Returns the object that receives commands: the buffer or the client."""
        return self._buffer if buffer else self._redis

    def redis_key(self, key: Any) -> bytes:
        """Returns the key in Redis under which the values of ``key`` are stored."""
        return self._name + (key.encode() if isinstance(key, str) else key)

    def __getstate__(self) -> Any:
        return {"config": self.config, "_buffer_size": self.buffer_size, "_name": self._name}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["config"], name=state["_name"])  # type: ignore[misc]
        self.buffer_size = state.get("_buffer_size", _BUFFER_SIZE)


class RedisListStorage(RedisStorage, OrderedStorage):
    """Stores a list for each key, in Redis; see ``RedisStorage``."""

    def redis_keys(self) -> list[bytes]:
        """Returns the ``redis_key`` of each key."""
        return list(self._redis.hvals(self._name))

    def keys(self) -> list[bytes]:
        """Returns all keys."""
        return list(self._redis.hkeys(self._name))

    def status(self) -> dict[str, Any]:
        """Returns the arguments of ``redis.Redis``, and the number of keys, ``keyspace_size``."""
        return {**_resolved(self.config["redis"]), **super().status()}

    @staticmethod
    def _get_items(r: Any, k: bytes) -> Any:
        return r.lrange(k, 0, -1)

    @staticmethod
    def _get_len(r: Any, k: bytes) -> Any:
        return r.llen(k)

    @staticmethod
    def _add_items(r: Any, k: bytes, values: tuple[Any, ...]) -> None:
        r.rpush(k, *values)

    @staticmethod
    def _remove_item(r: Any, k: bytes, value: Any) -> None:
        r.lrem(k, 0, value)

    def get(self, key: Any) -> Any:
        """Returns the values of ``key``; an empty container if the key does not exist."""
        return self._get_items(self._redis, self.redis_key(key))

    def getmany(self, *keys: Any) -> list[Any]:
        """Returns the values of each of these keys, in the form of ``get``. Sends one request."""
        return get_each((self, key) for key in keys)

    def insert(self, key: Any, *vals: Any, buffer: bool = False) -> None:
        """Adds values to ``key``. With ``buffer``, the commands are collected and sent later."""
        r, redis_key = self._by(buffer), self.redis_key(key)
        r.hset(self._name, key, redis_key)
        self._add_items(r, redis_key, vals)

    def remove(self, *keys: Any, buffer: bool = False) -> None:
        """Removes keys with their values. With ``buffer``, the commands are collected and sent
        later.
        """
        r = self._by(buffer)
        r.hdel(self._name, *keys)
        r.delete(*map(self.redis_key, keys))

    def remove_val(self, key: Any, val: Any, buffer: bool = False) -> None:
        """Removes a value of ``key``. Without ``buffer``, also removes the key if no value
        remains.
        """
        redis_key = self.redis_key(key)
        self._remove_item(self._by(buffer), redis_key, val)
        if not buffer and not self._redis.exists(redis_key):
            self._redis.hdel(self._name, key)

    def size(self) -> int:
        """Returns the number of keys."""
        return int(self._redis.hlen(self._name))

    def itemcounts(self) -> dict[Any, int]:
        """Returns the number of values of each key."""
        pipeline, keys = self._redis.pipeline(), self.keys()
        for key in keys:
            self._get_len(pipeline, self.redis_key(key))
        return dict(zip(keys, pipeline.execute()))

    def has_key(self, key: Any) -> bool:
        """Tells whether ``key`` exists."""
        return bool(self._redis.hexists(self._name, key))

    def empty_buffer(self) -> None:
        """Sends the collected commands."""
        self._buffer.execute()


class RedisSetStorage(UnorderedStorage, RedisListStorage):
    """Stores a set for each key, in Redis; see ``RedisStorage``."""

    @staticmethod
    def _get_items(r: Any, k: bytes) -> Any:
        return r.smembers(k)

    @staticmethod
    def _get_len(r: Any, k: bytes) -> Any:
        return r.scard(k)

    @staticmethod
    def _add_items(r: Any, k: bytes, values: tuple[Any, ...]) -> None:
        r.sadd(k, *values)

    @staticmethod
    def _remove_item(r: Any, k: bytes, value: Any) -> None:
        r.srem(k, value)


def get_each(requests: Iterable[tuple[Storage, Any]]) -> list[Any]:
    """Reads the values of several keys, each from its own storage. If all storages share one Redis
    client, sends only one request.

    Args:
        requests: Pairs of a storage and a key.

    Returns:
        The values of each key.
    """
    pairs = list(requests)
    clients = {
        id(storage._redis) if isinstance(storage, RedisListStorage) else None
        for storage, _ in pairs
    }
    first = pairs[0][0] if pairs else None
    if len(clients) != 1 or not isinstance(first, RedisListStorage):
        return [storage.get(key) for storage, key in pairs]
    pipeline = first._redis.pipeline()
    for storage, key in pairs:
        if isinstance(storage, RedisListStorage):
            storage._get_items(pipeline, storage.redis_key(key))
    return list(pipeline.execute())


def _redis_module() -> Any:
    try:
        import redis
    except ImportError as error:
        raise ImportError(
            "cannot use storage type 'redis': the package redis is not installed; `pip install "
            "redis`",
            name="redis",
        ) from error
    return redis


def _resolved(config: dict[str, Any]) -> dict[str, Any]:
    """Returns the options, in which the value of the environment variable replaces an option
    ``{"env": VARIABLE, "default": …}``.
    """
    return {
        key: os.getenv(value["env"], value.get("default"))
        if isinstance(value, dict) and "env" in value
        else value
        for key, value in config.items()
    }


def check_storage(config: dict[str, Any], supported: tuple[str, ...]) -> str:
    """Checks the configuration of a storage, and returns its type.

    Args:
        config: The configuration.
        supported: The types that the caller supports.

    Raises:
        ValueError: The type is unknown, or an option of the type is missing or invalid.
    """
    kind = config.get("type")
    if kind in ("aioredis", "aiomongo"):
        raise ValueError(
            f"storage type {kind!r} works with AsyncMinHashLSH only; to keep this index, use "
            "{'type': 'redis', …} or {'type': 'lookalike', 'path': FOLDER}"
        )
    if kind not in supported:
        raise ValueError(
            f"Unknown storage type: {kind}; expected {' or '.join(map(repr, supported))}"
        )
    if kind in ("redis", "cassandra") and not isinstance(config.get(kind), dict):
        content = "the arguments of redis.Redis" if kind == "redis" else "seeds and keyspace"
        raise ValueError(f"storage type {kind!r} needs {kind!r}: a dict of {content}")
    if not isinstance(config.get("basename", b""), bytes):
        raise ValueError(f"basename must be bytes, got {config['basename']!r}")
    return str(kind)


_KINDS = ("dict", "redis", "cassandra")


def ordered_storage(config: dict[str, Any], name: bytes | None = None) -> Storage:
    """Creates a storage of a list for each key.

    Args:
        config: The storage: ``{"type": "dict"}`` in memory, ``{"type": "redis", …}`` in Redis (see
            ``RedisStorage``), or ``{"type": "cassandra", …}`` with an installed datasketch.
        name: The prefix of the keys in the database.

    Raises:
        ValueError: The type is unknown, or an option of the type is missing or invalid.
    """
    kind = check_storage(config, _KINDS)
    if kind == "cassandra":
        return _of_cassandra(_CASSANDRA[0])(config, name=name)  # type: ignore[no-any-return]
    return DictListStorage(config) if kind == "dict" else RedisListStorage(config, name=name)


def unordered_storage(config: dict[str, Any], name: bytes | None = None) -> Storage:
    """Creates a storage of a set for each key. Takes the arguments of ``ordered_storage``, and
    raises the same errors.
    """
    kind = check_storage(config, _KINDS)
    if kind == "cassandra":
        return _of_cassandra(_CASSANDRA[1])(config, name=name)  # type: ignore[no-any-return]
    return DictSetStorage(config) if kind == "dict" else RedisSetStorage(config, name=name)

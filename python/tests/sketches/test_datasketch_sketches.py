"""Compares lean, b-bit and weighted sketches, and pickles of all classes, with datasketch."""

from __future__ import annotations

import importlib
import importlib.util
import io
import pickle
import random
import struct
import subprocess
import sys
from typing import Any

import pytest

np = pytest.importorskip("numpy", reason="numpy is not installed")
original = pytest.importorskip("datasketch", reason="datasketch is not installed")

import lookalike.datasketch as ours  # noqa: E402

SCHEMES = ["affine32", "affine64", "legacy"]


def pair(count: int = 100, seed: int = 1, **arguments: Any) -> tuple[Any, Any]:
    draw = random.Random(count)
    tokens = [draw.randbytes(8) for _ in range(count)]
    sketches = original.MinHash(seed=seed, **arguments), ours.MinHash(seed=seed, **arguments)
    for m in sketches:
        m.update_batch(tokens)
    return sketches


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("byteorder", "@=<>!")
@pytest.mark.parametrize("num_perm", [1, 7, 128])
def test_lean_bytes(scheme: str, byteorder: str, num_perm: int) -> None:
    a, b = (
        package.LeanMinHash(m)
        for package, m in zip((original, ours), pair(scheme=scheme, num_perm=num_perm, seed=9))
    )
    assert a.bytesize(byteorder) == b.bytesize(byteorder)
    buffers = [bytearray(a.bytesize(byteorder) + 3) for _ in range(2)]
    a.serialize(buffers[0], byteorder)
    b.serialize(buffers[1], byteorder)
    assert buffers[0] == buffers[1]
    c = ours.LeanMinHash.deserialize(buffers[0], byteorder)
    assert c == b and c.hashvalues.dtype == a.hashvalues.dtype and hash(c) == hash(b) == hash(a)
    assert original.LeanMinHash.deserialize(buffers[1], byteorder) == a
    for cut in (0, 5, 12, 13):
        with pytest.raises(struct.error):
            ours.LeanMinHash.deserialize(buffers[0][:cut], byteorder)
    with pytest.raises(ValueError):
        b.serialize(bytearray(3), byteorder)


def test_lean_is_a_minhash() -> None:
    (_, m), (_, n) = pair(50), pair(60)
    one, two = ours.LeanMinHash(m), ours.LeanMinHash(n)
    assert isinstance(one, ours.MinHash) and one.jaccard(two) == m.jaccard(n) == one.jaccard(n)
    union = ours.LeanMinHash.union(one, two)
    assert (union.hashvalues == ours.MinHash.union(m, n).hashvalues).all()
    assert one.copy() == one and len({one, one.copy(), two}) == 2
    two.merge(one)
    assert two == ours.LeanMinHash.union(ours.LeanMinHash(n), one)
    for call in (one.update, one.update_batch):
        with pytest.raises(TypeError):
            call(b"x")
    with pytest.raises(AttributeError):
        _ = one.hashfunc
    for arguments in (
        {},
        {"seed": 1},
        {"seed": 1, "hashvalues": [1]},
        {"seed": 1, "hashvalues": [], "scheme": "affine32"},
        {"seed": 1, "hashvalues": [1], "scheme": "x"},
        {"minhash": m, "scheme": "legacy"},
    ):
        with pytest.raises(ValueError):
            ours.LeanMinHash(**arguments)
    with pytest.raises(ValueError, match="code"):
        ours.LeanMinHash.deserialize(struct.pack("<qiB", 1, -1, 9) + bytes(8), "<")


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("b", [0, 1, 2, 3, 4, 7, 16, 31, 32])
def test_b_bit(scheme: str, b: int) -> None:
    (a1, b1), (a2, b2) = pair(50, scheme=scheme), pair(60, scheme=scheme)
    for r in (0.0, 0.1):
        x1, x2 = original.bBitMinHash(a1, b, r), original.bBitMinHash(a2, b, r)
        y1, y2 = ours.bBitMinHash(b1, b, r), ours.bBitMinHash(b2, b, r)
        if b > 0:
            assert x1.jaccard(x2) == y1.jaccard(y2)
        assert x1.bytesize() == y1.bytesize() and x1.__getstate__() == y1.__getstate__()
        assert ours.loads(pickle.dumps(x1)) == y1
        assert pickle.loads(ours.dumps(y1)) == x1
        assert pickle.loads(pickle.dumps(y1)) == y1
    if b > 0:
        with pytest.raises(ValueError):
            ours.bBitMinHash(b1, b).jaccard(ours.bBitMinHash(b1, b - 1))


def test_b_bit_refuses() -> None:
    _, m = pair()
    for arguments in ({"b": 33}, {"b": -1}, {"r": 1.5}):
        with pytest.raises(ValueError):
            ours.bBitMinHash(m, **arguments)


@pytest.mark.parametrize("dim", [1, 2, 9, 100])
def test_weighted(dim: int) -> None:
    a = original.WeightedMinHashGenerator(dim, 64, seed=3)
    b = ours.WeightedMinHashGenerator(dim, 64, seed=3)
    draw = np.random.RandomState(dim)
    vectors = (draw.uniform(0, 10, (40, dim)) * (draw.uniform(size=(40, dim)) < 0.6)).round(2)
    vectors[:, 0] += vectors.sum(axis=1) == 0
    for v in vectors:
        for weights in (v, v.tolist(), v.astype(np.float32)):
            x, y = a.minhash(weights), b.minhash(weights)
            np.testing.assert_array_equal(x.hashvalues, y.hashvalues)
            assert x.hashvalues.dtype == y.hashvalues.dtype
    assert x.jaccard(a.minhash(vectors[0])) == y.jaccard(b.minhash(vectors[0]))
    assert y.copy() == y and len(y) == 64
    vectors[3] = 0
    many = a.minhash_many(vectors)
    for x, y in zip(many, b.minhash_many(vectors), strict=True):
        assert (x is None) == (y is None)
        if x is not None:
            np.testing.assert_array_equal(x.hashvalues, y.hashvalues)
    sparse = pytest.importorskip("scipy.sparse", reason="scipy is not installed")
    for form in (sparse.csr_matrix, sparse.coo_matrix, sparse.csc_matrix):
        for x, y in zip(many, b.minhash_many(form(vectors)), strict=True):
            assert (x is None and y is None) or (x.hashvalues == y.hashvalues).all()


def test_weighted_in_indexes() -> None:
    draw = np.random.RandomState(1)
    vectors = draw.uniform(1, 10, (30, 20))
    a, b = (p.WeightedMinHashGenerator(20, 32) for p in (original, ours))
    x, y = [a.minhash(v) for v in vectors], [b.minhash(v) for v in vectors]
    one, two = (p.WeightedMinHashLSH(num_perm=32, params=(16, 2)) for p in (original, ours))
    three, four = (p.WeightedMinHashLSHForest(num_perm=32) for p in (original, ours))
    for k in range(30):
        one.insert(k, x[k])
        two.insert(k, y[k])
        three.add(k, x[k])
        four.add(k, y[k])
    three.index()
    four.index()
    assert one.get_counts() == two.get_counts()
    assert [set(one.query(m)) for m in x] == [set(two.query(m)) for m in y]
    assert [set(three.query(m, 5)) for m in x] == [set(four.query(m, 5)) for m in y]


def test_weighted_refuses() -> None:
    a, b = (p.WeightedMinHashGenerator(3, 8) for p in (original, ours))
    nan, infinite = float("nan"), float("inf")
    for bad in ([0, 0, 0], [1, 2], [nan, 0, 0], [infinite, 1, 1], 5, None, ["a", "b", "c"]):
        with pytest.raises(Exception) as expected:
            a.minhash(bad)
        with pytest.raises(expected.type):
            b.minhash(bad)
    for bad in ([[1, 2, 3]], np.ones(3), np.ones((2, 2)), None):
        with pytest.raises(Exception) as expected:
            a.minhash_many(bad)
        with pytest.raises(expected.type):
            b.minhash_many(bad)
    for weights in ([[1, nan, 1]], [[1, -1, 1]]):
        with pytest.raises(ValueError):
            b.minhash_many(np.array(weights))
    one, two = b.minhash([1, 2, 3]), ours.WeightedMinHashGenerator(3, 8, seed=2).minhash([1, 2, 3])
    with pytest.raises(ValueError):
        one.jaccard(two)


def test_generator_follows_changed_attributes() -> None:
    a, b = (p.WeightedMinHashGenerator(3, 16) for p in (original, ours))

    def agree() -> None:
        x, y = a.minhash([1, 2, 3]), b.minhash([1, 2, 3])
        np.testing.assert_array_equal(x.hashvalues, y.hashvalues)
        many = np.array([[1, 0, 3], [2, 2, 2]])
        for one, two in zip(a.minhash_many(many), b.minhash_many(many), strict=True):
            np.testing.assert_array_equal(one.hashvalues, two.hashvalues)

    agree()
    for generator in (a, b):
        generator.betas[:] = 0
    agree()
    for generator in (a, b):
        generator.rs = generator.rs * np.float32(2)
    agree()
    other = original.WeightedMinHashGenerator(3, 16, seed=2)
    for generator in (a, b):
        generator.rs, generator.ln_cs, generator.betas = other.rs, other.ln_cs, other.betas
        generator.seed = 2
    agree()
    assert b.minhash([1, 2, 3]).seed == 2
    for generator in (a, b):
        generator.sample_size = 8
    assert len(a.minhash([1, 2, 3])) == len(b.minhash([1, 2, 3])) == 8


def test_misshaped_weights_are_errors() -> None:
    a, b = (p.WeightedMinHashGenerator(3, 8) for p in (original, ours))
    for weights in ([[1], [2], [3]], np.ones((3, 3))):
        with pytest.raises(Exception) as expected:
            a.minhash(weights)
        with pytest.raises(expected.type):
            b.minhash(weights)
    with pytest.raises(ValueError, match="masked"):
        b.minhash(np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]))
    for shapes in (((3, 2), (3, 1)), ((3, 2), (3,)), ((3,), (3,)), ((3, 2), (3, 2))):
        one, two = ([p.WeightedMinHash(1, np.ones(s)) for s in shapes] for p in (original, ours))
        assert one[0].jaccard(one[1]) == two[0].jaccard(two[1])


def every_object(package: Any) -> dict[str, Any]:
    """Returns an object of each class, with content."""
    objects: dict[str, Any] = {}
    for scheme in SCHEMES:
        m = package.MinHash(num_perm=16, seed=5, scheme=scheme)
        m.update_batch([b"a", b"b"])
        objects[f"MinHash {scheme}"] = m
        objects[f"LeanMinHash {scheme}"] = package.LeanMinHash(m)
        objects[f"bBitMinHash {scheme}"] = package.bBitMinHash(m, 3)
        for name, options in (("", {}), ("prepickled", {"prepickle": True})):
            lsh = package.MinHashLSH(num_perm=16, params=(4, 4), **options)
            lsh.insert("key", m)
            lsh.insert((1, 2), package.MinHash(num_perm=16, seed=5, scheme=scheme))
            objects[f"MinHashLSH {scheme} {name}"] = lsh
        forest = package.MinHashLSHForest(16, 4)
        forest.add("key", m)
        forest.index()
        forest.add("later", package.MinHash(num_perm=16, seed=5, scheme=scheme))
        objects[f"MinHashLSHForest {scheme}"] = forest
        ensemble = package.MinHashLSHEnsemble(num_perm=16, num_part=2, m=4)
        ensemble.index([("key", m, 2), ("other", m, 7)])
        objects[f"MinHashLSHEnsemble {scheme}"] = ensemble
    generator = package.WeightedMinHashGenerator(4, 8)
    objects["WeightedMinHashGenerator"] = generator
    objects["WeightedMinHash"] = generator.minhash([1, 2, 0, 3])
    return objects


def behaviour(sketch: Any) -> Any:
    """Returns the observable state of an object of either package."""
    name = type(sketch).__name__
    if name == "MinHash":
        sketch = sketch.copy()
        sketch.update(b"c")
        return sketch.hashvalues.tolist(), sketch.scheme, sketch.seed
    if name in ("LeanMinHash", "bBitMinHash", "WeightedMinHash"):
        return sketch.hashvalues.tolist(), getattr(sketch, "scheme", None), sketch.seed
    if name == "WeightedMinHashGenerator":
        return sketch.minhash([4, 3, 2, 1]).hashvalues.tolist()
    package = ours if type(sketch).__module__.startswith("lookalike") else original
    scheme = (
        sketch._minhash_scheme
        if name != "MinHashLSHEnsemble"
        else (sketch.indexes[0][min(sketch.indexes[0])]._minhash_scheme)
    )
    m = package.MinHash(num_perm=16, seed=5, scheme=scheme)
    m.update_batch([b"a", b"b"])
    if name == "MinHashLSH":
        sketch.insert("new", m)
        return set(sketch.query(m)), sketch.get_counts(), (1, 2) in sketch
    if name == "MinHashLSHForest":
        return sketch.query(m, 5), sketch.sorted_hashtables, sketch.keys
    return sorted(sketch.query(m, 2)), sketch.uppers


NAMES = sorted(every_object(ours))


@pytest.mark.parametrize("name", NAMES)
def test_pickles_both_ways(name: str) -> None:
    a, b = every_object(original)[name], every_object(ours)[name]
    expected = behaviour(pickle.loads(pickle.dumps(a)))
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        read = ours.loads(pickle.dumps(a, protocol=protocol))
        assert type(read) is type(b) and behaviour(read) == expected
        read = pickle.loads(pickle.dumps(b, protocol=protocol))
        assert type(read) is type(b) and behaviour(read) == expected
    file = io.BytesIO()
    ours.dump([b, {"x": b}], file)
    assert b"lookalike" not in file.getvalue()
    one, two = pickle.loads(file.getvalue())
    assert type(one) is type(a) and two["x"] is one
    assert behaviour(one) == expected


def test_states_without_a_scheme_are_legacy() -> None:
    """datasketch before 2.0.0 had only one scheme and did not store its name. The test removes the
    entries that 2.0.0 added from a state of the installed version."""
    m = original.MinHash(num_perm=8, scheme="legacy")
    m.update(b"x")
    state = {k: v for k, v in m.__getstate__().items() if k not in ("scheme", "_gpu_mode")}
    read = ours.MinHash.__new__(ours.MinHash)
    read.__setstate__(state)
    assert read.scheme == "legacy" and (read.hashvalues == m.hashvalues).all()


def test_bad_pickles() -> None:
    for bad in (b"", b"\x80\x04nonsense"):
        with pytest.raises((pickle.UnpicklingError, EOFError, ValueError)):
            ours.loads(bad)
    with pytest.raises(pickle.UnpicklingError, match="HyperMinHash"):
        ours.loads(b"cdatasketch.hyperloglog\nHyperMinHash\n.")
    with pytest.raises(ValueError):
        ours.dumps(ours.MinHash(), protocol=2)
    for function in (ours.token_hash32, ours.token_hash64):
        with pytest.raises(pickle.PicklingError, match=function.__name__):
            ours.dumps([ours.MinHash(4, hashfunc=function, scheme="affine64")])
    fast = ours.LeanMinHash(ours.MinHash(4, hashfunc=ours.token_hash32))
    assert pickle.loads(ours.dumps(fast)) == original.LeanMinHash(original.MinHash(4))


BORROWED = ["HNSW", "AsyncMinHashLSH", "aio", "experimental", "hnsw"]


@pytest.mark.parametrize("name", BORROWED)
def test_borrowed_names_come_from_datasketch(name: str) -> None:
    original_class = (
        importlib.import_module(f"datasketch.{name}") if name.islower() else getattr(original, name)
    )
    assert getattr(ours, name) is original_class
    names: dict[str, Any] = {}
    exec(f"from lookalike.datasketch import {name}", names)
    assert names[name] is original_class
    if name.islower():
        assert importlib.import_module(f"lookalike.datasketch.{name}") is original_class
        exec(f"import lookalike.datasketch.{name} as module", names)
        assert names["module"] is original_class


def test_borrowed_modules_are_read_from_pickles() -> None:
    from lookalike.datasketch.experimental import aio
    from lookalike.datasketch.hnsw import HNSW

    graph = HNSW(distance_func=_distance)
    assert aio is original.experimental.aio
    for nested in ("aio.lsh", "aio.storage", "experimental.aio", "experimental.aio.lsh"):
        assert importlib.import_module(f"lookalike.datasketch.{nested}") is importlib.import_module(
            f"datasketch.{nested}"
        )
    for number, m in enumerate(ours.MinHash.bulk([[b"a"], [b"a", b"b"], [b"c"]])):
        graph.insert(number, m)
    assert graph.query(ours.MinHash.bulk([[b"a"]])[0], k=1)[0][0] == 0
    for data in (ours.dumps(graph), pickle.dumps(graph)):
        assert type(ours.loads(data)) is original.HNSW
    with pytest.raises(AttributeError, match="nothing"):
        _ = ours.nothing
    for statement in (
        "from lookalike.datasketch import nothing",
        "import lookalike.datasketch.nothing",
        "from lookalike.datasketch.hnsw import nothing",
        "import lookalike.datasketch.aio.nothing",
    ):
        with pytest.raises(ImportError, match="nothing"):
            exec(statement)


def test_pickles_are_unchanged_by_dill() -> None:
    """dill replaces functions of the pickler, which all packages share."""
    if importlib.util.find_spec("dill") is None:
        pytest.skip("dill is not installed")
    program = """
import dill
import lookalike.datasketch as ours
assert b"lookalike" not in ours.dumps(ours.MinHash(4))
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def _distance(one: Any, two: Any) -> float:
    return 1.0 - float(one.jaccard(two))


@pytest.mark.parametrize("name", BORROWED)
def test_missing_datasketch_suggests_installation(name: str) -> None:
    statements = [f"from lookalike.datasketch import {name}"]
    if name.islower():
        statements += [
            f"import lookalike.datasketch.{name}",
            f"import lookalike.datasketch.{name}.more",
            f"from lookalike.datasketch.{name} import AsyncMinHashLSH",
        ]
    hint = f"cannot import {name}: lookalike.datasketch takes it from datasketch"
    program = f"""
import sys
sys.modules["datasketch"] = None
import lookalike.datasketch as ours
assert not hasattr(ours, {name!r})
for call, error in (
    (lambda: getattr(ours, {name!r}), AttributeError),
    *((lambda s=s: exec(s), ImportError) for s in {statements!r}),
):
    try:
        call()
    except error as e:
        assert {hint!r} in str(e) and "pip install datasketch" in str(e), e
    else:
        raise AssertionError(call)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_datasketch_internals_are_available() -> None:
    assert ours.__version__ == original.__version__
    for module in ("lsh", "lshensemble", "lshforest", "lean_minhash"):
        exec(f"from lookalike.datasketch.{module} import MinHash")
    from lookalike.datasketch.lsh import _random_name, ordered_storage, unordered_storage

    assert _random_name(7).islower() and len(_random_name(7)) == 7
    for make, their in (
        (ordered_storage, original.storage.ordered_storage),
        (unordered_storage, original.storage.unordered_storage),
    ):
        for storage in (make({"type": "dict"}), their({"type": "dict"}, name=b"x")):
            storage.insert("a", 1, 2, 2)
            storage.insert("b", 3, buffer=True)
            storage.remove_val("a", 1)
            storage.remove("b")
            assert "b" not in storage and len(storage) == 1 and list(storage) == ["a"]
            assert set(storage["a"]) == {2} and storage.status() == {"keyspace_size": 1}
            assert storage.itemcounts() == {"a": len(storage["a"])} and storage.buffer_size == 50000
            storage.add_to_select_buffer(["a"])
            assert storage.collect_select_buffer() == [storage["a"]]
            storage.empty_buffer()
            assert storage.getmany("a", "x") == [storage["a"], type(storage["a"])()]
    with pytest.raises((AttributeError, ValueError), match="datasketch|driver|lsh"):
        ours.MinHashLSH(
            storage_config={"type": "cassandra", "cassandra": {"keyspace": "k", "seeds": []}}
        )
    with pytest.raises(AttributeError, match="nothing"):
        _ = importlib.import_module("lookalike.datasketch.storage").nothing


@pytest.mark.parametrize("package", [original, ours])
def test_inserting_as_programs_do_it_themselves(package: Any) -> None:
    """Programs that distribute the work call the functions that ``insert`` calls."""
    lsh, other = package.MinHashLSH(0.5), package.MinHashLSH(0.5)
    for number in range(8):
        m = package.MinHash()
        m.update_batch([b"%d" % (number // 4), b"%d-x" % number, b"more"])
        other.insert(number, m)
        bands = [lsh._H(m.hashvalues[start:end]) for start, end in lsh.hashranges]
        lsh.keys.insert(number, *bands, buffer=False)
        for band, table in zip(bands, lsh.hashtables):
            table.insert(band, number, buffer=False)
    assert lsh.get_counts() == other.get_counts() and list(lsh.keys) == list(range(8))
    assert sorted(lsh.query(m)) == sorted(other.query(m))
    hashed = package.MinHashLSH(0.5, hashfunc=lambda band: band[:2])
    assert hashed._H(m.hashvalues[:5]) == lsh._H(m.hashvalues[:5])[:2]


def test_buckets_change_with_their_keys_only() -> None:
    lsh = ours.MinHashLSH(0.5)
    lsh.insert("a", ours.MinHash())
    bands = lsh.keys["a"]
    table = lsh.hashtables[0]
    for call in (
        lambda: table.insert(bands[0], "b"),
        lambda: table.insert(b"x", "a"),
        lambda: table.remove(bands[0]),
        lambda: table.remove_val(bands[0], "a"),
        lambda: lsh.keys.remove_val("a", bands[0]),
    ):
        with pytest.raises(ValueError, match=r"lsh\.keys\.insert"):
            call()
    with pytest.raises(ValueError, match="bands"):
        lsh.keys.insert("b", *bands[:3])
    table.remove_val(b"x", "a")
    table.remove(b"x")
    lsh.keys.insert("b", *bands)
    assert sorted(lsh.query(ours.MinHash())) == ["a", "b"] == sorted(table[bands[0]])
    del lsh.keys["a"]
    with pytest.raises(KeyError):
        lsh.keys.remove("a")
    assert list(lsh.keys) == ["b"] and table.itemcounts() == {bands[0]: 1}


def test_modules_export_datasketch_names() -> None:
    for name in [
        "b_bit_minhash",
        "hashfunc",
        "hyperloglog",
        "lean_minhash",
        "lsh",
        "lsh_bloom",
        "lshensemble",
        "lshensemble_partition",
        "lshforest",
        "minhash",
        "weighted_minhash",
    ]:
        own_module = importlib.import_module(f"lookalike.datasketch.{name}")
        original_module = importlib.import_module(f"datasketch.{name}")
        public = {
            k
            for k, v in vars(original_module).items()
            if not k.startswith("_") and getattr(v, "__module__", None) == original_module.__name__
        }
        assert public <= set(vars(own_module)), public - set(vars(own_module))


def test_examples_run() -> None:
    import doctest
    import importlib
    import pkgutil

    tried = 0
    for module in pkgutil.iter_modules(ours.__path__):
        if module.name not in ("_native", *BORROWED):
            found = doctest.testmod(importlib.import_module(f"lookalike.datasketch.{module.name}"))
            assert found.failed == 0, module.name
            tried += found.attempted
    assert tried > 30


def test_import_is_light() -> None:
    """Large packages are imported only when they are used."""
    import subprocess
    import sys

    code = (
        "import sys, lookalike.datasketch as d\n"
        "m = d.MinHash(); m.update_batch([b'a']); lsh = d.MinHashLSH(0.5); lsh.insert(1, m)\n"
        "assert lsh.query(m) == [1]\n"
        "print([n for n in ('numpy', 'scipy', 'datasketch') if n in sys.modules])"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout.strip() == "[]"

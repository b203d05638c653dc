"""Features and cross-validation for scikit-learn."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
from typing import Any

import pytest
from sample_texts import texts

import lookalike
from lookalike.errors import DocumentError, DocumentTypeError, OptionError

pytest.importorskip("sklearn")
import numpy
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import check_estimator

from lookalike.sklearn import NearDuplicateKFold, SignatureTransformer, near_duplicate_groups

DOCS = texts(120)


def test_dense_rows_are_the_signatures() -> None:
    rows = SignatureTransformer(output="dense", num_hashes=64, seed=7).fit_transform(DOCS)
    expected = lookalike.prepare(DOCS, num_hashes=64, bands=8, rows=8, seed=7)["signature"]
    assert rows.dtype == numpy.uint32
    assert rows.tolist() == expected
    rows[0, 0] = 5  # The caller may change the array.


@pytest.mark.parametrize("bits", [1, 4, 16])
def test_sparse_rows_are_the_lowest_bits(bits: int) -> None:
    dense = SignatureTransformer(output="dense", num_hashes=48).fit_transform(DOCS)
    rows = SignatureTransformer(num_hashes=48, bits=bits).fit_transform(DOCS)
    assert isinstance(rows, csr_matrix) and rows.has_sorted_indices
    assert (rows.shape, rows.dtype, rows.nnz) == ((120, 48 << bits), numpy.float64, 120 * 48)
    columns = [
        (place << bits) + value % 2**bits
        for values in dense.tolist()
        for place, value in enumerate(values)
    ]
    assert rows.indptr.tolist() == list(range(0, rows.nnz + 1, 48))
    assert rows.indices.tolist() == columns and (rows.data == 1.0).all()


def test_products_estimate_jaccard_similarity() -> None:
    """In theory, the mean number of equal values is J·k of k, with the variance J·(1-J)·k. Allows
    five standard errors."""
    words = [f"w{n}" for n in range(300)]
    pair = [" ".join(words[:200]), " ".join(words[100:])]
    j, k, bits = lookalike.compare(*pair, shingle="bag").jaccard, 4096, 4
    dense = SignatureTransformer(output="dense", num_hashes=k, shingle="bag").fit_transform(pair)
    error = 5 * (j * (1 - j) / k) ** 0.5
    assert abs((dense[0] == dense[1]).mean() - j) < error
    sparse = SignatureTransformer(num_hashes=k, bits=bits, shingle="bag").fit_transform(pair)
    product = (sparse @ sparse.T).toarray()[0, 1] / k
    mean = j + (1 - j) / 2**bits
    assert abs(product - mean) < 5 * (mean * (1 - mean) / k) ** 0.5


def test_rows_depend_only_on_text() -> None:
    transformer = SignatureTransformer().fit(DOCS[:3])
    rows = transformer.transform(DOCS)
    assert (rows[5] != transformer.transform([DOCS[5]])).nnz == 0
    assert (rows != SignatureTransformer(threads=1).fit_transform(DOCS)).nnz == 0


def test_transform_needs_no_fit() -> None:
    assert (
        SignatureTransformer().transform(DOCS) != SignatureTransformer().fit(DOCS).transform(DOCS)
    ).nnz == 0


def test_texts_without_tokens_become_zeros() -> None:
    for output in ("sparse", "dense"):
        rows = SignatureTransformer(output=output, num_hashes=8, shingle="bag").fit_transform(
            ["a", "...", "a"]
        )
        rows = rows.toarray() if output == "sparse" else rows
        assert rows[1].sum() == 0 and rows[0].sum() > 0 and (rows[0] == rows[2]).all()
    assert SignatureTransformer(num_hashes=8).fit_transform([]).shape == (0, 8 * 256)
    assert SignatureTransformer(num_hashes=8, output="dense").fit_transform([]).shape == (0, 8)


def test_texts_of_every_kind() -> None:
    expected = SignatureTransformer(output="dense").fit_transform(DOCS)
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    kinds: list[Any] = [
        tuple(DOCS),
        iter(DOCS),
        numpy.array(DOCS),
        numpy.array(DOCS, dtype=object),
        pandas.Series(DOCS, index=range(200, 320)),
        polars.Series(DOCS),
        [{"id": "the same", "text": text} for text in DOCS],
        pandas.DataFrame({"id": [7] * len(DOCS), "text": DOCS}),
    ]
    for kind in kinds:
        assert (SignatureTransformer(output="dense").fit([]).transform(kind) == expected).all(), (
            type(kind)
        )


def test_names_of_columns() -> None:
    dense = SignatureTransformer(output="dense", num_hashes=3).fit([])
    assert dense.get_feature_names_out().tolist() == ["minhash0", "minhash1", "minhash2"]
    sparse = SignatureTransformer(num_hashes=2, bits=1).fit([])
    assert sparse.get_feature_names_out().tolist() == [
        "minhash0_0",
        "minhash0_1",
        "minhash1_0",
        "minhash1_1",
    ]
    pytest.importorskip("pandas")
    frame = dense.set_output(transform="pandas").transform(DOCS[:2])
    assert list(frame.columns) == ["minhash0", "minhash1", "minhash2"]


def test_parameters_clone_and_pickle() -> None:
    transformer = SignatureTransformer(bits=4, stop_words=["the"], shingle="bag")
    other = clone(transformer).set_params(num_hashes=16)
    assert other.get_params() == {**transformer.get_params(), "num_hashes": 16}
    assert other.fit_transform(DOCS).shape == (120, 16 * 16)
    loaded = pickle.loads(pickle.dumps(other))
    assert (loaded.transform(DOCS) != other.transform(DOCS)).nnz == 0
    assert "SignatureTransformer(bits=4" in repr(transformer)


def test_transformer_exposes_signature_options() -> None:
    from lookalike._options import PrepareOptions, Reading

    signing = PrepareOptions.__optional_keys__ - Reading.__optional_keys__ - {"bands", "rows"}
    assert set(SignatureTransformer().get_params()) == signing | {"output", "bits"}


APPLICABLE = [
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
]


@pytest.mark.filterwarnings("ignore:Can't test estimator")
@pytest.mark.parametrize("output", ["sparse", "dense"])
def test_the_checks_of_scikit_learn(output: Any) -> None:
    """Runs ``check_estimator``, which has few checks for estimators of texts, and further checks
    that need no fit."""
    transformer = SignatureTransformer(output=output)
    results = check_estimator(transformer, on_skip=None)
    assert {result["status"] for result in results} == {"passed"}
    for check in APPLICABLE:
        getattr(estimator_checks, check)("SignatureTransformer", clone(transformer))


BAD = {
    "output": "csr",
    "bits": 17,
    "num_hashes": 0,
    "shingle": "words:0",
    "tokens": "syllables",
    "case": "upper",
    "scheme": "none",
    "seed": -1,
    "threads": 0,
    "stop_words": "klingon",
    "normalize": "none",
}


@pytest.mark.parametrize("name", BAD)
def test_parameters_are_checked(name: str) -> None:
    transformer = SignatureTransformer(**{name: BAD[name]})
    for method in (transformer.fit, transformer.transform):
        with pytest.raises(OptionError, match=name):
            method(DOCS)


def test_transformer_rejects_invalid_documents() -> None:
    for document in ("a text", sys.executable):
        with pytest.raises(DocumentTypeError, match="several"):
            SignatureTransformer().fit(document)
        with pytest.raises(DocumentTypeError, match="several"):
            SignatureTransformer().fit([]).transform(document)
    with pytest.raises(DocumentError) as error:
        SignatureTransformer().fit_transform(["a text", None])
    assert error.value.row == 1 and str(error.value).endswith("fill it or leave the row out"), (
        "it has no skip_bad"
    )


def test_a_model_learns_from_shingles() -> None:
    draw = random.Random(5)
    kinds = [[f"{kind}{n}" for n in range(40)] for kind in "ab"]
    labels = [n % 2 for n in range(200)]
    docs = [" ".join(draw.sample(kinds[label], 12)) for label in labels]
    model = make_pipeline(SignatureTransformer(shingle="bag"), LogisticRegression())
    assert (
        cross_val_score(
            model, docs, labels, cv=NearDuplicateKFold(4, stratified=True, shingle="bag")
        ).mean()
        > 0.95
    )
    grid = GridSearchCV(
        model, {"signaturetransformer__bits": [2, 8]}, cv=NearDuplicateKFold(2, stratified=True)
    ).fit(docs, labels)
    assert grid.best_params_["signaturetransformer__bits"] in (2, 8)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": docs, "n": range(200)})
    columns = ColumnTransformer(
        [("s", SignatureTransformer(num_hashes=16, bits=2), "text")], remainder="passthrough"
    )
    assert columns.fit_transform(frame).shape == (200, 16 * 4 + 1)


def chains(count: int) -> list[str]:
    """Returns shuffled chains of five texts. Each text of a chain is similar to the previous one.
    Texts of different chains are not similar."""
    draw, texts = random.Random(9), []
    words: list[str] = []
    for number in range(count):
        if number % 5 == 0:
            words = [f"w{draw.randrange(10_000)}" for _ in range(100)]
        words = [*words[8:], *(f"n{draw.randrange(10_000)}" for _ in range(8))]
        texts.append(" ".join(words))
    draw.shuffle(texts)
    return texts


@pytest.mark.parametrize(
    "options", [{}, {"threshold": 0.6}, {"measure": "containment"}, {"exact": True}]
)
def test_similar_pairs_share_one_group(options: Any) -> None:
    docs = chains(150)
    labels = near_duplicate_groups(docs, **options)
    assert (labels.dtype, labels.shape) == (numpy.int64, (150,))
    found = lookalike.find(docs, pairs=True, **options)
    pairs = list(zip(found.pairs["id_a"], found.pairs["id_b"], strict=True))
    assert len(pairs) > 50
    assert all(labels[a] == labels[b] for a, b in pairs)
    # Groups by stars would divide some of these pairs.
    assert any(found.labels[a] != found.labels[b] for a, b in pairs)
    # No group contains documents that pairs do not connect.
    parents = list(range(150))

    def root(row: int) -> int:
        while parents[row] != row:
            row = parents[row]
        return row

    for a, b in pairs:
        parents[max(root(a), root(b))] = min(root(a), root(b))
    assert labels.tolist() == [root(row) for row in range(150)]


def test_groups_of_the_caller_are_joined() -> None:
    docs = ["a b c d e", "another", "A B C D E!", "a third", "a fourth"]
    assert near_duplicate_groups(docs).tolist() == [0, 1, 0, 3, 4]
    assert near_duplicate_groups(docs, groups=["x", "y", "z", "z", "v"]).tolist() == [0, 1, 0, 0, 4]
    assert near_duplicate_groups(docs, groups=[1, 2, 3, 4, 2]).tolist() == [0, 1, 0, 3, 1]
    with pytest.raises(OptionError, match="groups"):
        near_duplicate_groups(docs, groups=[1, 2])
    with pytest.raises(OptionError, match="components"):
        near_duplicate_groups(docs, group="stars")


@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize("shuffle", [False, True])
def test_folds_keep_groups_together(stratified: bool, shuffle: bool) -> None:
    docs = chains(150)
    classes = [n % 2 for n in range(150)]
    authors = [n // 3 if n < 12 else n for n in range(150)]
    seed = 3 if shuffle else None
    for groups in (None, authors):
        folds = NearDuplicateKFold(4, stratified=stratified, shuffle=shuffle, random_state=seed)
        labels = near_duplicate_groups(docs, groups=groups)
        tested: list[int] = []
        for train, test in folds.split(docs, classes, groups):
            assert not set(labels[train]) & set(labels[test])
            assert sorted([*train, *test]) == list(range(150))
            tested += test.tolist()
        assert sorted(tested) == list(range(150))
        repeated = [test.tolist() for _, test in folds.split(docs, classes, groups)]
        assert [row for test in repeated for row in test] == tested


def test_it_is_group_k_fold() -> None:
    docs = chains(100)
    expected = GroupKFold(3).split(docs, groups=near_duplicate_groups(docs, threshold=0.7))
    for (train, test), (of_train, of_test) in zip(
        NearDuplicateKFold(3, threshold=0.7).split(docs), expected, strict=True
    ):
        assert train.tolist() == of_train.tolist() and test.tolist() == of_test.tolist()


def test_grouped_folds_prevent_copy_leakage() -> None:
    """Labels are random. A model that has seen the copies predicts their labels, and is otherwise
    right in half of the cases."""
    draw = random.Random(11)
    docs = texts(300, seed=4)
    labels = [label for _ in range(100) for label in [draw.randrange(2)] * 3]
    order = draw.sample(range(300), 300)
    docs, labels = [docs[row] for row in order], [labels[row] for row in order]
    model = make_pipeline(
        SignatureTransformer(output="dense"), KNeighborsClassifier(n_neighbors=1, metric="hamming")
    )
    assert cross_val_score(model, docs, labels, cv=5).mean() > 0.9
    assert cross_val_score(model, docs, labels, cv=NearDuplicateKFold(5)).mean() < 0.7


def test_splitter_rejects_invalid_arguments() -> None:
    for n_splits in (1, 0, 2.5, "3"):
        with pytest.raises(OptionError, match="n_splits"):
            NearDuplicateKFold(n_splits)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="groups"):
        next(NearDuplicateKFold(3).split(["a b c", "A B C", "d"]))
    with pytest.raises(OptionError, match="threshhold"):
        next(NearDuplicateKFold(2, threshhold=0.5).split(DOCS))  # type: ignore[call-arg]
    assert NearDuplicateKFold(7).get_n_splits() == 7
    assert repr(NearDuplicateKFold(3, threshold=0.7)) == (
        "NearDuplicateKFold(n_splits=3, stratified=False, shuffle=False, random_state=None, "
        "threshold=0.7)"
    )


def test_the_package_does_without() -> None:
    code = "import sys, lookalike; print('sklearn' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]

"""Tools for scikit-learn: features of texts, and cross-validation that keeps near-duplicates of
test texts out of the training texts.

Examples:
    >>> from lookalike.sklearn import NearDuplicateKFold, SignatureTransformer
    >>> texts = [
    ...     "the hall is closed on monday",
    ...     "The hall is closed on Monday!",
    ...     "minutes of the meeting",
    ...     "a third text",
    ... ]
    >>> SignatureTransformer(num_hashes=16, bits=4, shingle="bag").fit_transform(
    ...     texts
    ... ).shape
    (4, 256)
    >>> for train, test in NearDuplicateKFold(2, shingle="bag").split(texts):
    ...     print(train.tolist(), test.tolist())
    [2, 3] [0, 1]
    [0, 1] [2, 3]

- ``SignatureTransformer``: computes MinHash signatures as a sparse or a dense matrix
- ``near_duplicate_groups``: numbers the group of each text, for ``GroupKFold`` and other splitters
  that take ``groups``
- ``NearDuplicateKFold``: a splitter that keeps near-duplicates together
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral
from os import PathLike
from typing import Any, Literal

import numpy
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import BaseCrossValidator, GroupKFold, StratifiedGroupKFold

from lookalike._documents.inputs import input_documents
from lookalike._documents.types import Documents
from lookalike._find import find
from lookalike._options import Form, Options, Unpack, invalid_option, whole_option
from lookalike._prepare import PrepareResult, prepare_documents
from lookalike.errors import DocumentError, DocumentTypeError, OptionError

__all__ = ["NearDuplicateKFold", "SignatureTransformer", "near_duplicate_groups"]

# The maximum number of bits of a hash value that select a column.
_MOST_BITS = 16


class GroupOptions(Options, total=False):
    """The options of ``lookalike.find`` that ``near_duplicate_groups`` takes."""

    threshold: float | None
    recall: float | None
    text: str | Sequence[str] | None
    id: str | Literal[False] | None


class SignatureTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Computes the MinHash signatures of texts, as features.

    The transformer learns nothing, so you can call ``transform`` without ``fit``. ``fit`` only
    checks the parameters. The row of a text depends on this text only.

    The argument ``output`` is one of:

    - ``"sparse"``: a CSR matrix of float64 with ``num_hashes * 2**bits`` columns. The lowest
      ``bits`` bits of each hash value select a column, which is 1. The expected product of two
      rows, divided by ``num_hashes``, is ``J + (1 - J) / 2**bits``, where J is the Jaccard
      similarity of the texts. A linear model over these columns is therefore a model over shared
      shingles (b-bit minwise hashing: Li and König, WWW 2010).
    - ``"dense"``: an array of uint32 with ``num_hashes`` columns of hash values. They are
      categories: compare them only for equality. The expected distance of two rows is ``1 - J``
      with ``metric="hamming"``.

    A text without a token has a row of zeros. Do not combine columns that were computed with
    different parameters.

    Args:
        output: The output of ``transform``: ``"sparse"`` or ``"dense"``.
        num_hashes: The number of values of a signature, 1 to 8192. The standard error of an
            estimate of J is ``sqrt(J * (1 - J) / num_hashes)``.
        bits: The number of bits of a hash value that select a column, 1 to 16; used only with
            ``output="sparse"``.

    The other arguments are options of ``lookalike.prepare``. ``lookalike.OPTIONS`` describes them.

    Raises:
        OptionError: A parameter has an invalid value. ``fit`` and ``transform`` raise this error,
            not the constructor.
        DocumentTypeError: The texts are not documents in memory.

    Examples:
        >>> from sklearn.linear_model import LogisticRegression
        >>> from sklearn.pipeline import make_pipeline
        >>> from lookalike.sklearn import SignatureTransformer
        >>> model = make_pipeline(
        ...     SignatureTransformer(shingle="words:1"), LogisticRegression()
        ... )
        >>> texts = [
        ...     "good and cheap",
        ...     "cheap and good too",
        ...     "bad and dear",
        ...     "dear and bad again",
        ... ]
        >>> model.fit(texts, ["+", "+", "-", "-"]).predict(
        ...     ["good, cheap", "dear, bad"]
        ... ).tolist()
        ['+', '-']
    """

    def __init__(
        self,
        *,
        output: Literal["sparse", "dense"] = "sparse",
        num_hashes: int = 128,
        bits: int = 8,
        shingle: str = "words:5",
        tokens: str | None = None,
        case: str | None = None,
        frequencies: bool | None = None,
        stop_words: str | Sequence[str] | None = None,
        normalize: Form | Sequence[Form] | None = None,
        scheme: str | None = None,
        seed: int | None = None,
        threads: int | None = None,
    ) -> None:
        self.output = output
        self.num_hashes = num_hashes
        self.bits = bits
        self.shingle = shingle
        self.tokens = tokens
        self.case = case
        self.frequencies = frequencies
        self.stop_words = stop_words
        self.normalize = normalize
        self.scheme = scheme
        self.seed = seed
        self.threads = threads

    def fit(self, X: Any, y: Any = None) -> SignatureTransformer:
        """Checks the parameters. Does not read the texts, except that it rejects a path or a
        single ``str``.

        Args:
            X: The texts.
            y: Ignored.

        Returns:
            The transformer itself.
        """
        _refuse_paths(X)
        self.check_parameters()
        # Prepare an empty list, so that the engine checks its options.
        self._prepared([])
        return self

    def transform(self, X: Any) -> Any:
        """Computes a row for each text.

        Args:
            X: The texts: a list, an array, a ``Series``, or any other documents in memory that
                ``lookalike.find`` takes.

        Returns:
            A CSR matrix for ``output="sparse"``, an array for ``output="dense"``.

        Raises:
            DocumentError: A text is missing (None, null or NaN).
        """
        _refuse_paths(X)
        self.check_parameters()
        signatures, is_empty = _matrix(self._prepared(X), self.num_hashes)
        return signatures if self.output == "dense" else _one_hot(signatures, is_empty, self.bits)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Returns the names of the columns: ``minhash0``, ``minhash1``, … for ``output="dense"``,
        and ``minhash0_0``, ``minhash0_1``, … with the value of the bits for ``output="sparse"``.

        Args:
            input_features: Ignored.
        """
        self.check_parameters()
        names = [f"minhash{value}" for value in range(self.num_hashes)]
        if self.output == "sparse":
            names = [f"{name}_{bits}" for name in names for bits in range(1 << self.bits)]
        return numpy.asarray(names, dtype=object)

    def check_parameters(self) -> None:
        """Checks the parameters.

        Raises:
            OptionError: A parameter has an invalid value.
        """
        if self.output not in ("sparse", "dense"):
            raise invalid_option("output", "'sparse' or 'dense'", self.output)
        whole_option("num_hashes", self.num_hashes, 1)
        if whole_option("bits", self.bits, 1) > _MOST_BITS:
            raise invalid_option("bits", f"a whole number from 1 to {_MOST_BITS}", self.bits)

    def _prepared(self, texts: Any) -> PrepareResult:
        signing = {
            name: value
            for name, value in self.get_params(deep=False).items()
            if name not in ("output", "bits") and value is not None
        }
        documents = input_documents(texts, id=False, tokens=self.tokens)
        if (
            not isinstance(documents.engine, list)
            and (missing := documents.engine.first_missing()) is not None
        ):
            error = DocumentError(
                f"row {missing[0]} has no text (null or NaN); fill it or leave the row out"
            )
            error.row = missing[0]
            raise error
        # Use one band, which has the fewest bucket keys: this class does not use the keys.
        return prepare_documents(documents, {**signing, "bands": 1, "rows": self.num_hashes})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = False
        tags.transformer_tags.preserves_dtype = []
        return tags


def _refuse_paths(texts: Any) -> None:
    if isinstance(texts, (str, PathLike)):
        raise DocumentTypeError(
            f"expected several texts, such as a list of str, got one {type(texts).__name__}"
        )


def _matrix(
    prepared: PrepareResult, num_hashes: int
) -> tuple[NDArray[numpy.uint32], NDArray[numpy.bool_]]:
    """Returns a matrix of the signatures, and a flag for each text that is true if the text has no
    token.
    """
    columns = {name: data for name, _, _, data in prepared.engine.state()}
    (_, _, (values,), _) = columns["signature"][3][0]
    (shingles,) = columns["shingles"][2]
    signatures = numpy.frombuffer(values, numpy.uint32).reshape(len(prepared), num_hashes)
    return signatures.copy(), numpy.frombuffer(shingles, numpy.uint64) == 0


def _one_hot(signatures: NDArray[numpy.uint32], is_empty: NDArray[numpy.bool_], bits: int) -> Any:
    """Returns a matrix in which the lowest bits of each value select a column that is 1. Rows of
    empty texts are zero.
    """
    rows, values = signatures.shape
    kind = numpy.int32 if values << bits < 2**31 else numpy.int64
    columns = (signatures & numpy.uint32((1 << bits) - 1)).astype(kind)
    columns += numpy.arange(values, dtype=kind) << bits
    ends = numpy.cumsum(numpy.where(is_empty, 0, values), dtype=numpy.int64)
    places = columns[~is_empty].ravel()
    shape = (rows, values << bits)
    return csr_matrix(
        (numpy.ones(len(places)), places, numpy.concatenate(([0], ends))), shape=shape
    )


def near_duplicate_groups(
    docs: Documents, *, groups: Any = None, **options: Unpack[GroupOptions]
) -> NDArray[numpy.int64]:
    """Returns the number of the group of each document. Documents that are connected by a chain of
    verified pairs belong to the same group.

    Pass the result as ``groups`` to ``GroupKFold``, ``StratifiedGroupKFold`` or
    ``GroupShuffleSplit``. No verified pair connects two groups, but a pair that the run misses may
    connect two groups. Use ``exact=True`` to miss no pair, or ``lookalike.audit`` to measure the
    share of missed pairs.

    Args:
        docs: Documents in memory, as for ``lookalike.find``.
        groups: Other groups to keep together as well, such as authors: a value for each document.
        options: Options of ``lookalike.find``, such as ``threshold`` (0.8 by default), ``recall``
            (0.99 by default), ``text``, ``id``, ``measure`` and ``exact``. You cannot pass
            ``group``, which is always ``"components"``.

    Raises:
        OptionError: The documents are in files, or an option has an invalid value.

    Examples:
        >>> from lookalike.sklearn import near_duplicate_groups
        >>> near_duplicate_groups(["a b c d e", "another", "A B C D E!"]).tolist()
        [0, 1, 0]
        >>> near_duplicate_groups(
        ...     ["a b c d e", "another", "A B C D E!"], groups=["ann", "bob", "bob"]
        ... ).tolist()
        [0, 0, 0]
    """
    if "group" in options:
        raise OptionError(
            "group is always 'components' here, so that similar pairs stay together; leave it out"
        )
    grouping: Any = {**options, "group": "components"}
    labels = numpy.asarray(find(docs, **grouping).labels, dtype=numpy.int64)
    return labels if groups is None else _joined(labels, groups)


def _joined(labels: NDArray[numpy.int64], groups: Any) -> NDArray[numpy.int64]:
    """Joins groups that have a document in common, and returns the joined group of each document.
    The number of a joined group is its least row.

    Args:
        labels: The number of the group of each document.
        groups: A value for each document, equal in the same group.
    """
    others = numpy.asarray(groups)
    rows = len(labels)
    if others.shape != (rows,):
        raise OptionError(
            f"groups: expected a value for each of the {rows} documents, got the shape "
            f"{others.shape}"
        )
    _, others = numpy.unique(others, return_inverse=True)
    # In this graph, each document is connected to two nodes: its group in `labels` and its group
    # in `groups`.
    nodes = numpy.concatenate((rows + labels, 2 * rows + others))
    documents = numpy.tile(numpy.arange(rows), 2)
    edges = coo_matrix(
        (numpy.ones(2 * rows, dtype=bool), (documents, nodes)), shape=(3 * rows, 3 * rows)
    )
    _, components = connected_components(edges, directed=False)
    _, first, members = numpy.unique(components[:rows], return_index=True, return_inverse=True)
    return first[members].astype(numpy.int64)


class NearDuplicateKFold(BaseCrossValidator):  # type: ignore[misc]
    """Splits texts into K folds, so that near-duplicates are on the same side of every split.

    Without this, a model learns copies of test texts, and the score measures its memory.
    ``split(X)`` finds the near-duplicates among ``X``, which must be the texts, as in
    ``cross_val_score(pipeline, texts, y, cv=NearDuplicateKFold(5))``. If ``X`` contains other
    features, use ``GroupKFold`` with the ``near_duplicate_groups`` of the texts.

    Args:
        n_splits: The number of folds, 2 or more.
        stratified: Whether all folds have about the same shares of the classes ``y``.
        shuffle: Whether groups are assigned to folds at random.
        random_state: The seed of the random assignment, as in scikit-learn.
        options: Options of ``near_duplicate_groups``, such as ``threshold=0.7``.

    Raises:
        OptionError: ``n_splits`` is not a whole number from 2.

    Examples:
        >>> from lookalike.sklearn import NearDuplicateKFold
        >>> texts = [
        ...     "one text of the day",
        ...     "One text, of the day!",
        ...     "another",
        ...     "and a third",
        ... ]
        >>> [test.tolist() for _, test in NearDuplicateKFold(n_splits=3).split(texts)]
        [[0, 1], [3], [2]]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        stratified: bool = False,
        shuffle: bool = False,
        random_state: Any = None,
        **options: Unpack[GroupOptions],
    ) -> None:
        if not isinstance(n_splits, Integral) or n_splits < 2:
            raise invalid_option("n_splits", "a whole number from 2", n_splits)
        self.n_splits: int = int(n_splits)
        self.stratified: bool = stratified
        self.shuffle: bool = shuffle
        self.random_state: Any = random_state
        self.options: dict[str, Any] = {**options}

    def split(
        self,
        X: Any,
        y: Any = None,
        groups: Any = None,
    ) -> Iterator[tuple[NDArray[numpy.intp], NDArray[numpy.intp]]]:
        """Yields the training rows and the test rows of each split.

        Args:
            X: The texts.
            y: The class of each text, which ``stratified=True`` needs.
            groups: Other groups to keep together as well: a value for each text.

        Raises:
            ValueError: There are fewer groups than folds.
            OptionError: An option has an invalid value.
        """
        labels = near_duplicate_groups(X, groups=groups, **self.options)
        kind = StratifiedGroupKFold if self.stratified else GroupKFold
        folds = kind(self.n_splits, shuffle=self.shuffle, random_state=self.random_state)
        yield from folds.split(numpy.zeros(len(labels)), y, labels)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Returns the number of folds."""
        return self.n_splits

    def __repr__(self) -> str:
        named = {
            name: getattr(self, name)
            for name in ("n_splits", "stratified", "shuffle", "random_state")
        }
        arguments = {**named, **self.options}.items()
        return f"NearDuplicateKFold({', '.join(f'{name}={value!r}' for name, value in arguments)})"

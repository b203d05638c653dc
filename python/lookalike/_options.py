"""The options of a run. Their names are the names on the command line, with ``_`` for ``-``."""

from __future__ import annotations

import operator
import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict

from lookalike.errors import OptionError

if TYPE_CHECKING:
    from typing_extensions import Unpack as Unpack
else:
    # Code that evaluates type hints at run time needs a name `Unpack`. Python 3.10 has none, so it
    # gets a substitute.
    try:
        from typing import Unpack as Unpack
    except ImportError:
        try:
            from typing_extensions import Unpack as Unpack
        except ImportError:

            class Unpack:
                def __class_getitem__(cls, options: type) -> type:
                    return options


Form = Literal["nfc", "nfkc", "fold", "unaccent", "language:auto", "segment:dictionary"]
"""A change to every text before it is cut into words."""
Measure = Literal["jaccard", "containment"]
"""The measure of similarity."""
TokenRule = Literal["words", "word-runs", "whitespace", "given"]
"""The rule that cuts texts into tokens."""
Scheme = Literal["fss", "multiply-shift", "mod-prime", "xor", "xor-multiply"]
"""The family of hash functions of a signature."""
Unit = Literal["document", "paragraph", "line", "sentence"]
"""The unit of comparison: whole documents, or parts of them."""
FileFormat = Literal[
    "file", "text", "lines", "jsonl", "json", "csv", "tsv", "parquet", "mbox", "warc", "tar"
]
"""The format of files."""


class Limits(TypedDict, total=False):
    """Limits for reading one file that is not plain text. Amounts of bytes are numbers, or texts
    such as ``"1GiB"``. ``docs/reference/files.md`` describes the limits.
    """

    file_size: int | str
    """The most bytes of the file; 256 MiB by default."""
    expanded: int | str
    """The most bytes of its decompressed content, and of its text; 1 GiB by default."""
    depth: int
    """The most levels of files within files; 8 by default."""
    members: int
    """The most files in the file, such as members of an archive; 100,000 by default."""
    pages: int
    """The most pages of a PDF; 20,000 by default."""
    seconds: int
    """The most seconds each to decompress the file and to extract its texts; 60 by default."""


class _Wording(TypedDict, total=False):
    normalize: Form | Sequence[Form] | None


class _Signing(_Wording, total=False):
    num_hashes: int | None
    rows: int | None
    scheme: Scheme | None
    seed: int | None
    shingle: str | None
    tokens: TokenRule | None
    case: Literal["fold", "keep"] | None
    frequencies: bool | None
    stop_words: str | Sequence[str] | None


class _Bands(TypedDict, total=False):
    bands: int | None


class _BandsOrAuto(TypedDict, total=False):
    bands: int | Literal["auto"] | None


class _Comparing(_Signing, total=False):
    measure: Measure | None
    exact: bool | None


class FileOptions(TypedDict, total=False):
    """Options of ``lookalike.Files``. ``OPTIONS`` describes them. ``None`` means the default
    value.
    """

    format: FileFormat | None
    include: str | Sequence[str] | None
    exclude: str | Sequence[str] | None
    all_files: bool | None
    follow: bool | None
    delimiter: str | None
    encoding: str | None
    html: Literal["main", "all"] | None
    quotes: Literal["keep", "cut"] | None
    mail_signatures: Literal["keep", "cut"] | None
    attachments: bool | None
    max: Limits | None


FILE_OPTIONS: Final = tuple(FileOptions.__optional_keys__)
"""The names of the options that apply to files only."""


class _Records(TypedDict, total=False):
    unit: Unit | None
    skip_bad: bool | None


class Reading(FileOptions, _Records, total=False):
    """Options for reading documents from files."""


class Options(_Comparing, _BandsOrAuto, _Records, total=False):
    """Options of ``lookalike.find``, besides its named arguments. ``OPTIONS`` describes each of
    them. ``None`` means the default value.
    """

    keep: str | Sequence[str] | None
    group: Literal["stars", "components"] | None
    source_field: str | None
    path_field: str | None
    decisions: Any
    memory: int | str | None
    temp_dir: str | os.PathLike[str] | None
    threads: int | None


class FindFilesOptions(Options, FileOptions, total=False):
    """Options of ``lookalike.find_files``, besides its named arguments."""


class DedupOptions(Options, total=False):
    """Options of ``lookalike.dedup``, besides its named arguments."""

    drop: Any


class DedupFilesOptions(DedupOptions, FileOptions, total=False):
    """Options of ``lookalike.dedup_files``, besides its named arguments."""


class _Words(TypedDict, total=False):
    tokens: TokenRule | None
    case: Literal["fold", "keep"] | None
    memory: int | str | None
    temp_dir: str | os.PathLike[str] | None
    threads: int | None


class _Passages(_Words, _Wording, total=False):
    keep: str | Sequence[str] | None
    source_field: str | None
    skip_bad: bool | None


class PassageOptions(_Passages, total=False):
    """Options of ``lookalike.passages``, besides its named arguments."""

    unit: Unit | None


class CutOptions(_Passages, total=False):
    """Options of ``lookalike.cut``, besides its named arguments."""

    at: Literal["word", "line", "paragraph", "sentence"] | None
    min_left: int | None
    min_documents: int | None
    min_share: float | None
    per_source: bool | None
    drop: Any


class CutFilesOptions(CutOptions, FileOptions, total=False):
    """Options of ``lookalike.cut_files``, besides its named arguments."""


class ContaminationOptions(_Words, _Wording, total=False):
    """Options of ``lookalike.contamination``, besides its named arguments."""

    skip_bad: bool | None


class PrepareOptions(_Signing, _Bands, _Records, total=False):
    """Options of ``lookalike.prepare``, besides its named arguments."""

    threads: int | None


class TuneOptions(_Signing, _BandsOrAuto, _Records, total=False):
    """Options of ``lookalike.tune``, besides its named arguments."""


class CompareOptions(_Comparing, _Bands, FileOptions, total=False):
    """Options of ``lookalike.compare``, besides its named arguments."""

    threshold: float | None
    recall: float | None


class AuditOptions(_Wording, _Records, total=False):
    """Options of ``lookalike.audit``, besides its named arguments."""

    seed: int | None
    """The random seed of the sample."""
    threads: int | None
    decisions: Any


OPTIONS: dict[str, str] = {
    "threshold": "least exact similarity: above 0, at most 1",
    "recall": "least predicted share of pairs at the threshold that are found: above 0, below 1",
    "measure": "'jaccard', or 'containment': an excerpt inside a longer text",
    "exact": "miss no pair: candidates by shared rare shingles; slower",
    "num_hashes": "values in a signature, 1 to 8192; by default chosen for threshold and recall",
    "bands": "bands of a signature; by default chosen for threshold and recall. 'auto' measures a "
    "sample of the documents and chooses the fastest values, bands and rows; the documents are "
    "read once more (find, dedup, tune)",
    "rows": "rows of a band; by default chosen for threshold and recall",
    "scheme": "'fss', or classic MinHash: 'multiply-shift', 'mod-prime', 'xor', 'xor-multiply'",
    "seed": "the random seed of the hash functions; a whole number",
    "shingle": "'words:N', 'chars:N', 'bytes:N' with N from 1 to 256, or 'bag'",
    "tokens": "'words', 'word-runs' or 'whitespace'; in memory also 'given': documents are lists "
    "of tokens",
    "case": "'fold' or 'keep'",
    "frequencies": "count repeats: the second occurrence of a shingle is a different shingle",
    "stop_words": "leave out the stop words of a language: 'en', 'de', 'zh', …; or a list of words",
    "normalize": "'nfc', 'nfkc', 'fold' or 'unaccent'; 'language:auto' leaves out the stop words "
    "of each document's language; 'segment:dictionary' finds the words of scripts without spaces; "
    "or a list of these",
    "keep": "'longest', 'shortest', 'first', 'last', 'newest', 'oldest', 'name' (final versions "
    "before drafts and copies, by file names), 'field:NAME[:asc]', 'path:GLOB', or a list of "
    "these; for files ['name', 'longest'] by default, otherwise 'longest'",
    "group": "'stars', or 'components': a group also has documents that resemble its keeper only "
    "through other documents",
    "pairs": "whether all verified pairs are listed",
    "reference_pairs": "whether only pairs with a document of the reference are listed",
    "estimates": "whether pairs have the similarity that their signatures estimate, with its error",
    "decisions": "user decisions (docs/reference/decisions.md): the path of a file or of an "
    "index, an Index, or a list of dicts",
    "drop": "documents to remove in any case: the path of a list (docs/guides/dedup.md), ids, or "
    "dicts of id and source (dedup)",
    "source_field": "the column by whose values documents are counted",
    "path_field": "the column of paths for 'path:GLOB' and 'name'",
    "memory": "the most memory for the run, in bytes or such as '512MiB'",
    "temp_dir": "the folder for temporary files",
    "threads": "the number of threads; by default one per processor",
    "skip_bad": "leave out bad documents and repeated ids, count them and continue",
    "format": "paths: 'file', 'text', 'lines', 'jsonl', 'json', 'csv', 'tsv', 'parquet', "
    "'mbox', 'warc', 'tar'",
    "delimiter": "paths: the character between the values of CSV and TSV; by default detected for "
    "each CSV file",
    "include": "folders: patterns of the files to read, such as '*.md'",
    "exclude": "folders: patterns of files and folders to leave out",
    "all_files": "folders: also read hidden files and files that .gitignore names",
    "follow": "folders: follow symbolic links",
    "encoding": "paths: the encoding of all files",
    "unit": "'paragraph', 'line' or 'sentence': parts of documents are compared, with the ids "
    "DOC#1, DOC#2, …; 'document' by default",
    "html": "web pages: 'main' text, or 'all'",
    "quotes": "mail: 'cut' or 'keep' quoted text; cut by default",
    "mail_signatures": "mail: 'keep' or 'cut' signatures; cut by default",
    "attachments": "mail: read attachments as separate documents",
    "max": "limits of files that are not plain text: a dict with some of 'file_size', 'expanded', "
    "'depth', 'members', 'pages' and 'seconds'",
    "min_words": "words of the shortest passage, 2 or more; 50 by default",
    "at": "passages: cut single words ('word'), or only whole units whose words are all repeated: "
    "'line', 'paragraph', 'sentence'",
    "min_left": "passages: leave out documents that lose words and keep fewer than this",
    "min_documents": "passages: cut passages that this number of documents or more contain, and "
    "keep no copy",
    "min_share": "passages: cut passages that this share of the documents or more contains, and "
    "keep no copy",
    "per_source": "passages: count the documents of each source separately",
    "ngram": "words of a run that counts as contamination, 2 or more; 13 by default",
}
"""The meaning of each option, and of the named arguments that several functions share."""


OTHER_OPTIONS: Final = frozenset(
    (
        "exact",
        "measure",
        "skip_bad",
        "threshold",
        "recall",
        "pairs",
        "reference_pairs",
        "estimates",
    )
)
"""Further names that ``check_options`` accepts by default: named arguments of functions, and
options that the engine rejects with a more helpful message.
"""

_THREADS, _TEXT, _ID, _THRESHOLD = "threads=", "text=", "id=", "threshold="
_FOREIGN: Final = {
    "b": "bands=",
    "band_size": "rows=",
    "column": _TEXT,
    "columns": _TEXT,
    "cutoff": _THRESHOLD,
    "hash_func": "scheme=",
    "hashfunc": "scheme=",
    "hidden": "all_files=True",
    "id_column": _ID,
    "id_field": _ID,
    "id_key": _ID,
    "inplace": "the result, which is new",
    "jaccard_threshold": _THRESHOLD,
    "k": "shingle='words:N' or 'chars:N'",
    "language": "normalize='language:auto' or stop_words=",
    "line_ids": "id=':line'",
    "lower": "case=",
    "lowercase": "case=",
    "mask": "the attribute is_kept of the result",
    "max_depth": "max={'depth': …}",
    "max_expanded": "max={'expanded': …}",
    "max_file_size": "max={'file_size': …}",
    "max_members": "max={'members': …}",
    "max_pages": "max={'pages': …}",
    "max_seconds": "max={'seconds': …}",
    "min_left": "lookalike.cut",
    "min_similarity": _THRESHOLD,
    "min_words": "lookalike.cut",
    "n_gram": "shingle='words:N' or 'chars:N'",
    "n_jobs": _THREADS,
    "n_threads": _THREADS,
    "n_workers": _THREADS,
    "ngram": "shingle='words:N' or 'chars:N'",
    "ngram_size": "shingle='words:N' or 'chars:N'",
    "no_ignore": "all_files=True",
    "num_bands": "bands=",
    "num_perm": "num_hashes=",
    "num_proc": _THREADS,
    "num_threads": _THREADS,
    "num_workers": _THREADS,
    "on": _TEXT,
    "output": "lookalike.dedup_files or lookalike.cut_files",
    "passages": "lookalike.cut",
    "r": "rows=",
    "random_state": "seed=",
    "removed": "lookalike.dedup_files",
    "rows_per_band": "rows=",
    "segment": "normalize='segment:dictionary'",
    "shingle_size": "shingle='words:N' or 'chars:N'",
    "similarity": _THRESHOLD,
    "similarity_threshold": _THRESHOLD,
    "subset": _TEXT,
    "text_column": _TEXT,
    "text_field": _TEXT,
    "text_key": _TEXT,
    "tokenizer": "tokens=, or lists of tokens with tokens='given'",
    "verbose": "progress=True",
    "workers": _THREADS,
}
"""Keywords of other libraries, of the command line and of other functions, each with its equivalent
in this package.
"""


def check_options(
    options: Mapping[str, object],
    function: str = "find",
    accepted: Any = Options,
    others: Collection[str] = OTHER_OPTIONS,
) -> None:
    """Rejects unknown options. The message suggests the option with the most similar name, or the
    equivalent of a keyword of another library.

    Args:
        options: The options.
        function: The name of the function, for the message.
        accepted: The ``TypedDict`` of the options of the function.
        others: Other accepted names: named arguments of the function, and options that are checked
            elsewhere.

    Raises:
        OptionError: An option is unknown.
    """
    known_names: frozenset[str] = accepted.__optional_keys__
    for name in options:
        if name not in known_names and name not in others:
            raise OptionError(
                f"{function} has no option {name!r}; "
                f"{_remedy(name, function, known_names.union(others))}"
            )


def _remedy(name: str, function: str, known_names: Collection[str]) -> str:
    import difflib

    if name in FILE_OPTIONS:
        return f"pass it to lookalike.Files(paths, {name}=…) or to a function for files"
    if name in _FOREIGN:
        return f"use {_FOREIGN[name]}"
    # The name of an option of another function is not a misspelling.
    near = [] if name in OPTIONS else difflib.get_close_matches(name, sorted(known_names), 1)
    return f"did you mean {near[0]!r}?" if near else f"see help(lookalike.{function}) for options"


def refuse_add(options: Mapping[str, object]) -> None:
    """Rejects the argument ``add``, which exists on one machine only.

    Raises:
        OptionError: The option was passed.
    """
    if "add" in options:
        raise OptionError(
            "add works with lookalike.dedup on one machine only; leave it out here, and add the "
            "kept rows with lookalike.Index.add, or dedup them with reference=index, add=True"
        )


def with_columns(options: Mapping[str, Any], text: object, id_: object) -> dict[str, Any]:
    """Adds the columns of texts and ids to the options, under the names of the command line.

    Raises:
        OptionError: The name of a column is not a ``str``.
    """
    if text is not None and not isinstance(text, (list, tuple)):
        _column("text", text, "the name of a column (str), a list of them, or None")
    if id_ is not None and id_ is not False:
        _column("id", id_, "the name of a column (str), False for rows, or None")
    columns: dict[str, Any] = {}
    # This package joins the texts of several columns before the engine reads them.
    if isinstance(text, (list, tuple)) and len(text) == 1:
        text = text[0]
    if isinstance(text, str):
        columns["text_field"] = text
    if id_ == LINE:
        columns["line_ids"] = True
    elif isinstance(id_, str):
        columns["id_field"] = id_
    return {**options, **columns}


LINE: Final = ":line"
"""The value of ``id`` for the ids FILE:LINE of records in files."""


def memory_options(options: Mapping[str, Any]) -> dict[str, Any] | None:
    """Returns the options ``memory`` and ``temp_dir``; ``None`` if memory has no limit."""
    if options.get("memory") is None:
        return None
    return {name: options[name] for name in ("memory", "temp_dir") if name in options}


def _column(name: str, value: object, expected: str) -> None:
    if not isinstance(value, str):
        raise invalid_option(name, expected, value)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise invalid_option(name, "the name of a column without lone surrogates", value) from None


def invalid_option(name: str, expected: str, value: object) -> OptionError:
    """Makes the error of an invalid argument."""
    text = repr(value)
    text = text if len(text) <= 80 else text[:79] + "…"
    return OptionError(f"{name}: expected {expected}, got {text} ({type(value).__name__})")


def whole_option(name: str, value: object, least: int, bits: int = 63) -> int:
    """Checks an option that is an integer from ``least`` to ``2**bits - 1``, and converts it to
    ``int``. Accepts any integer type except ``bool``.

    Raises:
        OptionError: The value is not such a number.
    """
    try:
        number = None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or not least <= number < 2**bits:
        raise invalid_option(name, f"a whole number from {least} to 2**{bits} - 1", value)
    return number


def row_or_id(row: object, id_: object) -> tuple[int | None, object]:
    """Returns the row and the id of a requested document; one of them is ``None``. A ``str`` as
    ``row`` is an id.

    Raises:
        OptionError: Both or none of them are passed, or the row is not a number from 0.
    """
    if (row is None) == (id_ is None):
        raise OptionError("expected either the row of a document or its id; pass one of them")
    if row is None or isinstance(row, str):
        return None, id_ if row is None else row
    return whole_option("row", row, 0), None


def number_option(name: str, value: object) -> float:
    """Checks an option that is a number, and converts it to ``float``.

    Raises:
        OptionError: The value is not a number.
    """
    try:
        if isinstance(value, (bool, str, bytes, bytearray)):
            raise TypeError
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise invalid_option(name, "a number", value) from None


def flag_option(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise invalid_option(name, "True or False", value)
    return value


def path_option(name: str, value: object) -> str:
    """Checks an option that is the path of a file or folder, and converts it to ``str``.

    Raises:
        OptionError: The value is not a path, or cannot be the name of a file.
    """
    try:
        path = os.fsdecode(value)  # type: ignore[arg-type]
    except TypeError:
        raise invalid_option(name, "a str or a pathlib.Path", value) from None
    if not path or "\0" in path:
        raise invalid_option(name, "the name of a file or folder", value)
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise invalid_option(name, "a name without lone surrogates", value) from None
    return path

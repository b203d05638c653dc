"""The options of a run, named as on the command line with ``_`` for ``-``."""

from __future__ import annotations

import operator
import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict

from lookalike.errors import OptionError

if TYPE_CHECKING:
    from typing_extensions import Unpack as Unpack
else:
    # Code that reads the hints of a function at run time finds it, on Python 3.10 something like
    # it.
    try:
        from typing import Unpack as Unpack
    except ImportError:
        try:
            from typing_extensions import Unpack as Unpack
        except ImportError:

            class Unpack:
                def __class_getitem__(cls, options: type) -> type:
                    return options


class _Wording(TypedDict, total=False):
    """Normalization of texts."""

    normalize: Literal["nfc", "nfkc", "fold", "unaccent"] | None
    language: Literal["auto"] | None
    segment: Literal["dictionary"] | None


class _Signing(_Wording, total=False):
    """Shingles and signatures."""

    num_hashes: int | None
    rows: int | None
    scheme: Literal["fss", "multiply-shift", "mod-prime", "xor", "xor-multiply"] | None
    seed: int | None
    shingle: str | None
    tokens: Literal["words", "word-runs", "whitespace", "given"] | None
    case: Literal["fold", "keep"] | None
    frequencies: bool | None
    stop_words: str | Sequence[str] | None


class _Bands(TypedDict, total=False):
    """Number of bands."""

    bands: int | None


class _BandsOrAuto(TypedDict, total=False):
    """Number of bands, or ``"auto"``."""

    bands: int | Literal["auto"] | None


class _Comparing(_Signing, total=False):
    """What is similar."""

    measure: Literal["jaccard", "containment"] | None
    exact: bool | None


class _Files(TypedDict, total=False):
    """How files are read."""

    format: (
        Literal[
            "file", "text", "lines", "jsonl", "json", "csv", "tsv", "parquet", "mbox", "warc", "tar"
        ]
        | None
    )
    delimiter: str | None
    line_ids: bool | None
    hidden: bool | None
    no_ignore: bool | None
    follow: bool | None
    encoding: str | None
    html: Literal["main", "all"] | None
    quotes: Literal["keep", "cut"] | None
    mail_signatures: Literal["keep", "cut"] | None
    attachments: bool | None
    max_file_size: int | str | None
    max_expanded: int | str | None
    max_depth: int | None
    max_members: int | None
    max_pages: int | None
    max_seconds: int | None


class _Units(TypedDict, total=False):
    """What is compared as a document."""

    unit: Literal["document", "paragraph", "line", "sentence"] | None


FILE_OPTIONS: Final = tuple(_Files.__optional_keys__)
"""Options without effect on documents in memory."""


class Reading(_Files, _Units, total=False):
    """How documents are read; ``OPTIONS`` says what each means. ``None`` is what it is by
    default.
    """

    skip_bad: bool | None


class _Fields(TypedDict, total=False):
    """Fields of ids and texts in files."""

    id_field: str | None
    text_field: str | None


class Options(_Comparing, _BandsOrAuto, Reading, _Fields, total=False):
    """Options of ``lookalike.find`` and ``lookalike.dedup`` other than those that they name
    themselves; ``OPTIONS`` says what each means. ``None`` is what it is by default.
    """

    keep: str | Sequence[str] | None
    group: Literal["stars", "components"] | None
    source_field: str | None
    path_field: str | None
    decisions: Any
    memory: int | str | None
    temp_dir: str | os.PathLike[str] | None
    threads: int | None


class _Cuts(TypedDict, total=False):
    """What goes of repeated passages."""

    min_words: int | None
    at: Literal["word", "line", "paragraph", "sentence"] | None
    min_left: int | None
    min_documents: int | None
    min_share: float | None
    per_source: bool | None


CUT_OPTIONS: Final = tuple(_Cuts.__optional_keys__)
"""Options that say how passages are cut."""


class DedupOptions(Options, _Cuts, total=False):
    """Options of ``lookalike.dedup``."""

    drop: Any


class _Words(TypedDict, total=False):
    """How words are cut and compared, and how the work is done."""

    tokens: Literal["words", "word-runs", "whitespace", "given"] | None
    case: Literal["fold", "keep"] | None
    memory: int | str | None
    temp_dir: str | os.PathLike[str] | None
    threads: int | None


class PassageOptions(_Words, Reading, _Fields, total=False):
    """Options of ``lookalike.passages``."""

    normalize: Literal["nfc", "nfkc", "fold", "unaccent"] | None
    keep: str | Sequence[str] | None
    source_field: str | None


class ContaminationOptions(_Words, _Wording, _Files, _Fields, total=False):
    """Options of ``lookalike.contamination``."""

    skip_bad: bool | None


class PrepareOptions(_Signing, _Bands, Reading, _Fields, total=False):
    """Options of ``lookalike.prepare``."""

    threads: int | None


class TuneOptions(_Signing, _BandsOrAuto, Reading, _Fields, total=False):
    """Options of ``lookalike.tune``."""


class CompareOptions(_Comparing, _Bands, _Files, _Fields, total=False):
    """Options of ``lookalike.compare``."""

    threshold: float | None
    recall: float | None


class AuditOptions(_Wording, Reading, _Fields, total=False):
    """Options of ``lookalike.audit``."""

    seed: int | None
    threads: int | None
    decisions: Any


OPTIONS: dict[str, str] = {
    "threshold": "least exact similarity: above 0, at most 1",
    "recall": "least predicted share of pairs at the threshold that are found: above 0, below 1",
    "measure": "'jaccard', or 'containment': an excerpt inside a longer text",
    "exact": "miss no pair: candidates by shared rare shingles; slower",
    "num_hashes": "values in a signature, 1 to 8192; chosen for threshold and recall",
    "bands": "bands of a signature; chosen; 'auto': values, bands and rows that take the least "
    "time for a sample of the documents, which are read once more (find, dedup, tune)",
    "rows": "rows of a band; chosen",
    "scheme": "'fss', or classic MinHash: 'multiply-shift', 'mod-prime', 'xor', 'xor-multiply'",
    "seed": "draws the hash functions; a whole number",
    "shingle": "'words:N', 'chars:N', 'bytes:N' with N from 1 to 256, or 'bag'",
    "tokens": "'words', 'word-runs' or 'whitespace'; in memory also 'given': documents are lists "
    "of tokens",
    "case": "'fold' or 'keep'",
    "frequencies": "let repeats count",
    "stop_words": "leave out the stop words of a language: 'en', 'de', 'zh', …; or a list of words",
    "normalize": "'nfc', 'nfkc', 'fold' or 'unaccent'",
    "language": "'auto': the stop words of each document's language are left out",
    "segment": "'dictionary': words of scripts without spaces by dictionaries",
    "keep": "'longest', 'shortest', 'first', 'last', 'newest', 'oldest', "
    "'field:NAME[:asc]', 'path:GLOB', or a list of these",
    "group": "'stars', or 'components': chains are followed",
    "pairs": "whether all verified pairs are listed",
    "estimates": "whether pairs have the estimates of their signatures",
    "decisions": "what people decided (docs/reference/decisions.md): the path of a file or of an "
    "index, an Index, or a list of dicts",
    "drop": "documents that go in any case: the path of a list (docs/dedup.md), ids, or dicts "
    "of id and source (dedup)",
    "source_field": "the column whose value documents are counted under",
    "path_field": "the column that the patterns of 'path:GLOB' are compared with",
    "memory": "the most memory for the run, in bytes or such as '512MiB'",
    "temp_dir": "the folder for temporary files",
    "threads": "how many work at a time; one per processor",
    "skip_bad": "leave out bad documents and repeated ids, count them and go on",
    "format": "paths: 'file', 'text', 'lines', 'jsonl', 'json', 'csv', 'tsv', 'parquet', "
    "'mbox', 'warc', 'tar'",
    "id_field": "paths: the field or column of ids",
    "text_field": "paths: the field or column of texts",
    "delimiter": "paths: what separates the values of CSV and TSV, one character; found for each "
    "file of CSV",
    "line_ids": "paths: ids are FILE:LINE",
    "hidden": "folders: read what begins with a dot, too",
    "no_ignore": "folders: read what .gitignore leaves out, too",
    "follow": "folders: follow symbolic links",
    "encoding": "paths: the encoding of all files",
    "unit": "'paragraph', 'line' or 'sentence': parts of documents are compared, with the ids "
    "DOC#1, DOC#2, …; 'document' by default",
    "html": "web pages: 'main' text, or 'all'",
    "quotes": "mail: 'cut' or 'keep' quoted text; cut by default",
    "mail_signatures": "mail: 'keep' or 'cut' signatures; kept by default",
    "attachments": "mail: attachments are documents of their own",
    "max_file_size": "the largest file that is no plain text",
    "max_expanded": "the most that what is compressed in a file may become",
    "max_depth": "levels of files in files",
    "max_members": "files in a file",
    "max_pages": "pages of a PDF",
    "max_seconds": "seconds for one file",
    "min_words": "words of the shortest passage, 2 or more; 50 by default",
    "at": "passages: cut 'word' by word, or whole units all of whose words are repeated: 'line', "
    "'paragraph', 'sentence'",
    "min_left": "passages: leave out documents that lose words and keep fewer than this",
    "min_documents": "passages: cut those that are in this number of documents or more, in all of "
    "them",
    "min_share": "passages: cut those that are in this share of the documents or more, in all of "
    "them",
    "per_source": "passages: count the documents of each source by themselves",
    "ngram": "words of a run that counts as contamination, 2 or more; 13 by default",
}
"""What each option means."""


OTHER_OPTIONS: Final = frozenset(
    ("exact", "measure", "skip_bad", "threshold", "recall", "pairs", "estimates")
)
"""Options that the engine refuses with a reason of its own, and arguments of functions that are
options of the command line, too.
"""


def check_options(
    options: Mapping[str, object],
    function: str = "",
    accepted: Any = Options,
    others: Collection[str] = OTHER_OPTIONS,
    listed: Collection[str] | None = None,
) -> None:
    """Refuses names that are no options.

    Args:
        accepted: The options of the function, a ``TypedDict``.
        others: Options that others refuse, or that the function names itself.
        listed: Options that are named where there is none of that name; ``accepted`` and ``others``
            by default.

    Raises:
        OptionError: There is none of that name; the nearest one is named.
    """
    known: frozenset[str] = accepted.__optional_keys__
    for name in options:
        if name not in OPTIONS:
            import difflib

            listed = listed or [option for option in OPTIONS if option in known or option in others]
            near = difflib.get_close_matches(name, listed, 1)
            there = (
                f"did you mean {near[0]!r}?"
                if near
                else f"leave it out; there are {', '.join(listed)}"
            )
            raise OptionError(f"there is no option {name!r}; {there}")
        if name not in known and name not in others:
            raise OptionError(
                f"{function} has no option {name!r}, leave it out; it has "
                f"{', '.join(sorted(known))}"
            )


def refuse_add(options: Mapping[str, object]) -> None:
    """Refuses ``add``, which is for a run of one machine.

    Raises:
        OptionError: It is there.
    """
    if "add" in options:
        raise OptionError(
            "add is for lookalike.dedup: an index takes documents of one machine; leave it out "
            "here, and add the rows that stay with lookalike.Index.add, or dedup them with "
            "reference=index, add=True"
        )


def with_columns(options: Mapping[str, Any], text: object, id_: object) -> dict[str, Any]:
    """The options with the columns of texts and ids, by the names that files have for them.

    Raises:
        OptionError: A column is named by something else than a ``str``.
    """
    if text is not None and not isinstance(text, (list, tuple)):
        _column("text", text, "the name of a column (str), a list of them, or None")
    if id_ is not None and id_ is not False:
        _column("id", id_, "the name of a column (str), False for rows, or None")
    columns = {"text_field": text, "id_field": id_ or None}
    # Several columns are for documents in memory, which the engine has already.
    columns = {name: column for name, column in columns.items() if isinstance(column, str)}
    for name, column in columns.items():
        if options.get(name, column) != column:
            short = name.removesuffix("_field")
            raise OptionError(
                f"{short} is {column!r} and {name} is {options[name]!r}, which mean the same; "
                "give one"
            )
    return {**options, **columns}


def memory_options(options: Mapping[str, Any]) -> dict[str, Any] | None:
    """The options about memory, where it is limited; else ``None``."""
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


def invalid_option(name: str, expected: str, got: object) -> OptionError:
    """The error of an argument of another type."""
    shown = repr(got)
    shown = shown if len(shown) <= 80 else shown[:79] + "…"
    return OptionError(f"{name}: expected {expected}, got {shown} ({type(got).__name__})")


def whole_option(name: str, value: object, least: int, bits: int = 63) -> int:
    """A whole number below ``2**bits``, of any type of integers but ``bool``."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or not least <= number < 2**bits:
        raise invalid_option(name, f"a whole number from {least} to 2**{bits} - 1", value)
    return number


def row_or_id(row: object, id_: object) -> tuple[int | None, object]:
    """Which document is meant: its row, or its id, which a ``str`` is."""
    if (row is None) == (id_ is None):
        raise OptionError("give the row of a document, or its id")
    if row is None or isinstance(row, str):
        return None, id_ if row is None else row
    return whole_option("row", row, 0), None


def number_option(name: str, value: object) -> float:
    """A number, whole or not, that a ``float`` can be."""
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
    """The path of a file or folder."""
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

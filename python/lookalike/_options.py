"""The options of a run: what those of the command line are, with ``_`` for ``-``."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from lookalike.errors import OptionError

__all__ = ["OPTIONS", "Options", "Reading", "check_options", "named"]


class Reading(TypedDict, total=False):
    """How files are read; :data:`OPTIONS` says what each means. ``None`` is what it is by default."""

    skip_bad: bool | None
    format: Literal["file", "text", "lines", "jsonl", "csv", "tsv", "parquet", "mbox", "warc", "tar"] | None
    line_ids: bool | None
    hidden: bool | None
    no_ignore: bool | None
    follow: bool | None
    encoding: str | None
    html: Literal["main", "all"] | None
    quotes: Literal["keep", "cut"] | None
    signatures: Literal["keep", "cut"] | None
    attachments: bool | None
    max_file_size: int | str | None
    max_expanded: int | str | None
    max_depth: int | None
    max_members: int | None
    max_pages: int | None
    max_seconds: int | None


class Options(Reading, total=False):
    """Options beside those that a function names itself; :data:`OPTIONS` says what each means.
    ``None`` is what it is by default."""

    measure: Literal["jaccard", "containment"] | None
    exact: bool | None
    num_hashes: int | None
    bands: int | None
    rows: int | None
    scheme: Literal["fss", "multiply-shift", "mod-prime", "xor", "xor-multiply"] | None
    seed: int | None
    shingle: str | None
    tokens: Literal["words", "word-runs", "whitespace"] | None
    case: Literal["fold", "keep"] | None
    frequencies: bool | None
    stop_words: str | None
    normalize: Literal["nfc", "nfkc"] | None
    language: Literal["auto"] | None
    segment: Literal["dictionary"] | None
    keep: str | Sequence[str] | None
    group: Literal["stars", "components"] | None
    source_field: str | None
    memory: int | str | None
    temp_dir: str | os.PathLike[str] | None
    threads: int | None
    id_field: str | None
    text_field: str | None


#: What each option means.
OPTIONS: dict[str, str] = {
    "threshold": "least exact similarity: above 0, at most 1",
    "recall": "least predicted share of pairs at the threshold that are found: above 0, below 1",
    "measure": "'jaccard', or 'containment': an excerpt inside a longer text",
    "exact": "miss no pair: candidates by shared rare shingles; slower",
    "num_hashes": "values in a signature, 1 to 8192; chosen for threshold and recall",
    "bands": "bands of a signature; chosen",
    "rows": "rows of a band; chosen",
    "scheme": "'fss', or classic MinHash: 'multiply-shift', 'mod-prime', 'xor', 'xor-multiply'",
    "seed": "draws the hash functions; a whole number",
    "shingle": "'words:N', 'chars:N', 'bytes:N' with N from 1 to 256, or 'bag'",
    "tokens": "'words', 'word-runs' or 'whitespace'",
    "case": "'fold' or 'keep'",
    "frequencies": "let repeats count",
    "stop_words": "leave out the stop words of a language: 'en', 'de', 'zh', …",
    "normalize": "'nfc' or 'nfkc'",
    "language": "'auto': the stop words of each document's language are left out",
    "segment": "'dictionary': words of scripts without spaces by dictionaries",
    "keep": "'longest', 'shortest', 'first', 'last', 'newest', 'oldest', "
    "'field:NAME[:asc]', 'path:GLOB', or a list of these",
    "group": "'stars', or 'components': chains are followed",
    "pairs": "whether all verified pairs are listed",
    "source_field": "the column whose value documents are counted under",
    "memory": "the most memory for the run, in bytes or such as '512MiB'",
    "temp_dir": "the folder for temporary files",
    "threads": "how many work at a time; one per processor",
    "skip_bad": "leave out bad documents and repeated ids, count them and go on",
    "format": "paths: 'file', 'text', 'lines', 'jsonl', 'csv', 'tsv', 'parquet', "
    "'mbox', 'warc', 'tar'",
    "id_field": "paths: the field or column of ids",
    "text_field": "paths: the field or column of texts",
    "line_ids": "paths: ids are FILE:LINE",
    "hidden": "folders: read what begins with a dot, too",
    "no_ignore": "folders: read what .gitignore leaves out, too",
    "follow": "folders: follow symbolic links",
    "encoding": "paths: the encoding of all files",
    "html": "web pages: 'main' text, or 'all'",
    "quotes": "mail: 'keep' or 'cut' quoted text",
    "signatures": "mail: 'keep' or 'cut' signatures",
    "attachments": "mail: attachments are documents of their own",
    "max_file_size": "the largest file that is no plain text",
    "max_expanded": "the most that what is compressed in a file may become",
    "max_depth": "levels of files in files",
    "max_members": "files in a file",
    "max_pages": "pages of a PDF",
    "max_seconds": "seconds for one file",
}


def check_options(options: Mapping[str, object]) -> None:
    """Refuses names that are no options.

    :raises OptionError: there is none of that name; the nearest one is named.
    """
    for name in options:
        if name not in OPTIONS:
            near = difflib.get_close_matches(name, OPTIONS, 1)
            there = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(OPTIONS)}"
            raise OptionError(f"there is no option {name!r}; {there}")


def named(
    options: Mapping[str, Any], text: str | None, id_: str | Literal[False] | None
) -> dict[str, Any]:
    """The options with the columns of texts and ids, by the names that files have for them."""
    columns = {"text_field": text, "id_field": id_ or None}
    return {**{name: column for name, column in columns.items() if column is not None}, **options}

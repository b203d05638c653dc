"""Measures other programs for near-duplicates next to `lookalike.spark`, on the same Spark cluster
and the same documents: MinHashLSH of MLlib, and BigCode's script."""

from __future__ import annotations

import contextlib
import csv
import io
import runpy
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from process_costs import Cost, measured, report

#: Bands and rows for BigCode's script, as `lookalike` chooses them.
BANDS, ROWS = 21, 6


@dataclass
class Documents:
    """The documents of a comparison, and their pairs by `lookalike find`."""

    file: Path
    number: int
    #: Verified pairs. The first id of a pair is the lesser one.
    pairs: set[tuple[str, str]]

    @classmethod
    def first_of(cls, file: str, number: int | None, program: str, place: Path) -> Documents:
        """Takes the first `number` documents of a file, or all of them, and finds their pairs."""
        import pyarrow.parquet as parquet

        all_documents = parquet.read_metadata(file).num_rows
        first = Path(file)
        if number is not None and number < all_documents:
            first = place / "first.parquet"
            rows = next(parquet.ParquetFile(file).iter_batches(number, columns=["id", "text"]))
            with parquet.ParquetWriter(first, rows.schema) as writer:
                for start in range(0, rows.num_rows, 2_000):
                    writer.write_batch(rows.slice(start, 2_000))
        listed = place / "pairs.csv"
        command = [
            program,
            "find",
            str(first),
            "-q",
            "-o",
            str(place / "first.csv"),
            "--pairs",
            str(listed),
        ]
        subprocess.run(command, check=True)
        with listed.open(newline="") as lines:
            pairs = {_pair(row["id_a"], row["id_b"]) for row in csv.DictReader(lines)}
        return cls(first, min(number or all_documents, all_documents), pairs)


def _pair(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a <= b else (b, a)


def compare_peers(spark: Any, args: Any, place: Path, find: Callable[[Any], Any]) -> None:
    """Measures the other programs that the arguments name, and `find` on the same documents.

    :param find: finds the groups of a data frame.
    """
    documents = Documents.first_of(args.file, args.mllib, args.program, place)
    print(f"\n{documents.number} documents, {len(documents.pairs)} pairs by `find --pairs`")
    costs: list[Cost] = []
    with measured(costs):
        found = find(spark.read.parquet(str(documents.file)))
        found.write(str(place / "groups-of-first"))
    report("lookalike.spark", costs[0], found.seconds)
    found.release()
    if args.mllib:
        mllib(spark, documents)
    if args.bigcode:
        bigcode(spark, args.bigcode, args.partitions, documents, place)


def mllib(spark: Any, documents: Documents) -> None:
    """Measures MinHashLSH with 3 tables at the same threshold. MLlib has no 5-gram for documents of
    fewer than five words, so the comparison ignores their pairs."""
    from pyspark.ml.feature import HashingTF, MinHashLSH, NGram
    from pyspark.sql import functions as f

    costs: list[Cost] = []
    with measured(costs):
        docs = spark.read.parquet(str(documents.file))
        words = f.expr(r"regexp_extract_all(lower(text), '([\\p{L}\\p{M}\\p{N}]+)', 1)").alias(
            "words"
        )
        grams = NGram(n=5, inputCol="words", outputCol="grams").transform(
            docs.select("id", words).where(f.size("words") >= 5)
        )
        hashed = HashingTF(
            inputCol="grams", outputCol="vector", numFeatures=1 << 24, binary=True
        ).transform(grams)
        vectors = hashed.select("id", "vector").persist()
        model = MinHashLSH(inputCol="vector", outputCol="hashes", numHashTables=3, seed=1).fit(
            vectors
        )
        pairs = model.approxSimilarityJoin(vectors, vectors, 0.2 + 1e-12, "distance")
        pairs = pairs.where("datasetA.id < datasetB.id")
        rows = pairs.select(
            f.col("datasetA.id").alias("a"), f.col("datasetB.id").alias("b")
        ).collect()
    ids = {row["id"] for row in vectors.select("id").collect()}
    vectors.unpersist()
    found = {_pair(row["a"], row["b"]) for row in rows}
    expected = {pair for pair in documents.pairs if ids.issuperset(pair)}
    report("MLlib", costs[0], {})
    print(
        f"MLlib: {len(found)} pairs; {len(found & expected)} of the {len(expected)} pairs of "
        "documents of five words or more"
    )


class _ParquetTable:
    """A Parquet file that the script reads instead of a table of BigQuery."""

    def __init__(self, spark: Any) -> None:
        self._spark, self._path = spark, ""

    def option(self, _name: str, path: str) -> _ParquetTable:
        self._path = path
        return self

    def load(self) -> Any:
        return self._spark.read.parquet(self._path)


def bigcode(spark: Any, script: str, partitions: int, documents: Documents, place: Path) -> None:
    """Measures BigCode's script, with the bands, rows and shingle size of `lookalike`, and the
    number of partitions of the other runs. By default the script has two partitions for each hash
    value, so starting its tasks would cost more than their work.

    Only the number of partitions and the source of the documents are replaced. The script needs
    NumPy and SciPy.
    """
    from pyspark import RDD
    from pyspark.sql import DataFrameReader

    formatted, repartition, output = DataFrameReader.format, RDD.repartition, place / "bigcode"
    arguments = [
        script,
        "--table",
        str(documents.file),
        "--column",
        "text",
        "--output",
        str(output),
        "--threshold",
        "0.8",
        "--ngram_size",
        "5",
        "--num_perm",
        str(BANDS * ROWS),
        "--b",
        str(BANDS),
        "--r",
        str(ROWS),
    ]
    costs: list[Cost] = []
    with (
        mock.patch.object(sys, "argv", arguments),
        mock.patch.object(
            DataFrameReader,
            "format",
            lambda reader, name: (
                _ParquetTable(spark) if name == "bigquery" else formatted(reader, name)
            ),
        ),
        mock.patch.object(RDD, "repartition", lambda rows, _: repartition(rows, partitions)),
        contextlib.redirect_stdout(io.StringIO()),
        measured(costs),
    ):
        names = runpy.run_path(script, run_name="__main__")
    report("BigCode's script", costs[0], {})
    ids = _ids_by_number(spark, documents.file)
    edges = [(ids[a], ids[b]) for a, b in names["results"]]
    kept = {row["id"] for row in spark.read.json(str(output)).select("id").collect()}
    print_agreement(edges, set(ids.values()) - kept, documents.pairs)


def _ids_by_number(spark: Any, file: Path) -> dict[int, str]:
    """Returns the ids of documents by the numbers that the script assigns to them."""
    from pyspark.sql import functions as f

    rows = spark.read.parquet(str(file)).withColumn("number", f.monotonically_increasing_id())
    return {row["number"]: row["id"] for row in rows.select("number", "id").collect()}


def print_agreement(
    edges: list[tuple[str, str]], removed: set[str], pairs: set[tuple[str, str]]
) -> None:
    """Compares components and removed documents with the verified pairs, and prints the result.

    :param edges: the edges of the components.
    """
    resembling: dict[str, set[str]] = {}
    for a, b in pairs:
        resembling.setdefault(a, set()).add(b)
        resembling.setdefault(b, set()).add(a)
    alone = sum(document not in resembling for document in removed)
    of_kept = sum(not removed.issuperset(resembling.get(document, ())) for document in removed)
    print(
        f"{len(removed)} documents removed: {of_kept} resemble a kept one, "
        f"{len(removed) - of_kept - alone} only removed "
        f"ones, {alone} none at 0.8 or more; one document or both are removed of "
        f"{sum(a in removed or b in removed for a, b in pairs)} of {len(pairs)} pairs"
    )
    theirs, ours = components(edges), components(pairs)
    print(
        f"{len(theirs)} components, {len(theirs & ours)} of them among the {len(ours)} "
        "components of verified pairs"
    )


def components(edges: set[tuple[str, str]] | list[tuple[str, str]]) -> set[frozenset[str]]:
    """Returns the components of a graph."""
    parents: dict[str, str] = {}

    def root(node: str) -> str:
        while (parent := parents.setdefault(node, node)) != node:
            parents[node] = node = parents[parent]
        return node

    for a, b in edges:
        parents[root(a)] = root(b)
    members: dict[str, set[str]] = {}
    for node in list(parents):
        members.setdefault(root(node), set()).add(node)
    return {frozenset(nodes) for nodes in members.values()}

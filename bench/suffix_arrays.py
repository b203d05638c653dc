#!/usr/bin/env python3
"""Measures the CPU seconds and memory of a search for repeated text with a suffix array, for
comparison with passages (bench/others.md). Works like google-research/deduplicate-text-datasets,
but in memory, with pydivsufsort (libdivsufsort, and Kasai's longest common prefixes).

    pip install pydivsufsort
    bench/suffix_arrays.py c100k.jsonl [--length 300]

The program joins the texts of all records, each with a line end. It counts the positions from
which `--length` bytes also occur at another position (300 bytes are about 50 words). The seconds
exclude reading the records. The program needs 16 bytes of memory for each byte of text.
"""

import argparse
import json
import resource

import numpy as np
import pydivsufsort


def seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", help="JSON lines with a member text")
    parser.add_argument(
        "--length", type=int, default=300, help="bytes of the shortest repeat (300)"
    )
    options = parser.parse_args()
    with open(options.corpus, "rb") as lines:
        texts = bytearray().join(json.loads(line)["text"].encode() + b"\n" for line in lines)
    symbols = np.frombuffer(texts, dtype=np.uint8)
    start = seconds()
    order = pydivsufsort.divsufsort(symbols)
    sorted_ = seconds()
    shared = pydivsufsort.kasai(symbols, order)
    repeated = shared[:-1] >= options.length
    begins = np.zeros(len(symbols), dtype=bool)
    begins[order[:-1][repeated]] = True
    begins[order[1:][repeated]] = True
    end = seconds()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    print(
        f"{len(symbols) / 1e6:.1f} MB of texts: sorted in {sorted_ - start:.1f} CPU s, compared "
        f"in {end - sorted_:.1f},"
    )
    print(
        f"{int(begins.sum())} bytes with {options.length} that are repeated; {end - start:.1f} "
        f"CPU s, peak {peak:.0f} MB"
    )


if __name__ == "__main__":
    main()

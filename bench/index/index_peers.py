#!/usr/bin/env python3
"""Measures datasketch as an index, in memory and with Redis, next to `cargo x bench index`.

    bench/index/index_peers.py [--docs 100000] [--queries 2000] [--peers memory,redis]
                         [--redis-server redis-server]

Needs Linux, Python 3.9 or newer, datasketch and redis (`pip install datasketch redis`). The peer
`redis` also needs the program of the Redis server. The measurement starts the server with an
append-only file, which it syncs once a second by default. An unavailable peer is reported and
skipped.

TASK      An index of signatures: 128 values, 21 bands of 6 rows, ids of 26 bytes. Every tenth
          signature copies each value of an earlier one with probability 0.85. The signatures are
          added in sessions of 5,000. Then the index is queried with indexed and with new
          signatures. The similarity of each candidate is estimated from the signatures, which
          datasketch does not store in its index. They are kept in a dict here.
COUNTED   Documents per second and per CPU second (user and system, with the Redis server),
          microseconds per query, and the growth of memory per document (for Redis also its
          used_memory).
"""

import argparse
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

NUM_PERM, BANDS, ROWS, SESSION = 128, 21, 6, 5000
PEERS = ["memory", "redis"]


def signatures(np, docs, seed):
    """Returns a row of values for each document. Every tenth row resembles an earlier one."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2**32, size=(docs, NUM_PERM), dtype=np.uint64)
    for i in range(10, docs, 10):
        same = rng.random(NUM_PERM) < 0.85
        rows[i, same] = rows[rng.integers(0, i), same]
    return rows


def own_memory():
    """Returns the resident memory of this process, in bytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def cpu_of(pid):
    """Returns the CPU seconds of another process."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Redis:
    """A Redis server on a free port. `stop` ends the server and removes its folder."""

    def __init__(self, program):
        self.folder = tempfile.mkdtemp(prefix="redis-")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = subprocess.Popen(
            [
                program,
                "--port",
                str(self.port),
                "--dir",
                self.folder,
                "--appendonly",
                "yes",
                "--save",
                "",
            ],
            stdout=subprocess.DEVNULL,
        )
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError("the Redis server does not answer")

    def stop(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def measure(peer, args):
    import numpy as np
    from datasketch import MinHash, MinHashLSH

    server, config = None, None
    if peer == "redis":
        server = Redis(args.redis_server)
        config = {
            "type": "redis",
            "basename": b"bench",
            "redis": {"host": "127.0.0.1", "port": server.port},
        }
    try:
        rows = signatures(np, args.docs, 1)
        hashes = [MinHash(num_perm=NUM_PERM, hashvalues=row, scheme="affine32") for row in rows]
        kept = {}
        memory, wall, cpu = own_memory(), time.perf_counter(), time.process_time()
        served = cpu_of(server.process.pid) if server else 0
        lsh = MinHashLSH(params=(BANDS, ROWS), num_perm=NUM_PERM, storage_config=config)
        for start in range(0, args.docs, SESSION):
            with lsh.insertion_session() as session:
                for i in range(start, min(start + SESSION, args.docs)):
                    key = f"document-{i:017d}"
                    session.insert(key, hashes[i])
                    kept[key] = hashes[i]
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        cpu += (cpu_of(server.process.pid) - served) if server else 0
        memory = own_memory() - memory
        there = ask(lsh, kept, [hashes[i] for i in range(0, args.docs, args.docs // args.queries)])
        new = signatures(np, args.queries, 2)
        absent = ask(
            lsh,
            kept,
            [MinHash(num_perm=NUM_PERM, hashvalues=row, scheme="affine32") for row in new],
        )
        if server:
            import redis

            used = redis.Redis(port=server.port).info("memory")["used_memory"]
            sibling = f", Redis {used / args.docs:.0f}"
        else:
            sibling = ""
        print(
            f"| datasketch, {peer} | {args.docs / wall:,.0f} | {args.docs / cpu:,.0f} | {there} "
            f"| {absent} | {max(0, memory) / args.docs:.0f}{sibling} |",
            flush=True,
        )
    finally:
        if server:
            server.stop()


def ask(lsh, kept, probes):
    """Queries the index with each probe. Returns the median and 99th percentile of the times, in
    microseconds."""
    times = []
    for probe in probes:
        start = time.perf_counter()
        for key in lsh.query(probe):
            probe.jaccard(kept[key])
        times.append(time.perf_counter() - start)
    times.sort()
    return f"{1e6 * times[len(times) // 2]:.0f} / {1e6 * times[len(times) * 99 // 100]:.0f}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--docs", type=int, default=100000)
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--redis-server", default="redis-server")
    args = parser.parse_args()
    print(
        "| index | docs/s | docs/CPU s | query there, p50 / p99 µs | query new, p50 / p99 µs "
        "| bytes of memory a document |"
    )
    print("| --- | --- | --- | --- | --- | --- |", flush=True)
    for peer in args.peers.split(","):
        try:
            measure(peer, args)
        except (ImportError, OSError, RuntimeError) as error:
            print(f"{peer}: left out: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()

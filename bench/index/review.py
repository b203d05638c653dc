"""Measures the response times of `lookalike serve` during a review of groups.

    python bench/index/review.py INDEX [--walk]

Starts `lookalike serve INDEX` (the release build) and waits until it has computed the groups. Then
measures the first page of the queue, about 1,000 steps of a review (the comparison of a pair and a
decision about it), and 50,000 decisions in requests of 10,000. Checks that the index has all
decisions after `kill -9`. `--walk` first decides about 200 groups by keyboard in headless Chromium
(needs Node, chromedriver and Chromium). The program changes INDEX, so use a copy.
"""

import http.client
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "release" / "lookalike"
ADDRESS = ("127.0.0.1", 8399)
QUEUE = "/v1/groups?state=undecided&order=doubt"
STEPS = 1_000
MANY = 50_000


def start(index):
    listen = f"{ADDRESS[0]}:{ADDRESS[1]}"
    server = subprocess.Popen(
        [PROGRAM, "serve", index, "--listen", listen, "--max-held", "2GiB", "--log", "off"],
        stdout=subprocess.DEVNULL,
    )
    while True:
        try:
            ask(http.client.HTTPConnection(*ADDRESS), "GET", "/v1/health")
            return server
        except OSError:
            if server.poll() is not None:
                sys.exit("the server ended before it answered")
            time.sleep(0.05)


def ask(connection, method, path, body=None):
    """Returns the answer to a request, and its duration in milliseconds."""
    text = None if body is None else json.dumps(body)
    since = time.perf_counter()
    connection.request(method, path, text, {"content-type": "application/json"} if text else {})
    response = connection.getresponse()
    answer = response.read()
    took = 1000 * (time.perf_counter() - since)
    if response.status >= 400:
        sys.exit(f"{method} {path}: {response.status} {answer.decode()}")
    return json.loads(answer), took


def queue(connection):
    """Waits until the groups are computed, and returns the first page of the queue."""
    while True:
        found, took = ask(connection, "GET", QUEUE + "&limit=20")
        if found.get("status") != "pending":
            return found, took
        time.sleep(1)


def review(connection, found):
    """Compares pairs and decides about them, as the page does.

    :returns: the decided pairs, the milliseconds of each step, and the milliseconds of each
        further page of the queue.
    """
    decided, times, pages = [], [], []
    while len(times) < STEPS:
        for group in found["groups"]:
            for duplicate in group["duplicates"]:
                pair = [group["keeper"]["id"], duplicate["id"]]
                looks = {"a": {"id": pair[0]}, "b": {"id": pair[1]}, "differences": True}
                took = ask(connection, "POST", "/v1/compare", looks)[1]
                judged = {
                    "decision": "not_duplicate" if len(times) % 3 else "duplicate",
                    "documents": pair,
                    "who": "bench",
                    "seen": found["last_decision"],
                }
                took += ask(connection, "POST", "/v1/decisions", {"decisions": [judged]})[1]
                times.append(took)
                decided.append(pair)
        if "next" not in found:
            break
        found, took = ask(connection, "GET", f"{QUEUE}&limit=20&after={found['next']}")
        pages.append(took)
    return decided, times, pages


def pairs(connection, most):
    """Returns at most `most` undecided pairs, each with the number of the last decision."""
    found, after = [], ""
    while len(found) < most:
        page = ask(connection, "GET", f"{QUEUE}&limit=1000{after}")[0]
        for group in page["groups"]:
            found += [
                ([group["keeper"]["id"], one["id"]], page["last_decision"])
                for one in group["duplicates"]
            ]
        if "next" not in page:
            break
        after = f"&after={page['next']}"
    return found[:most]


def stored(connection):
    """Returns the number of decisions in the index."""
    count, after = 0, 0
    while True:
        page = ask(connection, "GET", f"/v1/decisions?limit=10000&after={after}")[0]
        count += len(page["decisions"])
        if "next" not in page:
            return count
        after = page["next"]


def walk():
    """Decides about 200 groups in a browser, which prints its times."""
    root = pathlib.Path(__file__).parent.parent.parent
    cases = root / "crates/lookalike-server/tests/page/run.mjs"
    with tempfile.TemporaryDirectory() as folder:
        url = f"http://{ADDRESS[0]}:{ADDRESS[1]}/"
        subprocess.run(["node", cases, "walk", folder, url], check=True)


def percentile(times, share):
    if not times:
        return float("nan")
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def main(index, walks):
    server = start(index)
    connection = http.client.HTTPConnection(*ADDRESS)
    found, _ = queue(connection)
    found, first = ask(connection, "GET", QUEUE + "&limit=20")
    print(f"documents {found['documents']}, groups {found['groups_total']}")
    print(f"first page of the queue: {first:.0f} ms")
    if walks:
        walk()
        # The server may have closed the connection, which was idle during the walk.
        connection = http.client.HTTPConnection(*ADDRESS)
        found, _ = queue(connection)
    before = stored(connection)
    decided, times, pages = review(connection, found)
    print(
        f"a step (decision, next comparison): median {percentile(times, 0.5):.1f} ms, "
        f"p99 {percentile(times, 0.99):.1f} ms of {len(times)}; "
        f"next page: p99 {percentile(pages, 0.99):.1f} ms of {len(pages)}"
    )
    many = [
        {"decision": "duplicate", "documents": pair, "who": "bench", "seen": seen}
        for pair, seen in pairs(connection, MANY)
    ]
    took = sum(
        ask(connection, "POST", "/v1/decisions", {"decisions": many[i : i + 10_000]})[1]
        for i in range(0, len(many), 10_000)
    )
    print(f"{len(many)} decisions at once: {took / 1000:.1f} s")
    server.send_signal(signal.SIGKILL)
    server.wait()
    server = start(index)
    there = stored(http.client.HTTPConnection(*ADDRESS)) - before
    print(f"after kill -9: {there} of {len(decided) + len(many)} decisions")
    server.terminate()
    server.wait()


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--walk"]):
        sys.exit(__doc__)
    main(sys.argv[1], len(sys.argv) == 3)

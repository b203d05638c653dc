"""Compares the size of an index that stores originals with zip and zstd archives.

    python bench/index/archive.py FOLDER…

Selects --count pages (*.html), spread evenly over all pages of the folders, and creates an index of
them with --store originals. Reads every page back over HTTP, checks that its bytes are unchanged,
and prints times and sizes. Uses the release build of lookalike, or --program. Needs the programs
`zip`, `tar` and `zstd`.
"""

import argparse
import http.client
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.parse

ADDRESS = ("127.0.0.1", 8398)
RELEASE = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "release" / "lookalike"


def take(folders, count, to):
    """Copies `count` pages of the folders to `to`. Returns their contents by their new names."""
    paths = sorted(
        {
            path.resolve()
            for folder in folders
            for path in pathlib.Path(folder).rglob("*.html")
            if path.is_file()
        }
    )
    if len(paths) < count:
        sys.exit(
            f"found {len(paths)} pages, expected at least {count}; name more folders, or lower "
            "--count"
        )
    chosen = [paths[number * len(paths) // count] for number in range(count)]
    pages = {}
    for number, path in enumerate(chosen):
        name = f"{number % 100:02}/{number:05}.html"
        content = path.read_bytes()
        (to / name).parent.mkdir(exist_ok=True)
        (to / name).write_bytes(content)
        pages[name] = content
    return pages


def serve(program, index):
    listen = f"{ADDRESS[0]}:{ADDRESS[1]}"
    server = subprocess.Popen(
        [program, "serve", index, "--listen", listen, "--log", "off"], stdout=subprocess.DEVNULL
    )
    while server.poll() is None:
        try:
            connection = http.client.HTTPConnection(*ADDRESS)
            connection.request("GET", "/v1/health")
            connection.getresponse().read()
            return server
        except OSError:
            time.sleep(0.05)
    sys.exit("the server ended before it answered")


def read_back(pages):
    """Returns the number of pages that the server returns unchanged."""
    connection, same = http.client.HTTPConnection(*ADDRESS), 0
    for name, content in pages.items():
        path = urllib.parse.quote(name, safe="")
        connection.request("GET", f"/v1/documents/{path}/original")
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            sys.exit(f"{name}: {answer.status} {body.decode()}")
        same += body == content
    return same


def files_bytes(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def packed(folder, at):
    """Packs the pages with zip, with zstd, and with tar and zstd. Returns the sizes."""
    sizes = {}
    quiet = {"check": True, "cwd": folder, "stdout": subprocess.DEVNULL}
    subprocess.run(["zip", "-q", "-9", "-r", at / "pages.zip", "."], **quiet)
    sizes["zip -9"] = (at / "pages.zip").stat().st_size
    for level in (9, 19):
        out = at / f"zstd{level}"
        subprocess.run(["zstd", "-q", f"-{level}", "-r", ".", "--output-dir-mirror", out], **quiet)
        sizes[f"zstd -{level}, each page"] = files_bytes(out)
    subprocess.run(["tar", "-cf", at / "pages.tar", "."], **quiet)
    for level in (9, 19):
        out = at / f"pages.tar.{level}.zst"
        subprocess.run(
            ["zstd", "-q", f"-{level}", "--long=27", at / "pages.tar", "-o", out], **quiet
        )
        sizes[f"tar, zstd -{level} --long=27"] = out.stat().st_size
    return sizes


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--program", default=str(RELEASE))
    args = parser.parse_args()
    program = str(pathlib.Path(args.program).resolve())
    with tempfile.TemporaryDirectory() as above:
        at = pathlib.Path(above)
        folder, index = at / "pages", at / "index"
        folder.mkdir()
        pages = take(args.folders, args.count, folder)
        sizes = {"pages": sum(map(len, pages.values()))}
        since = time.perf_counter()
        run = [program, "index", "create", index, folder, "--store", "originals", "--quiet"]
        subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
        took = {"taken in": time.perf_counter() - since}
        server = serve(program, index)
        since = time.perf_counter()
        same = read_back(pages)
        took["read back"] = time.perf_counter() - since
        server.terminate()
        server.wait()
        run = [program, "index", "stats", index, "--json"]
        stats = json.loads(subprocess.run(run, check=True, capture_output=True).stdout)
        originals = stats["originals"]
        sizes["originals in the index"] = originals["stored_bytes"]
        sizes["texts in the index"] = stats["text_bytes"]
        sizes["the folder of the index"] = files_bytes(index)
        sizes |= packed(folder, at)
    print(
        f"{same:,} of {len(pages):,} pages came back byte for byte; {originals['originals']:,} "
        "distinct, "
        f"{originals['differences']:,} of them stored as differences"
    )
    for name, seconds in took.items():
        print(f"{name}: {seconds:.1f} s, {sizes['pages'] / seconds / 1e6:.1f} MB/s")
    for name, size in sizes.items():
        print(f"| {name} | {size / 1e6:.1f} MB | {size / sizes['pages']:.3f} |")
    if same != len(pages):
        sys.exit(1)


main()

#!/usr/bin/env python3
"""Finds constructions that make sentences hard to read in docs, comments, docstrings and messages.

    xtask/prose.py [FILE...]   prints every match with its place and advice
    xtask/prose.py --count     prints the number of matches of each file, for `cargo x tidy`

A match is a hint: rewrite the sentence, do not replace the word. Tests are not read.
"""

import re
import subprocess
import sys

# Name, pattern, what to write instead.
PATTERNS = [
    ("that-of", r"\b(?:that|those) of\b(?! (?:you|us|them)\b)", "repeat the noun: 'the text of B'"),
    (
        "what-noun",
        r"(?:^|[,:;(.] ?|\b(?:of|for|with|from|in|by|to|has|have|is|are|and|or|says?|reads?|writes?"
        r"|holds?|keeps?|gives?|finds?|lists?|takes?|shows?) )[Ww]hat (?:is|are|was|were|has|have"
        r"|had|goes|stays|can|cannot|they|it|a|an|the|would|may|must|does|did|follows|comes|remains"
        r"|stands|needs?|resembles|people|one)\b",
        "name the thing: 'the removed documents'",
    ),
    (
        "opens-of",
        r"(?:^|[.;] )(?:Of (?:a|an|the|each|two|several|equal|these|those|them|this|which|all|one"
        r"|what|records|documents)\b|The same\b|Those\b (?:of|that|who|in|with|for)|That of"
        r"|Likewise\b|So (?:is|are|do|does|has|have|was|were|can|it)\b)",
        "subject first; say what it is",
    ),
    (
        "so-does",
        r"\bso (?:is|are|do|does|has|have|was|were) (?:the|its|their|a|an|it|they|that|those|what"
        r"|each|every|all|this)\b",
        "'X also ...'",
    ),
    ("gives", r"\bgives?\b(?! up\b)", "returns, yields, produces, reports"),
    ("as-it-is", r"\bas (?:it|they) (?:is|are|was|were|stands?)\b", "unchanged, verbatim"),
    (
        "behind",
        r"\bbehind\b(?! (?:the scenes|a (?:flag|proxy|feature|load|reverse)|an? |proxies"
        r"|features))",
        "after",
    ),
    (
        "is-no",
        r"\b(?:is|are|was|were) no\b(?! (?:longer|more|less|such))",
        "is not a, does not",
    ),
    (
        "but-for",
        r"\b(?:but for|in place of|for want of|save for|whereof|thereby|therein|thereof"
        r"|whatever else|all else|else than|other than that)\b",
        "except, instead of",
    ),
    (
        "whoever",
        r"\b(?:[Ww]hoever|[Ww]ho (?:says|wants|has|does|asks|needs|is|reads|sends|opens)|one who"
        r"|those who|nobody|somebody|the one (?:who|that))\b",
        "the caller, a user, the client",
    ),
    (
        "where-if",
        r"(?:^|[,;:.] ?)[Ww]here (?:it|there|a|an|one|no|the|they|nothing|that|this|both|all|each"
        r"|such|two|only) ",
        "if",
    ),
    ("too-end", r", too\b[.,;:)]?", "also"),
    (
        "ask-verb",
        r"\b(?:asked for|is asked|was asked|asks for|asked of|answered by)\b",
        "requested, queried, selected",
    ),
    (
        "there-is",
        r"\b(?:is|are|was|were) there(?: already| yet| still| no more| any more)?"
        r"(?=[.,;:)]|$| (?:and|or|when|before|after|for)\b)|\bthat (?:is|are) there\b",
        "exists, is present",
    ),
    (
        "goes-stays",
        r"\b(?:that|which|what|documents?|records?|they|it) (?:goes|go|stays|stay)\b",
        "is removed, is kept",
    ),
    (
        "far-verb",
        r"\b(?:lets? go|goes on|go on|going on|comes? out|takes? away|took away|puts? in"
        r"|does not want|comes? of|becomes? of|made of it|looks? (?:whether|after))\b",
        "continues, releases, removes, inserts, checks",
    ),
]
LONGEST_SENTENCE = 40

SKIPPED = re.compile(
    r"(^|/)(fixtures|tests?|benches|testing)/|(^|/)tests?\.rs$|^LICENSE|^CHANGELOG\.md$"
    r"|(^|/)(openapi\.json|unicode_table\.rs|prose\.py)$"
)
CODE = re.compile(r"``[^`]*``|\[?`[^`]*`\]?")
# Lines that begin a paragraph: list items, headings, table rows, quotations and fields.
BEGINS = re.compile(r"([-*+] |\d+\. |#|\||>|:param|:raises|:returns|@)")


class Paragraphs:
    """Joins the lines of a paragraph, so that line breaks neither hide nor add a match."""

    def __init__(self):
        self.found = []
        self.lines = []
        self.first = 0

    def add(self, number, line, begins=False):
        line = re.sub(r"\]\([^)]*\)", "]", CODE.sub("X", line)).strip()
        follows = number <= self.first + len(self.lines)
        if begins or not line or BEGINS.match(line) or not follows:
            self.end()
        if not line:
            return
        if not self.lines:
            self.first = number
        self.lines.append(line)
        if line.startswith(("#", "|")):
            self.end()

    def end(self):
        if self.lines:
            self.found.append((self.first, " ".join(self.lines)))
        self.lines = []

    def add_literals(self, text, quoted):
        """Adds the literals of a program that contain a sentence."""
        self.end()
        for match in re.finditer(quoted, text, re.DOTALL):
            body = re.sub(r"\\\n\s*|\n\s*", " ", match.group(1))
            body = re.sub(r"\$?\{[^}]*\}|<[^>]{1,60}>", "X", body)
            if body.count(" ") >= 3 and re.search(r"[a-z]{2,} [a-z]{2,} [a-z]", body):
                line = text.count("\n", 0, match.start()) + 1
                self.found.append((line, CODE.sub("X", body)))
        return self.found


def of_markdown(text):
    paragraphs = Paragraphs()
    is_code = False
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"\s*(```|~~~)", line):
            is_code = not is_code
            paragraphs.end()
        elif not is_code:
            paragraphs.add(number, line)
    paragraphs.end()
    return paragraphs.found


def of_rust(text):
    paragraphs = Paragraphs()
    is_code = False
    rest = []
    for number, line in enumerate(text.split("\n"), 1):
        comment = re.match(r"\s*//[/!]? ?(.*)", line)
        if comment:
            rest.append("")
            if comment.group(1).lstrip().startswith("```"):
                is_code = not is_code
                paragraphs.end()
            elif not is_code:
                paragraphs.add(number, comment.group(1))
            continue
        is_code = False
        paragraphs.end()
        trailing = re.search(r'[^:"]//\s([^"]*)$', line)
        if trailing:
            paragraphs.add(number, trailing.group(1), begins=True)
            line = line[: trailing.start()]
        rest.append(line)
    return paragraphs.add_literals("\n".join(rest), r'"((?:[^"\\]|\\.)*)"')


def of_python(text):
    paragraphs = Paragraphs()
    quotes = None
    rest = []
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        begin = re.match(r'[rRbBuU]?("""|\'\'\')(.*)', stripped)
        comment = re.match(r"\s*#:? ?(.*)$", line)
        is_code = False
        if quotes or begin:
            body = stripped if quotes else begin.group(2)
            begins = not quotes
            quotes = quotes or begin.group(1)
            ends = quotes in body
            body = body.split(quotes)[0]
            if not body.startswith((">>>", "...")):
                paragraphs.add(number, body, begins)
            if ends:
                quotes = None
                paragraphs.end()
        elif comment:
            paragraphs.add(number, comment.group(1))
        else:
            is_code = True
            paragraphs.end()
        rest.append(re.sub(r"\s#\s[^\"']*$", "", line) if is_code else "")
    return paragraphs.add_literals("\n".join(rest), r'"((?:[^"\\\n]|\\.)*)"')


def of_javascript(text):
    paragraphs = Paragraphs()
    rest = []
    for number, line in enumerate(text.split("\n"), 1):
        comment = re.match(r"\s*(?://|/?\*+/?)\s?(.*)$", line)
        if comment:
            paragraphs.add(number, comment.group(1))
        else:
            paragraphs.end()
        rest.append("" if comment else line)
    return paragraphs.add_literals("\n".join(rest), r'["`]((?:[^"`\\]|\\.)*)["`]')


def of_promises(text):
    lines = enumerate(text.split("\n"), 1)
    return [(number, CODE.sub("X", line)) for number, line in lines if not line.startswith(" ")]


def of_html(text):
    return [
        (text.count("\n", 0, match.start()) + 1, " ".join(match.group(1).split()))
        for match in re.finditer(r">([^<>{}]{12,})<", text)
        if match.group(1).count(" ") >= 2
    ]


READERS = {
    ".md": of_markdown,
    "promises.txt": of_promises,
    ".rs": of_rust,
    ".py": of_python,
    ".pyi": of_python,
    ".js": of_javascript,
    ".mjs": of_javascript,
    ".html": of_html,
}


def matches(paragraph):
    """Yields the name, the advice and the text of each match in a paragraph."""
    for name, pattern, advice in PATTERNS:
        for match in re.finditer(pattern, paragraph):
            yield name, advice, paragraph[max(0, match.start() - 30) : match.start() + 70]
    for sentence in re.split(r"(?<=[.!?;:|])\s", paragraph):
        if len(sentence.split()) > LONGEST_SENTENCE:
            yield "long", f"at most {LONGEST_SENTENCE} words in a sentence", sentence[:100]


def main():
    arguments = sys.argv[1:]
    names = [argument for argument in arguments if argument != "--count"]
    if not names:
        list_files = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(list_files, capture_output=True, text=True, check=True).stdout.split(
            "\0"
        )
    for name in sorted(set(names)):
        reader = next((READERS[end] for end in READERS if name.endswith(end)), None)
        if reader is None or SKIPPED.search(name):
            continue
        try:
            with open(name, encoding="utf-8") as file:
                text = file.read()
        except FileNotFoundError:
            continue  # Git lists deleted files until they are committed.
        found = [(line, *match) for line, paragraph in reader(text) for match in matches(paragraph)]
        if "--count" in arguments:
            if found:
                print(len(found), name)
            continue
        for line, pattern, advice, part in found:
            print(f"{name}:{line}: {pattern}: …{part}… ({advice})")


main()

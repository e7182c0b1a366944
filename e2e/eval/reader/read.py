"""Rebuilds the labelled pairs: reads documents as words under headings, cuts windows, and yields questions with their texts.

`read.py FOLDER` prints the pairs as JSON lines; FOLDER holds the documents that documents.tsv names.
"""
import bisect
import glob
import gzip
import hashlib
import html.parser
import json
import os
import re
import sys
import zlib
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
JOINT = " › "  # between headings, as in the product's citations
BLOCKS = set("p li dt dd tr pre div blockquote table ul ol dl section article caption br hr body main center".split())
SKIPPED = set("script style nav".split())
LEAST, MOST = 40, 120  # words of a window
COMMON = set("the of to and a in is for that it be are with as on or this by not you can if from an will which at have".split())


@dataclass
class Document:
    """Document is the words of a file, without its headings. Offsets count words."""
    title: str = ""
    words: list = field(default_factory=list)
    blocks: set = field(default_factory=set)      # offsets at which a paragraph, item or row begins
    headings: list = field(default_factory=list)  # (offset, path): the path holds from the offset on

    def heading(self, at):
        """heading returns the title and the headings over the word at the offset, outermost first."""
        found = bisect.bisect_right(self.headings, at, key=lambda h: h[0])
        path = [self.title] + list(self.headings[found - 1][1] if found else ())
        return JOINT.join(h for i, h in enumerate(path) if h and h not in path[:i])

    def text(self, start, end):
        """text joins the words of a window; blocks are parted by line breaks."""
        return "".join(("\n" if i in self.blocks else " ") + self.words[i] for i in range(start, end))[1:]

    def windows(self):
        """windows cuts the document into windows of 40 to 120 words, each under one heading. The same file gives the same windows."""
        edges = sorted({0, len(self.words)} | {at for at, _ in self.headings})
        for start, end in zip(edges, edges[1:]):
            while end - start >= LEAST:
                wish = LEAST + zlib.crc32(" ".join(self.words[start:start + LEAST]).encode()) % (MOST - LEAST + 1)
                cuts = [i for i in range(start + LEAST, min(start + MOST, end) + 1)
                        if i == end or i in self.blocks or self.words[i - 1][-1] in ".?!"]
                cut = min(cuts, key=lambda i: abs(i - start - wish), default=start + wish)
                if self.readable(start, cut):
                    yield start, cut
                start = cut

    def readable(self, start, end):
        """readable reports whether a window is English prose or a table, not code, an index or another language."""
        words, text = [w.lower().strip(".,;:()") for w in self.words[start:end]], self.text(start, end)
        letters = sum(c.isalpha() or c == " " for c in text) / len(text)
        common = sum(w in COMMON for w in words) / len(words)
        return len(text) < 900 and (letters > 0.8 and common > 0.2 or text.count(" | ") > 5 and letters > 0.6 and common > 0.05)


class Page(html.parser.HTMLParser):
    """Page fills a Document from HTML."""
    def __init__(self):
        super().__init__()
        self.document, self.parts, self.path, self.level, self.skipped = Document(), [], [], 0, 0

    def flush(self):
        words, self.parts = "".join(self.parts).replace("¶", " ").split(), []
        if self.level == "title":
            self.document.title = self.document.title or " ".join(words)
        elif self.level:
            self.path = [(n, h) for n, h in self.path if n < self.level] + [(self.level, " ".join(words))]
            self.document.headings.append((len(self.document.words), tuple(h for _, h in self.path)))
        elif words and set(words) != {"|"}:
            self.document.blocks.add(len(self.document.words))
            self.document.words += words

    def handle_starttag(self, tag, attrs):
        if tag in SKIPPED or tag == "title" or re.fullmatch("h[1-6]", tag):
            self.flush()
            self.skipped += tag in SKIPPED
            self.level = {"title": "title"}.get(tag) or (int(tag[1]) if tag not in SKIPPED else 0)
        elif tag in BLOCKS and not self.level:
            self.flush()
        elif tag in ("td", "th") and "".join(self.parts).strip():
            self.parts.append(" | ")

    def handle_endtag(self, tag):
        if tag in SKIPPED:
            self.skipped, self.parts = max(0, self.skipped - 1), []
        elif tag == "title" or re.fullmatch("h[1-6]", tag):
            self.flush()
            self.level = 0
        elif tag in BLOCKS and not self.level:
            self.flush()

    def handle_data(self, data):
        if not self.skipped:
            self.parts.append(data)


def document(path):
    """document reads a file: HTML by its elements, other text by its blank lines."""
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    if not path.endswith(".html"):
        text = "<title>" + os.path.basename(path).rsplit(".", 1)[0].replace("-", " ") + "</title>" + "".join(
            "<p>" + part.replace("&", "&amp;").replace("<", "&lt;") for part in re.split(r"\n\s*\n", text))
    page = Page()
    page.feed(text)
    page.close()
    page.flush()
    return page.document


def check(text):
    """check returns the checksum that a row keeps of its text."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def rows(folder=HERE):
    """rows yields the rows of all files of labels, in order."""
    for name in sorted(glob.glob(os.path.join(folder, "pairs-*.jsonl.gz"))):
        with gzip.open(name, "rt", encoding="utf-8") as file:
            yield from map(json.loads, file)


def pairs(folder, labelled=HERE):
    """pairs yields (row, heading, text) of each labelled pair. It raises ValueError where a document is another than the labelled one."""
    documents = {}
    for row in rows(labelled):
        name = row["document"]
        if name not in documents:
            documents[name] = document(os.path.join(folder, name))
        text = documents[name].text(*row["words"])
        if check(text) != row["check"]:
            raise ValueError(f"{name}: the words {row['words']} are not those that were labelled")
        yield row, documents[name].heading(row["words"][0]), text


if __name__ == "__main__":
    for row, heading, text in pairs(sys.argv[1]):
        print(json.dumps({**row, "heading": heading, "text": text}, ensure_ascii=False))

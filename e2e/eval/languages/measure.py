"""Measures a search by words, by meaning and by both in many languages: measure.py HELP LANGUAGE..., over GNOME's help in HELP.

A document is the body of a page. Its title and its description, which the body does not hold, are two queries. A page or query that is
not translated is left out. nDCG@10 and recall@50 are of documents; each query has one.
"""
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
import xml.etree.ElementTree as ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PROGRAM = os.environ.get("FOOTNOTE_BIN", os.path.join(ROOT, "bin", "footnote"))
MALLARD = "{http://projectmallard.org/1.0/}"
SHORTEST = 80   # characters of a body
QUERIES = 150   # of a language, at most, by lot
LARGEST = 50    # passages of a search, at most
MODES = {"lexical": "words", "semantic": "meaning", "hybrid": "both"}


def text(element):
    """text is what an element says, in one line."""
    return " ".join("".join(element.itertext()).split())


def paragraphs(element):
    """paragraphs yields the texts of an element's paragraphs, titles and code."""
    for child in element:
        name = str(child.tag).removeprefix(MALLARD)
        if name in ("p", "title", "screen", "code"):
            yield text(child)
        elif name not in ("info", "links"):
            yield from paragraphs(child)


def read(file):
    """read returns a page's title, description and body."""
    page = ElementTree.parse(file).getroot()
    title, about = page.find(MALLARD + "title"), page.find(f"{MALLARD}info/{MALLARD}desc")
    if title is not None:
        page.remove(title)
    return ["" if e is None else text(e) for e in (title, about)] + ["\n\n".join(filter(None, paragraphs(page)))]


def sets(source, language):
    """sets returns documents by name, and queries with the document that each is of."""
    documents, queries = {}, []
    original = os.path.join(source, "C", "gnome-help")
    for name in sorted(os.listdir(original)):
        translated = os.path.join(source, language, "gnome-help", name)
        if not name.endswith(".page") or not os.path.exists(translated):
            continue
        page, english = read(translated), read(os.path.join(original, name)) if language != "C" else ["", "", ""]
        if len(page[2]) < SHORTEST or page[2] == english[2]:
            continue
        number = f"{len(documents):03}.txt"  # the name of the page would give it away
        documents[number] = page[2]
        queries += [(number, page[i]) for i in (0, 1) if page[i] and page[i] != english[i]]
    return documents, random.Random(language).sample(queries, min(QUERIES, len(queries)))


def ask(url, body=None):
    """ask returns the JSON that an address answers."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Accept": "application/json", "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, data, headers)) as answer:
        return json.load(answer)


def measure(url, queries, mode):
    """measure returns nDCG@10 and recall@50."""
    gain = found = 0
    for name, query in queries:
        results = ask(url + "/search", {"query": query, "mode": mode, "top_k": LARGEST})["results"]
        names = list(dict.fromkeys(r["metadata"]["filename"] for r in results))
        if name in names:
            found += 1
            gain += 1 / math.log2(names.index(name) + 2) if names.index(name) < 10 else 0
    return gain / len(queries), found / len(queries)


def served(directory):
    """served starts the program over a directory and returns it with its address."""
    process = subprocess.Popen([PROGRAM, "serve", "--addr", "127.0.0.1:0", "--data", directory], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
    for line in process.stdout:
        if address := re.search(r"http://\S+", line):
            return process, address.group()
    raise SystemExit("the program did not start")


def main(source, languages):
    """main prints a row for each language."""
    print("| language | queries | " + " | ".join(f"{m}, nDCG@10 | recall@50" for m in MODES.values()) + " |", flush=True)
    print("|---" * (2 + 2 * len(MODES)) + "|", flush=True)
    for language in languages:
        documents, queries = sets(source, language)
        with tempfile.TemporaryDirectory() as data, tempfile.TemporaryDirectory() as folder:
            for name, body in documents.items():
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(body)
            subprocess.run([PROGRAM, "ingest", "--data", data, folder], check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
            process, url = served(data)
            try:
                while any(d["semantic"] != "ready" for d in ask(url + "/documents?limit=1000")["documents"]):
                    time.sleep(1)
                row = [f"{figure:.3f}" for mode in MODES for figure in measure(url, queries, mode)]
            finally:
                process.terminate()
                process.wait()
        print(f"| {language} | {len(queries)} | " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

"""Collects labels for a reader: collect.py GOAL adds pairs to pairs-*.jsonl.gz until there are GOAL. README.md says how.

It works in batches of windows of one document, in an order that only the documents decide. A batch is written when it is complete, so
what was interrupted begins with the first batch that no file holds.
"""
import concurrent.futures
import contextlib
import ctypes
import gzip
import itertools
import json
import os
import queue
import random
import re
import resource
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import zlib

import questions
import read

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(read.HERE)))
CACHE = os.path.join(ROOT, ".cache")
DOCUMENTS = os.path.join(CACHE, "reader", "documents")
MODEL = "qwen2.5-coder-1.5b"
BATCH = 6         # windows
SLOTS = 3         # requests that a server works on at once
FOUND = 8         # windows of the search for each question, at most
FILE = 5000       # rows, at most
GIB = 1 << 30

JUDGE = "You judge whether a text answers a question. Answer with one word: yes or no."
JUDGED = "Text:\n{heading}\n{text}\n\nQuestion: {question}\n\nDoes the text state the answer to exactly this question? yes or no"


def stand_back():
    """stand_back leaves the processors to all other work of the machine, also that of other sessions. Children inherit it."""
    with contextlib.suppress(PermissionError):
        if os.getsid(0) != os.getpid():
            os.setsid()  # the group of the terminal keeps its own share
            end_with_parent()
    os.nice(19)
    with contextlib.suppress(AttributeError, PermissionError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    with contextlib.suppress(OSError):
        if os.getsid(0) == os.getpid():
            with open("/proc/self/autogroup", "w") as group:
                group.write("19")


def end_with_parent():
    """end_with_parent has Linux send SIGTERM to this process when its parent ends."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)


@contextlib.contextmanager
def child(arguments, memory, **environment):
    """child starts a program with a limit of its address space in bytes, and ends it."""
    def prepare():
        end_with_parent()
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    process = subprocess.Popen(arguments, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               text=True, preexec_fn=prepare)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def post(url, body):
    """post sends JSON and returns the answer, however long that takes: other work may take all processors for hours."""
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    for left in (2, 1, 0):
        try:
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)
        except ConnectionError as err:
            if not left:
                raise
            print("again after", err, flush=True)


class Model:
    """Model is a slot of the language model's server, which keeps what it has read last."""
    def __init__(self, address, slot):
        self.url, self.slot = address + "/v1/chat/completions", slot

    def ask(self, system, *turns, **options):
        messages = [{"role": ("user", "assistant")[i % 2], "content": turn} for i, turn in enumerate(turns)]
        return post(self.url, {"messages": [{"role": "system", "content": system}, *messages], "id_slot": self.slot, **options})["choices"][0]

    def write(self, text, seed):
        """write returns a question of each style that the text may answer."""
        turns = [turn for example in questions.EXAMPLES for turn in example]
        said = self.ask(questions.WRITER, *turns, text, max_tokens=140, temperature=0.3, seed=seed)
        return questions.lines(said["message"]["content"])

    def judge(self, heading, text, question):
        """judge returns log P(yes) − log P(no) of the first token."""
        choice = self.ask(JUDGE, JUDGED.format(heading=heading, text=text, question=question),
                          max_tokens=1, temperature=0, logprobs=True, top_logprobs=20)
        likely = {t["token"]: t["logprob"] for t in choice["logprobs"]["content"][0]["top_logprobs"]}
        return likely.get("yes", min(likely.values())) - likely.get("no", min(likely.values()))


class Library:
    """Library is the documents, their windows, and the product's search over them."""
    def __init__(self, address, folder=DOCUMENTS):
        self.url, self.documents, self.windows = address + "/search", {}, {}
        for name in sorted(os.listdir(folder)):
            self.documents[name] = read.document(os.path.join(folder, name))
            self.windows[name] = list(self.documents[name].windows())

    def batches(self):
        """batches yields (name, windows): a part of each document, then another part of each, until all are there."""
        rounds = []
        for name, windows in self.windows.items():
            parts = [windows[i:i + BATCH] for i in range(0, len(windows), BATCH)]
            random.Random(name).shuffle(parts)
            rounds += [(i, zlib.crc32(f"{i} {name}".encode()), f"{name}:{part[0][0]}", name, part) for i, part in enumerate(parts)]
        for _, _, batch, name, part in sorted(rounds):
            yield batch, name, part

    def search(self, question):
        """search yields the windows that the product finds for the question, best first: of each passage the one that shares most with it."""
        asked = questions.stems(question)
        for result in post(self.url, {"query": question, "top_k": 20})["results"]:
            name, held, best = os.path.basename(result["metadata"]["filename"]), set(result["text"].split()), []
            for start, end in self.windows.get(name, ()):
                words = self.documents[name].words[start:end]
                if sum(w in held for w in words) > 0.8 * len(words):
                    best.append((len(asked & questions.stems(" ".join(words))), -start, end))
            if best:
                _, start, end = max(best)
                yield name, -start, end

    def of(self, name, start, end):
        """of returns a window's heading and text."""
        return self.documents[name].heading(start), self.documents[name].text(start, end)


def collect(batch, name, windows, model, library):
    """collect returns the rows of a batch. The pairs of one text are judged one after the other, so that the model reads it once."""
    asked, found = {(name, *window): [] for window in windows}, []  # window -> its questions; questions with what the search returns
    document = library.documents[name]
    for own, own_questions in list(asked.items()):
        heading, text = library.of(*own)
        seed = zlib.crc32(f"{name} {own[1]}".encode())
        for style, question in model.write(heading + "\n" + text, seed).items():
            if not questions.fits(question, style, heading, text) or any(question == q for q, _, _ in own_questions):
                continue
            own_questions.append((question, style, "own"))
            if exchanged := questions.exchange(question, document, text, random.Random(seed)):
                own_questions.append((exchanged[0], style, exchanged[1]))
            found.append((question, style, [window for window in dict.fromkeys(library.search(question)) if window != own]))
    for question, style, returned in found:
        for window in returned[:FOUND]:
            asked.setdefault(window, []).append((question, style, "search"))
    rows = []
    for (name, start, end), pairs in asked.items():
        heading, text = library.of(name, start, end)
        for question, style, kind in pairs:
            rows.append({"batch": batch, "document": name, "words": [start, end], "check": read.check(text), "question": question,
                         "style": style, "kind": kind, "label": round(model.judge(heading, text, question), 3)})
    return rows


def add(rows, folder=read.HERE, most=FILE):
    """add appends rows to the last file, or begins another where they do not fit. A file is replaced as a whole."""
    files = sorted(f for f in os.listdir(folder) if re.fullmatch(r"pairs-\d{4}\.jsonl\.gz", f)) or ["pairs-0001.jsonl.gz"]
    path, old = os.path.join(folder, files[-1]), b""
    if os.path.exists(path):
        with gzip.open(path) as file:
            old = file.read()
    if old.count(b"\n") + len(rows) > most:
        path, old = os.path.join(folder, f"pairs-{len(files) + 1:04}.jsonl.gz"), b""
    new = old + "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    with open(path + ".part", "wb") as file:
        file.write(gzip.compress(new, mtime=0))
    os.replace(path + ".part", path)


def main():
    goal = int(sys.argv[1])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    stand_back()
    have, done = 0, set()
    for row in read.rows():
        have, done = have + 1, done | {row["batch"]}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = "127.0.0.1:%d" % free.getsockname()[1]
    footnote = dict(FOOTNOTE_DATA=os.path.join(CACHE, "reader", "library"), FOOTNOTE_ADDR=address, FOOTNOTE_MODEL="offline", FOOTNOTE_CONFIG="",
                    FOOTNOTE_EMBEDDING_DIR=os.path.join(CACHE, "embedding", "all-MiniLM-L6-v2"), FOOTNOTE_LIMITS_SEARCHES_PER_MINUTE="0",
                    FOOTNOTE_LOG_LEVEL="error", GOMEMLIMIT="1GiB")
    program, folder = os.path.join(ROOT, "bin", "footnote"), os.path.join(CACHE, "try-model")
    ingested = os.path.join(CACHE, "reader", "ingested")  # goes when the documents are fetched anew
    if not os.path.exists(ingested):
        with child([program, "ingest", DOCUMENTS], 12 * GIB, **footnote) as ingest:
            print(ingest.communicate()[0], end="", flush=True)
        if ingest.returncode:
            sys.exit("the documents can't be ingested")
        open(ingested, "w").close()
    with contextlib.ExitStack() as children:
        searching = children.enter_context(child([program, "serve"], 12 * GIB, **footnote))
        # Servers of one thread each never wait for each other where the processors are not theirs.
        servers = [children.enter_context(child([sys.executable, os.path.join(ROOT, "e2e", "eval", "small", "serve.py"), f"{folder}/{MODEL}.gguf", MODEL, "1", str(SLOTS)],
                                                6 * GIB, PYTHONPATH=os.path.join(folder, "server"))) for _ in range(min(4, os.cpu_count()))]
        models = queue.Queue()
        for server in servers:
            serving = next(line.strip() for line in server.stdout if line.startswith("http"))
            for slot in range(SLOTS):
                models.put(Model(serving, slot))
        while not healthy(address) and searching.poll() is None:
            time.sleep(0.5)
        library = Library("http://" + address)

        def work(batch, name, windows):
            began, model = time.time(), models.get()
            try:
                return batch, collect(batch, name, windows, model, library), time.time() - began
            finally:
                models.put(model)

        slots = models.qsize()
        with concurrent.futures.ThreadPoolExecutor(slots) as pool:
            try:
                left, working = (b for b in library.batches() if b[0] not in done), set()
                while have < goal:
                    working |= {pool.submit(work, *batch) for batch in itertools.islice(left, slots - len(working))}
                    ended, working = concurrent.futures.wait(working, return_when=concurrent.futures.FIRST_COMPLETED)
                    if not ended:
                        return
                    for batch, rows, took in (future.result() for future in ended):
                        add(rows)
                        have += len(rows)
                        print(f"{have} pairs; {batch}: {len(rows)} in {took:.0f} s, {len(rows) / took:.2f} a second", flush=True)
            finally:
                children.close()  # what the threads wait for ends


def healthy(address):
    """healthy reports whether the search server answers."""
    with contextlib.suppress(OSError), urllib.request.urlopen(f"http://{address}/health") as answer:
        return answer.status == 200


if __name__ == "__main__":
    main()

"""Writes a small cross-encoder with random weights, and what it says of some pairs: python3 reranker.py

Needs numpy (2.x) from PyPI. The tokens of the texts are words of the vocabulary, so that no tokenizer is needed; the
scores are by matrices of doubles, with nothing in common with the code in Go but the papers.
"""

import json
import math
import pathlib
import struct

import numpy

here = pathlib.Path(__file__).parent
folder = here / "reranker"
folder.mkdir(exist_ok=True)
words = "[PAD] [UNK] [CLS] [SEP] the roof is of slate and tin rent paid cellar dry wet who when house garden wall red".split()
config = {
    "model_type": "bert", "hidden_size": 12, "intermediate_size": 20, "num_attention_heads": 3, "num_hidden_layers": 2,
    "max_position_embeddings": 16, "type_vocab_size": 2, "vocab_size": len(words), "hidden_act": "gelu",
    "layer_norm_eps": 1e-12, "id2label": {"0": "LABEL_0"},
}
random = numpy.random.default_rng(7)
hidden, inner = config["hidden_size"], config["intermediate_size"]
tensors = {}


def add(name, *shape):
    tensors[name] = random.normal(0, 0.5, shape).astype("<f4")


for table, rows in ("word", len(words)), ("position", 16), ("token_type", 2):
    add(f"bert.embeddings.{table}_embeddings.weight", rows, hidden)
linear = {"bert.pooler.dense": (hidden, hidden), "classifier": (1, hidden)}
norms = ["bert.embeddings.LayerNorm"]
for layer in range(config["num_hidden_layers"]):
    at = f"bert.encoder.layer.{layer}."
    for part in "query", "key", "value":
        linear[at + "attention.self." + part] = (hidden, hidden)
    linear[at + "attention.output.dense"] = (hidden, hidden)
    linear[at + "intermediate.dense"] = (inner, hidden)
    linear[at + "output.dense"] = (hidden, inner)
    norms += [at + "attention.output.LayerNorm", at + "output.LayerNorm"]
for name, shape in linear.items():
    add(name + ".weight", *shape)
    add(name + ".bias", shape[0])
for name in norms:
    add(name + ".weight", hidden)
    add(name + ".bias", hidden)

header, body = {}, b""
for name, values in tensors.items():
    raw = values.tobytes()
    header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [len(body), len(body) + len(raw)]}
    body += raw
head = json.dumps(header).encode()
head += b" " * (-len(head) % 8)
(folder / "model.safetensors").write_bytes(struct.pack("<Q", len(head)) + head + body)
(folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
(folder / "vocab.txt").write_text("\n".join(words) + "\n")

weights = {name: values.astype(numpy.float64) for name, values in tensors.items()}
erf = numpy.vectorize(math.erf)


def dense(x, name):
    return x @ weights[name + ".weight"].T + weights[name + ".bias"]


def norm(x, name):
    x = x - x.mean(-1, keepdims=True)
    x = x / numpy.sqrt((x * x).mean(-1, keepdims=True) + config["layer_norm_eps"])
    return x * weights[name + ".weight"] + weights[name + ".bias"]


def heads(x):
    return x.reshape(len(x), config["num_attention_heads"], -1).transpose(1, 0, 2)


def score(query, passage):
    pieces = ["[CLS]", *query.split(), "[SEP]", *passage.split(), "[SEP]"]
    ids = [words.index(p) if p in words else 1 for p in pieces]
    kinds = [0] * (len(query.split()) + 2) + [1] * (len(passage.split()) + 1)
    x = weights["bert.embeddings.word_embeddings.weight"][ids]
    x = x + weights["bert.embeddings.token_type_embeddings.weight"][kinds]
    x = norm(x + weights["bert.embeddings.position_embeddings.weight"][: len(ids)], "bert.embeddings.LayerNorm")
    for layer in range(config["num_hidden_layers"]):
        at = f"bert.encoder.layer.{layer}."
        q, k, v = (heads(dense(x, at + "attention.self." + part)) for part in ("query", "key", "value"))
        share = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])
        share = numpy.exp(share - share.max(-1, keepdims=True))
        share /= share.sum(-1, keepdims=True)
        mixed = (share @ v).transpose(1, 0, 2).reshape(len(ids), -1)
        x = norm(x + dense(mixed, at + "attention.output.dense"), at + "attention.output.LayerNorm")
        y = dense(x, at + "intermediate.dense")
        y = y * 0.5 * (1 + erf(y / math.sqrt(2)))
        x = norm(x + dense(y, at + "output.dense"), at + "output.LayerNorm")
    logit = dense(numpy.tanh(dense(x[0], "bert.pooler.dense")), "classifier")[0]
    return 1 / (1 + math.exp(-logit))


pairs = [
    ("who paid the rent", "the roof is of slate"), ("who paid the rent", "the rent is paid"),
    ("roof", "the roof is of slate and tin"), ("is the cellar dry", "cellar wet"), ("garden unheard", "red garden wall"),
]
out = [{"query": q, "passage": p, "score": score(q, p)} for q, p in pairs]
(here / "reranker.json").write_text(json.dumps(out, indent=1) + "\n")

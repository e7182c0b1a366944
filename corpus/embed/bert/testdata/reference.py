"""Writes the reference that the tests hold tokens and vectors to: python3 reference.py FOLDER_OF_THE_MODEL

Needs tokenizers (0.23.3) and numpy (2.4.6) from PyPI. Tokens are those of Hugging Face's library for each text of
tokens.json. Vectors are those of the first texts in vectors.json, from the same weights by matrices of doubles, with
nothing in common with the code in Go but the papers.
"""

import base64
import json
import math
import pathlib
import struct
import sys

import numpy
from tokenizers import Tokenizer

folder = pathlib.Path(sys.argv[1])
here = pathlib.Path(__file__).parent
tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
tokenizer.no_truncation()
tokenizer.no_padding()
tokenizer.encode_special_tokens = True  # "[SEP]" in a text is text

raw = (folder / "model.safetensors").read_bytes()
size = struct.unpack("<Q", raw[:8])[0]
header = json.loads(raw[8 : 8 + size])


def tensor(name):
    start, end = header[name]["data_offsets"]
    flat = numpy.frombuffer(raw[8 + size + start : 8 + size + end], dtype="<f4")
    return flat.reshape(header[name]["shape"]).astype(numpy.float64)


config = json.loads((folder / "config.json").read_text())
erf = numpy.vectorize(math.erf)


def dense(x, name):
    return x @ tensor(name + ".weight").T + tensor(name + ".bias")


def norm(x, name):
    x = x - x.mean(-1, keepdims=True)
    x = x / numpy.sqrt((x * x).mean(-1, keepdims=True) + config["layer_norm_eps"])
    return x * tensor(name + ".weight") + tensor(name + ".bias")


def heads(x):
    return x.reshape(len(x), config["num_attention_heads"], -1).transpose(1, 0, 2)


def embed(ids):
    x = tensor("embeddings.word_embeddings.weight")[ids] + tensor("embeddings.token_type_embeddings.weight")[0]
    x = norm(x + tensor("embeddings.position_embeddings.weight")[: len(ids)], "embeddings.LayerNorm")
    for layer in range(config["num_hidden_layers"]):
        at = f"encoder.layer.{layer}."
        q, k, v = (heads(dense(x, at + "attention.self." + part)) for part in ("query", "key", "value"))
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])
        scores = numpy.exp(scores - scores.max(-1, keepdims=True))
        mixed = (scores / scores.sum(-1, keepdims=True)) @ v
        mixed = mixed.transpose(1, 0, 2).reshape(x.shape)
        x = norm(x + dense(mixed, at + "attention.output.dense"), at + "attention.output.LayerNorm")
        inner = dense(x, at + "intermediate.dense")
        inner = inner * 0.5 * (1 + erf(inner / math.sqrt(2)))
        x = norm(x + dense(inner, at + "output.dense"), at + "output.LayerNorm")
    return x.mean(0) / numpy.linalg.norm(x.mean(0))


def write(name, rows):
    lines = ",\n".join(json.dumps(row) for row in rows)
    (here / name).write_text("[\n" + lines + "\n]\n")


texts = [row["text"] for row in json.loads((here / "tokens.json").read_text())]
write("tokens.json", [{"text": t, "ids": tokenizer.encode(t).ids} for t in texts])

texts = [row["text"] for row in json.loads((here / "vectors.json").read_text())]
vectors = [embed(tokenizer.encode(t).ids).astype("<f4") for t in texts]
write("vectors.json", [{"text": t, "vector": base64.b64encode(v.tobytes()).decode()} for t, v in zip(texts, vectors)])

"""Writes small encoders with random weights, and the vectors that they make: python3 encoders.py

Needs numpy (2.x) from PyPI. The tokens of the texts are words of the vocabulary, so that no tokenizer is needed; the
vectors are by matrices of doubles, with nothing in common with the code in Go but the papers. encoders.json has texts
with what each model makes of them, and pairs.json what its classifier says of a query with a passage.
"""

import json
import math
import pathlib
import struct

import numpy

here = pathlib.Path(__file__).parent
words = "the roof is of slate and tin rent paid cellar dry wet who when house garden wall red".split()
special = ["<s>", "<pad>", "</s>", "<unk>"]
hidden, inner, heads, layers = 12, 20, 3, 2
roberta = {
    "type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0], "trim_offsets": True, "add_prefix_space": True,
}
erf = numpy.vectorize(math.erf)


class Model:
    prefix, query, key, value, mixed, attended = (
        "roberta.", "attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
        "attention.output.LayerNorm",
    )
    positions, kinds, first = 40, 1, 2
    vocabulary = [*special, *("▁" + w for w in words), "<mask>"]

    def __init__(self, name, seed):
        self.name, self.random, self.weights = name, numpy.random.default_rng(seed), {}
        self.config = {
            "model_type": name, "hidden_size": hidden, "intermediate_size": inner, "num_attention_heads": heads,
            "num_hidden_layers": layers, "max_position_embeddings": self.positions, "type_vocab_size": self.kinds,
            "vocab_size": len(self.vocabulary), "hidden_act": "gelu", "layer_norm_eps": 1e-5,
            "id2label": {"0": "LABEL_0"},
        }

    def tokenizer(self):
        return {
            "added_tokens": [
                {"id": i, "content": s, "special": True, "single_word": False, "lstrip": False, "rstrip": False,
                 "normalized": False} for i, s in enumerate(special)
            ],
            "normalizer": None, "post_processor": roberta,
            "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
            "model": {"type": "Unigram", "unk_id": 3, "vocab": [[p, -1.5] for p in self.vocabulary]},
        }

    def ids(self, text):
        return [0, *(self.vocabulary.index("▁" + w) for w in text.split()), 2]

    def tensor(self, name, *shape):
        """The weights of a name, which are drawn by lot when they are first asked for."""
        if name not in self.weights:
            values = self.random.normal(0, 0.1 if name.endswith("bias") else 0.5, shape)
            if name.endswith("LayerNorm.weight"):
                values = 1 + values / 5
            self.weights[name] = values.astype("<f4")
        return self.weights[name].astype(numpy.float64)

    def dense(self, x, name, size=hidden):
        name = self.prefix + name
        return x @ self.tensor(name + ".weight", size, x.shape[-1]).T + self.tensor(name + ".bias", size)

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / numpy.sqrt((x * x).mean(-1, keepdims=True) + self.config["layer_norm_eps"])
        name = self.prefix + name
        return x * self.tensor(name + ".weight", hidden) + self.tensor(name + ".bias", hidden)

    def table(self, name, rows, places):
        return self.tensor(f"{self.prefix}embeddings.{name}_embeddings.weight", rows, hidden)[places]

    def embedded(self, ids):
        x = self.table("word", len(self.vocabulary), ids)
        x = x + self.table("position", self.positions, range(self.first, self.first + len(ids)))
        return x + self.table("token_type", self.kinds, [0] * len(ids)) if self.kinds else x

    def bias(self, count):
        return 0

    def states(self, ids):
        x = self.norm(self.embedded(ids), "embeddings.LayerNorm")
        for layer in range(layers):
            at = f"encoder.layer.{layer}."
            q, k, v = (
                self.dense(x, at + part).reshape(len(ids), heads, -1).transpose(1, 0, 2)
                for part in (self.query, self.key, self.value)
            )
            share = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1]) + self.bias(len(ids))
            share = numpy.exp(share - share.max(-1, keepdims=True))
            share /= share.sum(-1, keepdims=True)
            mixed = (share @ v).transpose(1, 0, 2).reshape(len(ids), -1)
            x = self.norm(x + self.dense(mixed, at + self.mixed), at + self.attended)
            y = self.dense(x, at + "intermediate.dense", inner)
            y = y * 0.5 * (1 + erf(y / math.sqrt(2)))
            x = self.norm(x + self.dense(y, at + "output.dense"), at + "output.LayerNorm")
        return x

    def vector(self, text):
        x = self.states(self.ids(text)).mean(0)
        return x / numpy.linalg.norm(x)

    def score(self, query, passage):
        """What a classifier of one label behind the first token says of a pair."""
        x = self.states([*self.ids(query), 2, *self.ids(passage)[1:]])[0]
        for name, size in ("dense", hidden), ("out_proj", 1):
            weights = self.tensor(f"classifier.{name}.weight", size, hidden)
            x = weights @ numpy.tanh(x) if size == 1 else weights @ x
            x = x + self.tensor(f"classifier.{name}.bias", size)
        return 1 / (1 + math.exp(-x[0]))

    def write(self):
        folder = here / self.name
        folder.mkdir(exist_ok=True)
        header, body = {"__metadata__": {"format": "pt"}}, b""
        for name, values in self.weights.items():
            raw = values.tobytes()
            at = [len(body), len(body) + len(raw)]
            header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": at}
            body += raw
        head = json.dumps(header).encode()
        head += b" " * (-len(head) % 8)
        (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(head)) + head + body)
        for name, what in ("config", self.config), ("tokenizer", self.tokenizer()):
            (folder / (name + ".json")).write_text(json.dumps(what, ensure_ascii=False, indent=1) + "\n")


class MPNet(Model):
    prefix, query, key, value, mixed, attended = (
        "", "attention.attn.q", "attention.attn.k", "attention.attn.v", "attention.attn.o", "attention.LayerNorm",
    )
    positions, kinds = 300, 0
    vocabulary = [*special, *words, "[UNK]", "<mask>"]

    def tokenizer(self):
        names = {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
        return {
            **super().tokenizer(),
            "normalizer": {"type": "BertNormalizer", **names}, "pre_tokenizer": {"type": "BertPreTokenizer"},
            "model": {
                "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100, "vocab": {p: i for i, p in enumerate(self.vocabulary)},
            },
        }

    def ids(self, text):
        return [0, *(self.vocabulary.index(w) for w in text.split()), 2]

    def bias(self, count):
        """What each head's scores have added by the distance of two tokens, as in T5 (Raffel et al. 2020)."""
        ahead = numpy.arange(count) - numpy.arange(count)[:, None]
        far = numpy.abs(ahead)
        large = 8 + numpy.floor(numpy.log(numpy.maximum(far, 1) / 8) / math.log(128 / 8) * 8 + 1e-9).astype(int)
        bucket = numpy.where(far < 8, far, numpy.minimum(large, 15)) + 16 * (ahead > 0)
        return self.tensor("encoder.relative_attention_bias.weight", 32, heads)[bucket].transpose(2, 0, 1)


texts = ["", "roof", "the roof is of slate and tin", "who paid the rent when the house is dry and the cellar is wet"]
pairs = [
    ("who paid the rent", "the roof is of slate"), ("who paid the rent", "the rent is paid"),
    ("roof", "the roof is of slate and tin"), ("is the cellar dry", "cellar wet"),
]
vectors, scores = [], []
for model in [Model("xlm-roberta", 11), MPNet("mpnet", 12)]:
    for text in [*texts, " ".join(words * (model.positions // 22))]:
        vectors.append({"model": model.name, "text": text, "vector": [round(v, 7) for v in model.vector(text)]})
    for query, passage in pairs:
        scores.append({"model": model.name, "query": query, "passage": passage, "score": model.score(query, passage)})
    model.write()
for name, rows in ("encoders.json", vectors), ("pairs.json", scores):
    (here / name).write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")

"""Writes a small Unigram tokenizer and what the library tokenizers makes of texts drawn by lot: python3 unigram.py

Needs sentencepiece (0.2.3), protobuf (7.36.2), tokenizers (0.23.3) and Babel (2.19.0) from PyPI. The model is trained
on the names that Unicode's CLDR, which Babel has, gives languages, countries and days in the languages of some thirty
scripts, with SentencePiece's rules nmt_nfkc. unigram/tokenizer.json.gz has it in the form of XLM-R's;
unigram/tokens.jsonl.gz has a line for each way in which such files are written: what differs from that file, without
its table of characters, and texts with their tokens. Characters that are younger than the library's tables are left
out.
"""

import base64
import gzip
import io
import json
import pathlib
import random
import unicodedata

import sentencepiece
from babel import Locale
from sentencepiece import sentencepiece_model_pb2
from tokenizers import Tokenizer, normalizers

LOCALES = """en de fr es vi tr pl el ru uk bg hy he ar fa ur hi mr bn pa gu ta te kn ml si th lo my km ka am ti mn ko ja
zh zh_Hant yue chr iu ff_Adlm""".split()
SIGNS = [
    " !\"#$%&'()*+,-./0123456789:;<=>?@[\\]^_`{|}~", "\u2010-\u2027", "\u2028-\u205e", "\u2070-\u209c",
    "\u20a0-\u20c0", "\u2100-\u218b", "\u2190-\u22ff", "\u2460-\u24ff", "\u2581-\u2588", "\u3000-\u303f",
    "\u3200-\u33ff", "\uff01-\uffef", "\ufb00-\ufb4f", "\ufe30-\ufe4f", "\U0001d400-\U0001d7ff",
    "\U0001f100-\U0001f64f", "\u0300-\u036f", "\u200b-\u200f", "\u0001-\u001f", "\u007f-\u00bf",
    "\u0600-\u0605", "\u1100-\u11ff", "\ua960-\ua97c", "\ufff9-\ufffd", "\u0900-\u0903", "\u0e31-\u0e4d",
    "\U0001f1e6-\U0001f1ff", "\ufe00-\ufe0f",
]
here = pathlib.Path(__file__).parent / "unigram"


def names():
    for code in LOCALES:
        locale = Locale.parse(code)
        yield from locale.languages.values()
        yield from locale.territories.values()
        yield from locale.days["format"]["wide"].values()
        yield from locale.months["format"]["wide"].values()


def train(texts):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts), model_writer=model, model_type="unigram", vocab_size=4000,
        character_coverage=0.998, normalization_rule_name="nmt_nfkc", num_threads=1, minloglevel=2,
    )
    return sentencepiece_model_pb2.ModelProto.FromString(model.getvalue())


def whole(model):
    pieces = [[p.piece, p.score] for p in model.pieces[3:]]
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    vocabulary = [[name, 0.0] for name in special] + pieces + [["<mask>", 0.0]]
    added = [[i, name] for i, name in enumerate(special)] + [[len(vocabulary) - 1, "<mask>"]]

    def around(*texts):
        return [
            {"SpecialToken": {"id": t, "type_id": 0}} if t.startswith("<") else {"Sequence": {"id": t, "type_id": 0}}
            for t in texts
        ]

    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [
            {"id": i, "special": True, "content": name, "single_word": False, "lstrip": name == "<mask>",
             "rstrip": False, "normalized": False} for i, name in added
        ],
        "normalizer": {
            "type": "Precompiled",
            "precompiled_charsmap": base64.b64encode(model.normalizer_spec.precompiled_charsmap).decode(),
        },
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "WhitespaceSplit"}, {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True},
        ]},
        "post_processor": {
            "type": "TemplateProcessing", "single": around("<s>", "A", "</s>"),
            "pair": around("<s>", "A", "</s>", "</s>", "B", "</s>"),
            "special_tokens": {n: {"id": n, "ids": [i], "tokens": [n]} for i, n in ((0, "<s>"), (2, "</s>"))},
        },
        "decoder": {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True},
        "model": {"type": "Unigram", "unk_id": 3, "vocab": vocabulary},
    }


def others(table):
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}

    def spaces(by):
        return {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": by}

    def strip(left):
        return {"type": "Strip", "strip_left": left, "strip_right": True}

    roberta = {
        "type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0], "trim_offsets": True,
        "add_prefix_space": True,
    }
    dash = {"type": "Replace", "pattern": {"String": "-"}, "content": "--"}
    plain = ["Nmt", "NFKC", "Lowercase"]
    return [
        {},
        {"normalizer": {"type": "Sequence", "normalizers": [table, spaces(" ")]}, "pre_tokenizer": metaspace},
        {"normalizer": {"type": "Sequence", "normalizers": [table, strip(False), spaces("▁")]},
         "pre_tokenizer": metaspace},
        {"normalizer": {"type": "Sequence", "normalizers": [*({"type": p} for p in plain), dash, strip(True)]},
         "pre_tokenizer": {"type": "Sequence", "pretokenizers": [metaspace]}, "post_processor": roberta},
    ]


def letters(ranges):
    if "-" not in ranges[1:-1] or len(ranges) > 5:
        return list(ranges)
    return [chr(c) for c in range(ord(ranges[0]), ord(ranges[2]) + 1) if unicodedata.category(chr(c)) != "Cn"]


def old(c):
    """Whether the library's tables of Unicode have a character as Python's have it."""
    return normalizers.NFKC().normalize_str(c) == unicodedata.normalize("NFKC", c)


def main():
    here.mkdir(exist_ok=True)
    texts = list(names())
    file = whole(train(texts))
    raw = json.dumps(file, ensure_ascii=False, separators=(",", ":")).encode()
    (here / "tokenizer.json.gz").write_bytes(gzip.compress(raw, 9, mtime=0))
    lot = random.Random(20261126)
    words = sorted({w for t in texts for w in t.split()})
    scripts = {}
    for c in sorted(set("".join(texts))):
        scripts.setdefault(unicodedata.name(c, "?").split()[0], []).append(c)
    scripts = list(scripts.values())
    signs = [list(filter(old, letters(r))) for r in SIGNS]

    def text():
        out = ""
        for _ in range(lot.randint(1, 6)):
            what = lot.random()
            if what < 0.4:
                word = lot.choice(words)
                out += word if lot.random() < 0.8 else unicodedata.normalize("NFD", word)
            elif what < 0.7:
                out += "".join(lot.choices(lot.choice(scripts), k=lot.randint(1, 8)))
            elif what < 0.9:
                out += "".join(lot.choices(lot.choice(signs), k=lot.randint(1, 3)))
            else:
                out += "".join(lot.choice(lot.choice(signs + scripts)) for _ in range(lot.randint(1, 8)))
            out += lot.choice(["", "", " ", " ", " ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u3000"])
        return out

    with gzip.GzipFile(here / "tokens.jsonl.gz", "wb", mtime=0) as out:
        for other in others(file["normalizer"]):
            tokenizer = Tokenizer.from_str(json.dumps({**file, **other}))
            tokenizer.encode_special_tokens = True
            lines = [text() for _ in range(5000 if not other else 1000)]
            other["texts"] = [[t, tokenizer.encode(t).ids] for t in lines]
            line = json.dumps(other, ensure_ascii=False, separators=(",", ":"))
            out.write(line.replace(file["normalizer"]["precompiled_charsmap"], "").encode() + b"\n")


main()

"""Writes what the library tokenizers makes of 10,000 texts drawn by lot: python3 tokens.py FOLDER_OF_THE_MODEL

Needs tokenizers (0.23.3) from PyPI. The texts are words of letters, marks, signs and white space of twenty scripts,
mixed, without punctuation and marks that are younger than the library's tables. tokens.jsonl.gz has a line for each: the text and
its tokens.
"""

import gzip
import json
import pathlib
import random
import sys
import unicodedata

from tokenizers import Tokenizer

SCRIPTS = {
    "Latin": "Aa-Zz", "Latin extended": "\u00c0-\u024f", "Greek": "\u0370-\u03ff", "Cyrillic": "\u0400-\u04ff",
    "Armenian": "\u0531-\u0587", "Hebrew": "\u0591-\u05f4", "Arabic": "\u0600-\u06ff", "Devanagari": "\u0900-\u097f",
    "Bengali": "\u0980-\u09fe", "Tamil": "\u0b82-\u0bfa", "Thai": "\u0e01-\u0e5b", "Georgian": "\u10a0-\u10ff",
    "Ethiopic": "\u1200-\u137c", "Khmer": "\u1780-\u17f9", "Mongolian": "\u1800-\u18aa", "Hangul": "\uac00-\ud7a3",
    "Hiragana": "\u3041-\u309f", "Katakana": "\u30a0-\u30ff", "Han": "\u4e00-\u9fff", "Vietnamese": "\u1ea0-\u1ef9",
}
SIGNS = [
    " !\"#$%&'()*+,-./0123456789:;<=>?@[\\]^_`{|}~", "\u2010-\u2027", "\u2030-\u205e", "\u20a0-\u20c0", "\u2190-\u21ff",
    "\u2200-\u22ff", "\u3000-\u303f", "\uff01-\uffe6", "\U0001f300-\U0001f64f", "\u0300-\u036f", "\u200b-\u200f",
    "\u0001-\u001f", "\u00a0-\u00bf",
]


def letters(ranges):
    if "-" not in ranges[1:-1] or len(ranges) > 5:
        return list(ranges)
    if ranges == "Aa-Zz":
        return [chr(c) for c in range(ord("a"), ord("z") + 1)] * 3 + [chr(c) for c in range(ord("A"), ord("Z") + 1)]
    return [chr(c) for c in range(ord(ranges[0]), ord(ranges[2]) + 1) if unicodedata.category(chr(c)) != "Cn"]


def main():
    tokenizer = Tokenizer.from_file(str(pathlib.Path(sys.argv[1]) / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True  # "[SEP]" in a text is text
    lot = random.Random(20261126)

    def old(c):
        kind = unicodedata.category(c)
        if kind.startswith("P"):
            return len(tokenizer.pre_tokenizer.pre_tokenize_str(f"a{c}a")) > 1
        return kind != "Mn" or tokenizer.normalizer.normalize_str(c) == ""

    scripts, signs = ([list(filter(old, letters(r))) for r in ranges] for ranges in (SCRIPTS.values(), SIGNS))
    known = [w for w in tokenizer.get_vocab() if w.isalpha() and len(w) > 2]
    known.sort()
    with gzip.GzipFile(pathlib.Path(__file__).parent / "tokens.jsonl.gz", "wb", mtime=0) as file:
        for _ in range(10_000):
            text = ""
            for _ in range(lot.randint(1, 6)):
                what = lot.random()
                if what < 0.3:
                    text += lot.choice(known)
                elif what < 0.8:
                    text += "".join(lot.choices(lot.choice(scripts), k=lot.randint(1, 8)))
                else:
                    text += "".join(lot.choices(lot.choice(signs), k=lot.randint(1, 3)))
                text += lot.choice(["", " ", " ", "  ", "\n", "\t"])
            line = json.dumps([text, tokenizer.encode(text).ids], ensure_ascii=False, separators=(",", ":"))
            file.write(line.encode() + b"\n")


main()

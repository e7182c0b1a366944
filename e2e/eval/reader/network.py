"""The reader in PyTorch: BERT with the weights of all-MiniLM-L6-v2, and a head with two outputs on the first token."""
import os

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import nn

LAYERS, HIDDEN, INNER, HEADS = 6, 384, 1536, 12
QUESTION, WINDOW = 48, 176  # tokens, at most, of a question, and of a question with its text
SAMPLE = 1996  # the token whose embedding identifies the sentence model: sampledToken of corpus/embed/bert
RANK = 64      # of the changes of a matrix


class Layer(nn.Module):
    """Layer is a layer of BERT. Attention is written out: PyTorch's own is three times as slow backward on a processor."""
    def __init__(self):
        super().__init__()
        self.qkv, self.out, self.attended = nn.Linear(HIDDEN, 3 * HIDDEN), nn.Linear(HIDDEN, HIDDEN), nn.LayerNorm(HIDDEN, eps=1e-12)
        self.up, self.down, self.done = nn.Linear(HIDDEN, INNER), nn.Linear(INNER, HIDDEN), nn.LayerNorm(HIDDEN, eps=1e-12)

    def forward(self, x, mask):
        count, length, _ = x.shape
        size = HIDDEN // HEADS
        q, k, v = self.qkv(x).view(count, length, 3, HEADS, size).permute(2, 0, 3, 1, 4).reshape(3, count * HEADS, length, size)
        scores = torch.bmm(q * size ** -0.5, k.transpose(1, 2)).view(count, HEADS, length, length) + mask
        mixed = torch.bmm(F.softmax(scores, -1).view(-1, length, length), v)
        x = self.attended(x + self.out(mixed.view(count, HEADS, length, size).transpose(1, 2).reshape(x.shape)))
        return self.done(x + self.down(F.gelu(self.up(x))))


class Reader(nn.Module):
    """Reader has the outputs relevance and complete answer. The embeddings of words are those of the sentence model, and stay."""
    def __init__(self, folder):
        super().__init__()
        self.base = {name: t.float() for name, t in load_file(os.path.join(folder, "model.safetensors")).items()}
        self.positions, self.kinds = nn.Embedding(512, HIDDEN), nn.Embedding(2, HIDDEN)
        self.entry, self.layers = nn.LayerNorm(HIDDEN, eps=1e-12), nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = nn.Linear(HIDDEN, 2)
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)
        with torch.no_grad():
            for name, parameter, rows in self.named():
                parameter[rows].copy_(self.base[name])

    def named(self):
        """named yields each tensor of the sentence model: its name, the parameter, and the rows that it is there."""
        yield "embeddings.position_embeddings.weight", self.positions.weight, slice(None)
        yield "embeddings.token_type_embeddings.weight", self.kinds.weight, slice(None)
        parts = [("embeddings.LayerNorm", self.entry, slice(None))]
        for i, layer in enumerate(self.layers):
            at = f"encoder.layer.{i}."
            for n, name in enumerate(("query", "key", "value")):
                parts.append((at + "attention.self." + name, layer.qkv, slice(n * HIDDEN, (n + 1) * HIDDEN)))
            parts += [(at + name, module, slice(None)) for name, module in (
                ("attention.output.dense", layer.out), ("attention.output.LayerNorm", layer.attended),
                ("intermediate.dense", layer.up), ("output.dense", layer.down), ("output.LayerNorm", layer.done))]
        for name, module, rows in parts:
            yield name + ".weight", module.weight, rows
            yield name + ".bias", module.bias, rows

    def rows(self, ids, kinds, mask):
        """rows returns the encoder's output. mask is True for tokens, and False for padding."""
        words = F.embedding(ids, self.base["embeddings.word_embeddings.weight"]).to(self.positions.weight.dtype)
        x = words + self.positions.weight[:ids.shape[1]] + self.kinds(kinds)
        x, padding = self.entry(x), torch.zeros(mask.shape, dtype=x.dtype).masked_fill(~mask, -1e4)[:, None, None, :]
        for layer in self.layers:
            x = layer(x, padding)
        return x

    def forward(self, ids, kinds, mask):
        return self.head(self.rows(ids, kinds, mask)[:, 0])

    def write(self, path):
        """write saves what training changed: matrices by the product of two of rank RANK in 8 bits, other tensors whole. It changes the
        parameters to what the file holds."""
        out = {"sample": self.base["embeddings.word_embeddings.weight"][SAMPLE].clone(),
               "head.weight": self.head.weight.detach().float(), "head.bias": self.head.bias.detach().float()}
        left_out = changed = 0.0
        for name, parameter, rows in self.named():
            value = parameter.detach().float()[rows].contiguous()
            if value.dim() < 2 or value.shape[0] <= RANK:
                out[name] = value
                continue
            change = value - self.base[name]
            u, s, v = torch.linalg.svd(change, full_matrices=False)
            sides = u[:, :RANK] * s[:RANK].sqrt(), v[:RANK].T * s[:RANK].sqrt()
            product = []
            for side, matrix in zip(("left", "right"), sides):
                scale = matrix.abs().amax(1).clamp(min=1e-12) / 127
                codes = (matrix / scale[:, None]).round().clamp(-127, 127)
                out[f"{name}.{side}"], out[f"{name}.{side}.scale"] = codes.to(torch.int8).contiguous(), scale
                product.append(codes * scale[:, None])
            kept = product[0] @ product[1].T
            parameter.data[rows] = self.base[name] + kept
            left_out += (kept - change).pow(2).sum().item()
            changed += change.pow(2).sum().item()
        save_file(out, path)
        return left_out / changed


class Pairs:
    """Pairs encodes questions with texts, [CLS] question [SEP] text [SEP]."""
    def __init__(self, folder):
        self.tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.start, self.end = (self.tokenizer.token_to_id(t) for t in ("[CLS]", "[SEP]"))

    def encode(self, question, text):
        """encode returns the tokens and where those of the text begin."""
        asked = self.tokenizer.encode(question, add_special_tokens=False).ids[:QUESTION]
        read = self.tokenizer.encode(text, add_special_tokens=False).ids[:WINDOW - 3 - len(asked)]
        return [self.start, *asked, self.end, *read, self.end], len(asked) + 2

    def batch(self, encoded):
        """batch pads encoded pairs to one length."""
        ids = torch.zeros(len(encoded), max(len(tokens) for tokens, _ in encoded), dtype=torch.long)
        kinds, mask = torch.zeros_like(ids), torch.zeros_like(ids, dtype=torch.bool)
        for row, (tokens, second) in enumerate(encoded):
            ids[row, :len(tokens)], kinds[row, second:len(tokens)], mask[row, :len(tokens)] = torch.tensor(tokens), 1, True
        return ids, kinds, mask

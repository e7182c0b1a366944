"""Trains the reader: train.py DATA OUT [--minutes M] [--start FILE]. README.md says how, and log.tsv what was measured.

DATA holds gzipped JSON lines with question, context and answers (1 or 0). The labels beside this file are added. OUT.safetensors is for
corpus/reader, OUT.pt to train on from, and OUT.json holds the outputs for some pairs, for the tests.
"""
import argparse
import collections
import glob
import gzip
import json
import math
import os
import random
import re
import time

import torch
import torch.nn.functional as F

import read
from network import Pairs, Reader

CACHE = os.path.join(read.HERE, "..", "..", "..", ".cache")
MODEL = os.path.join(CACHE, "embedding", "all-MiniLM-L6-v2")
GROUP = 8      # texts for one question: the right one, and wrong ones
PAIRS = 64     # of a step, in groups
MINED = 12     # wrong texts of the sentence model, for each question
SAME = 0.5     # share of common words from which a text may answer as well
LABELS = 0.5   # share of the steps with labels of the language model


def groups(folder):
    """groups returns the questions with an answer, and those without: {question, right, wrong}."""
    found = collections.OrderedDict()
    for path in sorted(glob.glob(os.path.join(folder, "*.jsonl.gz"))):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for row in map(json.loads, file):
                if len(row["context"].split()) > 3:
                    group = found.setdefault((path, row["question"]), {"question": row["question"], "right": [], "wrong": []})
                    group["right" if row["answers"] else "wrong"].append(row["context"].strip())
    return [g for g in found.values() if g["right"]], [g for g in found.values() if not g["right"]]


@torch.no_grad()
def embed(model, pairs, texts):
    """embed returns the sentence model's vectors of texts."""
    encoded = [[pairs.start, *e.ids[:96], pairs.end] for e in pairs.tokenizer.encode_batch(texts, add_special_tokens=False)]
    order, out = sorted(range(len(texts)), key=lambda i: len(encoded[i])), torch.zeros(len(texts), 384)
    for at in range(0, len(order), 128):
        part = order[at:at + 128]
        ids, kinds, mask = pairs.batch([(encoded[i], len(encoded[i])) for i in part])
        x = model.rows(ids, kinds, mask).float()
        out[part] = F.normalize((x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True), dim=1)
    return out


def mine(questions, pairs):
    """mine adds the texts that the sentence model finds for a question and that do not answer it, nearest first."""
    model = Reader(MODEL).bfloat16().eval()
    texts = list(dict.fromkeys(text for q in questions for text in q["right"] + q["wrong"][:GROUP]))
    asked, found = embed(model, pairs, [q["question"] for q in questions]), embed(model, pairs, texts)
    words, at = [set(re.findall(r"\w+", text.lower())) for text in texts], {text: i for i, text in enumerate(texts)}
    for i, q in enumerate(questions):
        right, own, q["mined"] = [words[at[t]] for t in q["right"]], set(q["right"] + q["wrong"]), []
        for k in (found @ asked[i]).topk(min(40, len(texts))).indices.tolist():
            if texts[k] not in own and not any(len(words[k] & r) > SAME * min(len(words[k]), len(r)) for r in right):
                q["mined"].append(texts[k])
        q["mined"] = q["mined"][:MINED]


def typed(question, rng):
    """typed returns the question as it may be typed: as keywords, with two letters exchanged, without its mark, or as it is."""
    chance = rng.random()
    if chance < 0.12:
        words = [w for w in re.findall(r"[\w'./-]+", question) if w.lower() not in read.COMMON | ASKING]
        return " ".join(words) if len(words) > 1 else question
    if chance < 0.17:
        i = rng.randrange(max(1, len(question) - 1))
        return question[:i] + question[i + 1:i + 2] + question[i:i + 1] + question[i + 2:]
    return question.rstrip("?") if chance < 0.2 else question


ASKING = set("do does did what who when where why how was were has had my your there".split())


def probability(label):
    """probability returns how probable an answer is for a label: docs/quality.md, “Checked passages”."""
    return 1 / (1 + math.exp(1.28 - 1.58 * label))


def auc(scored):
    """auc returns how probable it is that a right text has a higher score than a wrong one."""
    scored = sorted(scored)
    right = sum(y for _, y in scored)
    ranks = sum(i + 1 for i, (_, y) in enumerate(scored) if y)
    return (ranks - right * (right + 1) / 2) / max(1, right * (len(scored) - right))


def labelled():
    """labelled returns the (text, label) of each question, and (question, text, answers) of the verdicts, which are not trained with."""
    verdicts, labels, held = {}, collections.defaultdict(list), []
    with open(os.path.join(read.HERE, "verdicts.tsv"), encoding="utf-8") as file:
        for document, first, last, verdict, question in (line.rstrip("\n").split("\t") for line in file if line[0] != "#"):
            verdicts[document, int(first), int(last), question] = verdict
    for row, heading, text in read.pairs(os.path.join(CACHE, "reader", "documents")):
        verdict = verdicts.get((row["document"], *row["words"], row["question"]))
        if verdict is None:
            labels[row["question"]].append((heading + "\n" + text, row["label"]))
        elif verdict != "?":
            held.append((row["question"], heading + "\n" + text, verdict == "y"))
    return labels, held


@torch.no_grad()
def outputs(model, pairs, asked, size=64):
    """outputs returns the two outputs for each question and text."""
    encoded = [pairs.encode(q, text) for q, text in asked]
    order, out = sorted(range(len(encoded)), key=lambda i: len(encoded[i][0])), [None] * len(encoded)
    for at in range(0, len(order), size):
        part = order[at:at + size]
        for i, row in zip(part, model(*pairs.batch([encoded[i] for i in part])).float().tolist()):
            out[i] = row
    return out


class Steps:
    """Steps yields batches of groups of texts for a question: with a right and wrong texts, or with labelled texts."""
    def __init__(self, questions, unanswered, labels, rng):
        self.questions, self.unanswered, self.labels, self.rng = questions, unanswered, list(labels.items()), rng

    def next(self):
        """next returns pairs, the probability of an answer for each, and the groups: first pair, and the share of each text in the best."""
        pairs, targets, ranges, rng = [], [], [], self.rng
        if rng.random() < LABELS:
            while len(pairs) <= PAIRS - GROUP:
                question, texts = rng.choice(self.labels)
                texts, question = rng.sample(texts, min(GROUP, len(texts))), typed(question, rng)
                ranges.append((len(pairs), F.softmax(torch.tensor([label for _, label in texts]), -1)))
                pairs += [(question, text) for text, _ in texts]
                targets += [probability(label) for _, label in texts]
            return pairs, targets, ranges
        for q in rng.choices(self.questions, k=PAIRS // GROUP):
            own, question = rng.sample(q["wrong"], len(q["wrong"])), typed(q["question"], rng)
            half = GROUP // 2 - 1
            wrong = (own[:half] + rng.sample(q["mined"], len(q["mined"])) + own[half:])[:GROUP - 1]
            ranges.append((len(pairs), F.one_hot(torch.tensor(0), 1 + len(wrong)).float()))
            pairs += [(question, rng.choice(q["right"]))] + [(question, text) for text in wrong]
            targets += [1.0] + [0.0] * len(wrong)
        for q in rng.choices(self.unanswered, k=PAIRS // 16):
            pairs.append((q["question"], q["wrong"][0]))
            targets.append(0.0)
        return pairs, targets, ranges


def train(model, pairs, steps, minutes, rate, report):
    """train runs for some minutes. The network computes in bfloat16, the optimizer in float32. The learning rate falls to zero."""
    trained = list(model.parameters())
    masters = [p.detach().float().clone().requires_grad_() for p in trained]
    optimizer = torch.optim.AdamW([{"params": [m for m in masters if m.dim() > 1]},
                                   {"params": [m for m in masters if m.dim() < 2], "weight_decay": 0.0}], lr=rate, betas=(0.9, 0.98))
    model.bfloat16()
    began, done = time.time(), 0
    while (spent := (time.time() - began) / 60 / minutes) < 1:
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1, (done + 1) / 100) * max(0.02, 1 - spent)
        asked, targets, ranges = steps.next()
        encoded, rows = [pairs.encode(*pair) for pair in asked], [None] * len(asked)
        order = sorted(range(len(asked)), key=lambda i: len(encoded[i][0]))
        for part in (order[:len(order) // 2], order[len(order) // 2:]):  # texts of similar length
            for i, row in zip(part, model(*pairs.batch([encoded[i] for i in part])).float()):
                rows[i] = row
        rows, targets = torch.stack(rows), torch.tensor(targets)
        loss = F.binary_cross_entropy_with_logits(rows[:, 1], targets)
        loss = loss + sum(F.cross_entropy(rows[at:at + len(best), 0], best) for at, best in ranges) / len(ranges)
        loss.backward()
        for p, m in zip(trained, masters):
            m.grad, p.grad = None if p.grad is None else p.grad.float(), None
        torch.nn.utils.clip_grad_norm_(masters, 1.0)
        optimizer.step()
        with torch.no_grad():
            for p, m in zip(trained, masters):
                p.copy_(m)
        done += 1
        if done % 100 == 0:
            report(done, spent)
    model.float()
    with torch.no_grad():
        for p, m in zip(trained, masters):
            p.copy_(m)
    return done


EXAMPLES = [
    ("How long is the notice period?", "Lease › 7. Ending the lease\nEither party may end this lease by written notice. The notice period is "
     "three months to the end of a month. Keys are returned on the last day."),
    ("How long is the notice period?", "Lease › 4. Deposit\nThe deposit is two months' rent. It is kept in a separate account and returned "
     "within six weeks after the keys were handed over."),
    ("deposit interest", "Lease › 4. Deposit\nThe deposit earns interest at the rate of the bank. Interest is paid out with the deposit."),
    ("Who repairs the roof?", "House rules\nThe landlord repairs the roof, the gutters and the outer walls. Tenants report damage at once."),
    ("Who repaired the roof in 2019?", "House rules\nThe landlord repairs the roof, the gutters and the outer walls. Tenants report damage "
     "at once."),
    ("What does ERR-2041 mean?", "Manual › Errors\nERR-2041 | The filter is clogged | Clean the filter\nERR-2042 | The door is open | "
     "Close the door"),
]


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("data")
    arguments.add_argument("out")
    arguments.add_argument("--minutes", type=float, default=120)
    arguments.add_argument("--rate", type=float, default=8e-5)
    arguments.add_argument("--start", help="a file OUT.pt of an earlier run")
    arguments.add_argument("--seed", type=int, default=1)
    a = arguments.parse_args()
    torch.manual_seed(a.seed)
    pairs, model = Pairs(MODEL), Reader(MODEL)
    if a.start:
        model.load_state_dict(torch.load(a.start))
    questions, unanswered = groups(a.data)
    labels, held = labelled()
    mine(questions, pairs)
    print(f"{len(questions)} questions with answers, {len(unanswered)} without, {sum(map(len, labels.values()))} labels", flush=True)

    def report(done, spent):
        scores = outputs(model, pairs, [(q, text) for q, text, _ in held])
        found = [round(auc([(row[o], answers) for row, (_, _, answers) in zip(scores, held)]), 3) for o in range(2)]
        print(f"{done} steps, {spent:.0%}: AUC of the verdicts {found[0]} relevant, {found[1]} answers", flush=True)
        return found

    done = train(model, pairs, Steps(questions, unanswered, labels, random.Random(a.seed)), a.minutes, a.rate, report)
    torch.save(model.state_dict(), a.out + ".pt")
    left_out = model.write(a.out + ".safetensors")
    examples = outputs(model, pairs, EXAMPLES, 1)
    with open(a.out + ".json", "w", encoding="utf-8") as file:
        json.dump([{"question": q, "text": text, "outputs": [round(v, 5) for v in row]} for (q, text), row in zip(EXAMPLES, examples)],
                  file, ensure_ascii=False, indent=1)
    with open(os.path.join(read.HERE, "log.tsv"), "a", encoding="utf-8") as file:
        print(time.strftime("%Y-%m-%d"), os.path.basename(a.start or "all-MiniLM-L6-v2"), len(questions), len(unanswered), sum(map(len, labels.values())),
              a.minutes, a.rate, done, *report(done, 1), round(left_out, 3), sep="\t", file=file)


if __name__ == "__main__":
    main()

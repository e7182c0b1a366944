"""Says how questions are asked for, which are kept, and how one becomes a near miss."""
import collections
import re

import read

WRITER = ("You write four questions that each text answers, for a search engine. full: a question with What, Which, Who, When, Where, Why or "
          "How. keywords: 3 to 6 search words. yes-no: a question that begins with Is, Are, Does, Do, Can or Must. everyday: a question in "
          "simple words by somebody who does not know the terms. Each asks for one fact and names the thing it is about.")
EXAMPLES = [("Norex 20 › Upkeep\nClean the pump filter every three months. Unplug the machine first. Clogged drains are not covered by the "
             "warranty.",
             "full: How often must the pump filter of the Norex 20 be cleaned?\nkeywords: Norex 20 pump filter cleaning interval\n"
             "yes-no: Does the warranty of the Norex 20 cover clogged drains?\neveryday: What do I do before I open my Norex washer?"),
            ("Staff handbook › Leave\nEmployees accrue 25 days of annual leave. Up to five unused days are carried over until 31 March.",
             "full: Until when can unused annual leave be carried over?\nkeywords: annual leave carry over days\n"
             "yes-no: Can employees carry over ten days of annual leave?\neveryday: How many holidays do I get in a year?")]
STYLES = ("full", "keywords", "yes-no", "everyday")
BEGINS = {
    "full": "what|which|who|whom|whose|when|where|why|how|in|on|at|by|for|to|under|from|with",
    "yes-no": "is|are|does|do|can|must|may|will|has|have|should|was|were|did|could|would|am",
    "everyday": "my|what|which|who|whose|when|where|why|how|is|are|does|do|can|must|may|will|has|have|should|was|were|did|could|would|am|if|i",
}
WORDS = {"full": (5, 24), "keywords": (2, 7), "yes-no": (5, 22), "everyday": (5, 24)}
# What only a reader of the text can ask.
POINTS = re.compile(r"\b(text|passage|paragraph|excerpt|author|mentioned|described|provided|given|following|above|below|this|these|that "
                    r"section|discussed|stated|example|snippet)\b", re.I)
WORD = re.compile(r"[\w./-]*\w")
ENDINGS = re.compile(r"(ing|edly|ed|es|s|ly|ion|ions|ment)$")


def lines(said):
    """lines returns the question of each style that a model wrote."""
    found = re.findall(r"^\W*(full|keywords|yes-no|everyday)\W*:\s*(.*)$", said, re.M | re.I)
    return {style.lower(): question.strip("\"'`* ") for style, question in found}


def stems(text):
    """stems returns the beginnings of the words of a text that say what it is about."""
    words = (w for w in re.findall(r"[a-z0-9][a-z0-9_.-]+", text.lower()) if w not in read.COMMON)
    return {ENDINGS.sub("", w.strip(".-"))[:6] for w in words if len(w) > 2} - {"what", "which", "how", "who", "when", "where", "why", "doe"}


def fits(question, style, heading, text):
    """fits reports whether a question is one of its style, can be understood alone, and copies neither heading nor text."""
    least, most = WORDS[style]
    if not least <= len(question.split()) <= most or POINTS.search(question) or not question.isascii() \
            or stems(question) & {"norex", "leave", "holida"} - stems(text):
        return False
    if (style == "keywords") == question.endswith("?") or question.count("?") > 1:
        return False
    begins = BEGINS.get(style)
    if begins and not re.match(f"({begins})\\b", question, re.I) or not begins and re.match(f"({BEGINS['everyday']})\\b", question, re.I):
        return False
    said, headed = stems(question), stems(heading)
    if len(said - headed) < (1 if style == "keywords" else 2):
        return False
    shared = len(said & stems(text)) / len(said)
    return shared < 0.7 if style == "everyday" else question.lower().rstrip("?") not in text.lower()


SHAPES = {"version": r"\d+(\.\d+)+", "year": r"(19|20)\d\d", "number": r"\d+", "code": r"[\w./-]*[a-z0-9][_/.-]\w[\w./-]*|[a-z]+[A-Z]\w+",
          "acronym": "[A-Z]{2,}[0-9]*", "name": "[A-Z][a-z]{2,}"}


def shape(word):
    """shape names what can take a word's place: another of its shape."""
    return next((name for name, form in SHAPES.items() if re.fullmatch(form, word)), "")


def exchange(question, document, text, rng):
    """exchange returns the question with one word exchanged and what was exchanged, or nothing. Words come from elsewhere in the document."""
    held, counts = set(WORD.findall(text)), collections.Counter()
    for i, word in enumerate(document.words):  # those that begin a sentence have no shape to go by
        if i and i not in document.blocks and document.words[i - 1][-1] not in ".?!:|":
            counts.update(WORD.findall(word))
    words = WORD.findall(question)
    for kind in SHAPES:
        found = [(i, w) for i, w in enumerate(words) if shape(w) == kind and w in held and (i or kind != "name")]
        rng.shuffle(found)
        for place, word in found:
            if kind in ("year", "number"):
                others = [str(abs(int(word) + by)) for by in (-3, -2, -1, 1, 2, 3, 5)]
            elif kind == "version":
                others = [word.rpartition(".")[0] + f".{int(word.rpartition('.')[2]) + by}" for by in (1, 2, 3)]
            else:
                others = sorted(w for w, n in counts.items() if n > 1 and shape(w) == kind and w.lower() not in question.lower()
                                and not (kind == "name" and w.lower() in counts))
            others = [w for w in others if w not in held]
            if others:
                section = place and words[place - 1].lower() in ("section", "chapter", "article", "clause", "part")
                return re.sub(rf"(?<![\w./-]){re.escape(word)}(?!\w)", rng.choice(others), question, count=1), "section" if section else kind if kind in ("version", "year", "number") else "entity"
    return None

import gzip
import json
import os
import random
import shutil
import tempfile
import unittest

import collect
import questions
import read

SAMPLE = os.path.join(read.HERE, "testdata")
UPKEEP = """Clean the filter of the Norex 20 every 3 months, and once a month in a house where animals live. Unplug the heater first, and \
wait until the grille is cold to the touch. The filter is behind the grille, which is held by two screws.
Rinse it with cold water, and let it dry for 12 hours.
Never wash it in a machine."""


class ReaderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder, self.document = folder.name, read.document(os.path.join(SAMPLE, "heater.html"))

    def test_pairs_have_their_texts_again(self):
        got = [(row["question"], heading, text, row["label"]) for row, heading, text in read.pairs(SAMPLE, SAMPLE)]
        want = [("How often is the filter of the Norex 20 cleaned?", "Heater Norex 20 › Upkeep", UPKEEP, 4.25),
                ("How often is the filter of the Norex 60 cleaned?", "Heater Norex 20 › Upkeep", UPKEEP, -1.5)]
        self.assertEqual(got, want)

    def test_pairs_refuse_another_document(self):
        with open(os.path.join(SAMPLE, "heater.html")) as old, open(os.path.join(self.folder, "heater.html"), "w") as new:
            new.write(old.read().replace("two screws", "three screws"))
        with self.assertRaisesRegex(ValueError, "heater.html"):
            list(read.pairs(self.folder, SAMPLE))

    def test_committed_labels_are_well_formed(self):
        with open(os.path.join(read.HERE, "documents.tsv")) as file:
            documents = {line.split("\t")[0] for line in file}
        for row in read.rows():
            start, end = row["words"]
            self.assertTrue(row["document"] in documents and 40 <= end - start <= 120 and row["style"] in questions.STYLES
                            and isinstance(row["label"], float) and row["question"] and len(row["check"]) == 8, row)

    def test_windows_stay_under_their_heading(self):
        start, end = list(self.document.windows())[0]
        self.assertEqual((self.document.heading(start), self.document.text(start, end)), ("Heater Norex 20 › Upkeep", UPKEEP))
        self.assertEqual(self.document.text(len(self.document.words) - 7, len(self.document.words)), "Level | Noise\nLow | 31 dB")

    def test_exchange_takes_a_number_that_the_text_does_not_hold(self):
        question, kind = questions.exchange("Is the filter cleaned every 3 months?", self.document, UPKEEP, random.Random(1))
        self.assertEqual(kind, "number")
        self.assertRegex(question, r"^Is the filter cleaned every [0124568] months\?$")
        self.assertIsNone(questions.exchange("Why?", self.document, UPKEEP, random.Random(1)))

    def test_fits_keeps_questions_of_their_style(self):
        for question, style, want in [
                ("How long does the wet filter have to dry?", "full", True),
                ("How long does the filter in the text have to dry?", "full", False),
                ("Is the filter behind the grille?", "full", False),
                ("wet filter drying time", "keywords", True),
                ("Heater Norex 20 Upkeep", "keywords", False),
                ("Is the filter behind the front grille?", "yes-no", True),
                ("What can I do when my radiator smells of dogs?", "everyday", True)]:
            self.assertEqual(questions.fits(question, style, self.document.heading(18), UPKEEP), want, question)

    def test_add_begins_a_file_where_rows_do_not_fit(self):
        for count in (2, 2, 2):
            collect.add([{"question": "é"}] * count, self.folder, 5)
        got = {}
        for name in sorted(os.listdir(self.folder)):
            with gzip.open(os.path.join(self.folder, name), "rt", encoding="utf-8") as file:
                got[name] = [json.loads(line) for line in file]
        self.assertEqual(got, {"pairs-0001.jsonl.gz": [{"question": "é"}] * 4, "pairs-0002.jsonl.gz": [{"question": "é"}] * 2})

    def test_batches_keep_their_order_when_documents_come(self):
        for name in ("a.html", "b.html"):
            shutil.copy(os.path.join(SAMPLE, "heater.html"), os.path.join(self.folder, name))
        before = [batch for batch, _, _ in collect.Library("", self.folder).batches()]
        shutil.copy(os.path.join(SAMPLE, "heater.html"), os.path.join(self.folder, "c.html"))
        after = [batch for batch, _, _ in collect.Library("", self.folder).batches()]
        self.assertEqual([batch for batch in after if not batch.startswith("c.html")], before)
        self.assertEqual(len(after), 3)


if __name__ == "__main__":
    unittest.main()

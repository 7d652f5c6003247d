"""The tokenizers library opens the file that Ubique writes, learns the same merges from the same
texts and gives every text the same ids, in both directions."""

import json
import os
import random
import subprocess
import tempfile
import unittest

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

DRIVER = os.path.join(os.path.dirname(os.environ["UBIQUE"]), "io_driver")
SPECIAL = ["<|pad|>", "<|user|>"]
SYLLABLES = ["ka", "to", "mi", "shé", "na", "l", "or", "世", "42", "'s", "'ll", "_", "\u00a0", "😀"]


def babble(seed: int, lines: int) -> list[str]:
    draw = random.Random(seed)
    pick = lambda: SYLLABLES[int(draw.random() ** 2 * len(SYLLABLES))]
    word = lambda: "".join(pick() for _ in range(draw.randint(1, 4)))
    return ["".join(word() + draw.choice([" ", " ", "  ", "\n", ", "]) for _ in range(20)) for _ in range(lines)]


def learnt_by_library(texts: list[str], size: int) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=size, min_frequency=2, special_tokens=SPECIAL, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


@unittest.skipUnless(os.path.exists(DRIVER), f"no {DRIVER}: build the tests first")
class TokenizersAgree(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.texts = babble(1, 400)
        self.unseen = babble(2, 100) + ["", " ", "<|user|>hi <|pad|>", "tab\there  ", "½ x² Ⅷ"]

    def path(self, name: str) -> str:
        return os.path.join(self.folder.name, name)

    def run_driver(self, *words: str) -> str:
        return subprocess.run([DRIVER, *words], capture_output=True, check=True, text=True).stdout

    def learnt_by_ubique(self, size: int) -> str:
        with open(self.path("texts.json"), "w") as file:
            json.dump(self.texts, file)
        self.run_driver("learn-tokenizer", self.path("texts.json"), self.path("ours.json"), str(size), *SPECIAL)
        return self.path("ours.json")

    def ids_by_ubique(self, tokenizer: str) -> list[list[int]]:
        with open(self.path("unseen.json"), "w") as file:
            json.dump(self.unseen, file)
        return json.loads(self.run_driver("tokenize", tokenizer, self.path("unseen.json")))

    def test_the_same_texts_teach_the_same_vocabulary_and_merges(self):
        with open(self.learnt_by_ubique(900)) as file:
            ours = json.load(file)["model"]
        theirs = json.loads(learnt_by_library(self.texts, 900).to_str())["model"]
        self.assertEqual(ours["vocab"], theirs["vocab"])
        self.assertEqual([merge.split(" ") for merge in ours["merges"]], theirs["merges"])

    def test_the_library_opens_our_file_and_gives_the_same_ids_and_texts(self):
        path = self.learnt_by_ubique(600)
        library = Tokenizer.from_file(path)
        for text, ids in zip(self.unseen, self.ids_by_ubique(path)):
            self.assertEqual(library.encode(text).ids, ids)
            self.assertEqual(library.decode(ids, skip_special_tokens=False), text)

    def test_steps_before_the_words_are_read_as_the_library_means_them(self):
        tokenizer = learnt_by_library(self.texts, 700)
        byte_level = pre_tokenizers.ByteLevel
        for steps in ([pre_tokenizers.Digits(individual_digits=True), byte_level(add_prefix_space=False)],
                      [pre_tokenizers.Digits(individual_digits=False), byte_level(add_prefix_space=True)],
                      [byte_level(add_prefix_space=True)]):
            tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)
            tokenizer.save(self.path("theirs.json"))
            for text, ids in zip(self.unseen, self.ids_by_ubique(self.path("theirs.json"))):
                self.assertEqual(tokenizer.encode(text).ids, ids)

    def test_added_tokens_take_the_blanks_that_they_take_in_the_library(self):
        tokenizer = learnt_by_library(self.texts, 500)
        tokenizer.add_tokens([AddedToken("mi", lstrip=True, rstrip=True, normalized=False)])
        tokenizer.save(self.path("theirs.json"))
        for text, ids in zip(self.unseen, self.ids_by_ubique(self.path("theirs.json"))):
            self.assertEqual(tokenizer.encode(text).ids, ids)


if __name__ == "__main__":
    unittest.main()

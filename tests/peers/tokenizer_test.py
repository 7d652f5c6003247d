"""The tokenizers library opens the file that Ubique writes, learns the same merges from the same
texts and gives every text the same ids, in both directions."""

import json
import os
import random
import subprocess
import tempfile
import unicodedata
import unittest

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

DRIVER = os.path.join(os.path.dirname(os.environ["UBIQUE"]), "io_driver")
SPECIAL = ["<|pad|>", "<|user|>"]
SYLLABLES = ["ka", "to", "mi", "shé", "na", "l", "or", "世", "42", "'s", "'ll", "_", "\u00a0", "😀"]


LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace("{1,3}", "")
# What the patterns treat apart, and characters that NFC changes or that stand beside words.
ODD = ["'S", "'RE", "'ſ", "'Ll", "12", "1234567", "½", "\r\n", "\n\n", " \n ", "\t", "   ", "...", "!?", "a", "Word", "été", "e\u0301",
       "A\u030a", "\u212b", "\u1e0b\u0323", "q\u0307\u0323", "\uac00\u11a8", "\u1100\u1161\u11a8", "\u0958", "\u2126", "\ufb1d", "世界",
       "😀", "\u00a0", "\u3000", "_x", "\u0301", "\u0327\u0301", " '", "<|user|>", "<|pad|>", "mi", "▁", "<0x0A>", "def f(x):\n    return x\n", "\U0001d15e"]


def odd_texts(seed: int, count: int) -> list[str]:
    draw = random.Random(seed)
    return ["".join(draw.choice(ODD) + draw.choice(["", "", " ", "x"]) for _ in range(draw.randint(1, 30))) for _ in range(count)]


def modern_library(texts: list[str], pattern: str, size: int = 700) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(pattern), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=size, min_frequency=2, special_tokens=SPECIAL, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def character_library(texts: list[str], metaspace: str | None, split: bool = False) -> Tokenizer:
    """In the form of Llama 2: Prepend and Replace, or a Metaspace with the given scheme."""
    learnt = Tokenizer(models.BPE(unk_token="<unk>"))
    learnt.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    learnt.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=800, min_frequency=2, show_progress=False, special_tokens=["<unk>", "<s>", "</s>", *bytes_]))
    content = json.loads(learnt.to_str())
    content["model"].update(byte_fallback=True, fuse_unk=True, unk_token="<unk>")
    content["added_tokens"] = [token for token in content["added_tokens"] if not token["content"].startswith("<0x")]
    tokenizer = Tokenizer.from_str(json.dumps(content))
    if metaspace:
        tokenizer.normalizer = None
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme=metaspace, split=split)
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(" ", 1, 0)])
    return tokenizer


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

    def compare(self, tokenizer: Tokenizer, texts: list[str]):
        """Ids and decoded texts, of the library's own file and of the one that we write from it."""
        self.unseen = texts
        tokenizer.save(self.path("theirs.json"))
        self.run_driver("rewrite-tokenizer", self.path("theirs.json"), self.path("again.json"))
        for file in ("theirs.json", "again.json"):
            ids = self.ids_by_ubique(self.path(file))
            with open(self.path("ids.json"), "w") as out:
                json.dump(ids, out)
            decoded = json.loads(self.run_driver("detokenize", self.path(file), self.path("ids.json")))
            for text, row, back in zip(texts, ids, decoded):
                self.assertEqual(tokenizer.encode(text, add_special_tokens=False).ids, row, repr(text))
                self.assertEqual(tokenizer.decode(row, skip_special_tokens=False), back, repr(text))

    def test_the_patterns_of_llama_3_and_qwen_2_cut_the_same_words(self):
        for pattern in (LLAMA3, QWEN2):
            for seed in range(3):
                tokenizer = modern_library(self.texts + odd_texts(seed, 300), pattern)
                self.compare(tokenizer, self.unseen + odd_texts(seed + 100, 400))

    def test_nfc_and_added_tokens_with_every_flag(self):
        tokenizer = modern_library(self.texts + odd_texts(1, 300), QWEN2)
        tokenizer.normalizer = normalizers.NFC()
        tokenizer.add_tokens([AddedToken("mi", single_word=True, normalized=True), AddedToken("각", normalized=True),
                              AddedToken("to", normalized=False, single_word=True, lstrip=True), AddedToken("...", normalized=False, rstrip=True),
                              AddedToken("e\u0301", normalized=False)])
        self.compare(tokenizer, self.unseen + odd_texts(7, 800))

    def test_every_character_that_nfc_knows(self):
        tokenizer = modern_library(self.texts, QWEN2)
        tokenizer.normalizer = normalizers.NFC()
        points = [point for point in range(0x30000) if not 0xD800 <= point < 0xE000]
        # The library's tables are older than ours; what was added to Unicode since is left out.
        known = [point for point in points if unicodedata.ucd_3_2_0.category(chr(point)) != "Cn"]
        texts = ["".join(chr(point) for point in known[at:at + 50]) for at in range(0, len(known), 50)]
        self.compare(tokenizer, texts)

    def test_characters_with_bytes_for_the_rest_as_llama_2_has_them(self):
        for scheme, split in ((None, False), ("first", False), ("always", True), ("never", False)):
            tokenizer = character_library(self.texts + odd_texts(2, 300), scheme, split)
            self.compare(tokenizer, self.unseen + odd_texts(9, 400) + ["<s>Hi</s> there", " lead", "a</s>b", "日本"])

    def test_tokens_around_a_text_are_added_where_they_are_asked_for(self):
        tokenizer = modern_library(self.texts, LLAMA3)
        tokenizer.post_processor = processors.Sequence([
            processors.ByteLevel(trim_offsets=False),
            processors.TemplateProcessing(single="<|pad|> $A <|user|>", pair="<|pad|> $A $B", special_tokens=[("<|pad|>", 0), ("<|user|>", 1)])])
        self.compare(tokenizer, self.unseen)
        ids = json.loads(self.run_driver("tokenize", self.path("again.json"), self.path("unseen.json"), "frame"))
        for text, row in zip(self.unseen, ids):
            self.assertEqual(tokenizer.encode(text).ids, row)


if __name__ == "__main__":
    unittest.main()

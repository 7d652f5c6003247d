"""Unigram tokenizers that the tokenizers library has trained give every text the same ids, also with
SentencePiece's normalisation table in front; and the file that Ubique writes of them means the same."""

import io
import json
import os
import random
import subprocess
import tempfile
import unicodedata
import unittest

import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

DRIVER = os.path.join(os.path.dirname(os.environ["UBIQUE"]), "io_driver")
WORDS = ["song", "sing", "singing", "Liebe", "corazón", "café", "naïve", "ﬁre", "ＡＢＣ", "½", "①", "밤하늘", "夜空", "ночь", "straße", "don't", "x²", "12", "3,5"]
# Accents apart, ligatures with accents, Korean in letters, emoji sequences, flags, line ends, controls, odd spaces, invisible characters, marks
# before words, characters that join the next.
ODD = ["e\u0301", "ﬁ\u0301", "a\u0308\u0301", "\u1100\u1161\u11a8", "\uac00\u11a8", "\u1161\u0301", "👩\u200d👩\u200d👧", "👍🏽", "🇩🇪🇫🇷", "\r\n", "\n", "\r", "\t",
       "\u00a0", "\u3000", "\u200b", "\ufeff", "\u00ad", "\u0000", "\u0007", "▁", "<pad>", "</s>", "<unk>", "<0x0A>", "  ", "   ", " ", "\u0600a", "\u06dd", "क्षि",
       "ก\u0e33", "\u0e33", "\u0301", "©\u200d", "℃", "㌔", "ｶﾞ", "\ufb1d\u05b4", "①\u0301", "\u2028", "\u0344", "\ud7b0", "\U000e0041", "\U0001d15e", "~", "～", "…", "．"]


def table() -> bytes:
    """The normalisation table that SentencePiece puts into every model (nmt_nfkc)."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(["a b c", "c b a", "ab ba"] * 9), model_writer=model, vocab_size=9,
                                             hard_vocab_limit=False, minloglevel=2)
    # Field 3 of the model is the normaliser, field 2 of that the table.
    def field(message: bytes, wanted: int) -> bytes:
        at = 0

        def number() -> int:
            nonlocal at
            value = shift = 0
            while True:
                byte = message[at]
                at += 1
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    return value

        while at < len(message):
            key = number()
            if key & 7 == 0:
                number()
            elif key & 7 == 5:
                at += 4
            elif key & 7 == 1:
                at += 8
            else:
                size = number()
                if key >> 3 == wanted:
                    return message[at:at + size]
                at += size
        raise AssertionError(f"no field {wanted}")

    return field(field(model.getvalue(), 3), 2)


def texts(seed: int, count: int, odd: float = 0.4) -> list[str]:
    draw = random.Random(seed)
    one = lambda: draw.choice(ODD if draw.random() < odd else WORDS)
    return ["".join(one() + draw.choice(["", " ", " ", "s", "\u0301" if odd else ""]) for _ in range(draw.randint(0, 25))) for _ in range(count)]


def trained(size: int, fallback: bool) -> Tokenizer:
    """In the form of T5: a mark before each word, </s> after each text, tokens for bytes if asked for."""
    learnt = Tokenizer(models.Unigram())
    learnt.pre_tokenizer = pre_tokenizers.Metaspace()
    # Without the spellings of special tokens, which would be learnt as second tokens of the same text.
    learnt.train_from_iterator([text for text in texts(1, 1200, 0.1) if "<" not in text], trainers.UnigramTrainer(
        vocab_size=size, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>", show_progress=False))
    content = json.loads(learnt.to_str())
    if fallback:
        content["model"]["vocab"] += [[f"<0x{byte:02X}>", -12.5] for byte in range(256)]
        content["model"]["byte_fallback"] = True
    tokenizer = Tokenizer.from_str(json.dumps(content))
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)])
    return tokenizer


@unittest.skipUnless(os.path.exists(DRIVER), f"no {DRIVER}: build the tests first")
class UnigramAgrees(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name: str) -> str:
        return os.path.join(self.folder.name, name)

    def run_driver(self, *words: str):
        return subprocess.run([DRIVER, *words], stdout=subprocess.PIPE, check=True, text=True).stdout

    def compare(self, tokenizer: Tokenizer, lines: list[str]):
        tokenizer.save(self.path("theirs.json"))
        self.run_driver("rewrite-tokenizer", self.path("theirs.json"), self.path("again.json"))
        with open(self.path("lines.json"), "w") as file:
            json.dump(lines, file)
        expected = [tokenizer.encode(line).ids for line in lines]
        for file in ("theirs.json", "again.json"):
            rows = json.loads(self.run_driver("tokenize", self.path(file), self.path("lines.json"), "frame"))
            for line, row, ids in zip(lines, rows, expected):
                self.assertEqual(ids, row, repr(line))
            with open(self.path("ids.json"), "w") as out:
                json.dump(rows, out)
            for row, text in zip(rows, json.loads(self.run_driver("detokenize", self.path(file), self.path("ids.json")))):
                self.assertEqual(tokenizer.decode(row, skip_special_tokens=False), text)

    def test_the_likeliest_tokens_with_and_without_bytes_for_the_rest(self):
        for size, fallback in ((140, False), (300, False), (200, True)):
            self.compare(trained(size, fallback), texts(2, 600) + ["", " ", "x" * 300, "sing" * 100])

    def test_the_library_opens_the_file_that_we_write(self):
        tokenizer = trained(200, True)
        tokenizer.save(self.path("theirs.json"))
        self.run_driver("rewrite-tokenizer", self.path("theirs.json"), self.path("again.json"))
        ours = Tokenizer.from_file(self.path("again.json"))
        for line in texts(3, 200):
            self.assertEqual(ours.encode(line).ids, tokenizer.encode(line).ids)

    def test_sentencepiece_s_table_and_the_steps_that_files_put_behind_it(self):
        tokenizer = trained(300, False)
        precompiled = normalizers.Precompiled(table())
        for steps in ([precompiled], [precompiled, normalizers.Replace(Regex(" {2,}"), " ")],
                      [precompiled, normalizers.Strip(left=False, right=True), normalizers.Replace(Regex(" {2,}"), "▁")],
                      [normalizers.Strip(), precompiled]):
            tokenizer.normalizer = normalizers.Sequence(steps)
            self.compare(tokenizer, texts(4, 600) + ["", "  lead and tail \u3000 "])

    def test_words_are_cut_as_older_files_say(self):
        tokenizer = trained(300, False)
        tokenizer.normalizer = normalizers.Precompiled(table())
        for scheme in ("always", "first", "never"):
            # Where a table makes several words of the first character, the library takes each for the first: no file does that.
            for before in ([],) if scheme == "first" else ([pre_tokenizers.WhitespaceSplit()], [pre_tokenizers.Whitespace()], []):
                tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*before, pre_tokenizers.Metaspace(prepend_scheme=scheme)])
                self.compare(tokenizer, texts(5, 300))
        tokenizer.add_tokens([AddedToken("song", normalized=True), AddedToken("sing", normalized=False, lstrip=True)])
        self.compare(tokenizer, texts(6, 300))

    def test_every_character_that_the_table_knows_alone_and_with_an_accent(self):
        tokenizer = trained(300, False)
        tokenizer.normalizer = normalizers.Precompiled(table())
        # The library's tables of joining characters may be newer or older; what was added since is left out.
        known = [chr(point) for point in range(0x30000) if not 0xD800 <= point < 0xE000 and unicodedata.ucd_3_2_0.category(chr(point)) != "Cn"]
        lines = [mark.join(known[at:at + 40]) for at in range(0, len(known), 40) for mark in ("", "\u0301", " ")]
        self.compare(tokenizer, lines)


if __name__ == "__main__":
    unittest.main()

"""Numbers, ordinals, decimals and amounts of money are spelled as num2words spells them, in six languages."""

import json
import os
import random
import subprocess
import tempfile
import unittest

from num2words import num2words

DRIVER = os.path.join(os.path.dirname(os.environ["UBIQUE"]), "lyrics_driver")
LANGUAGES = ["en", "es", "de", "fr", "it", "pt"]
JOINTS = {"en": ", ", "es": " con ", "de": " und ", "fr": " et ", "it": " e ", "pt": " e "}


def money(amount: float, currency: str, language: str) -> str:
    """Whole amounts without their cents. Portuguese has none to leave out (but for pounds): the original then cuts
    "vinte e um" to "vinte", which we do not copy."""
    words = num2words(amount, to="currency", currency=currency, lang=language)
    cents = not (language == "pt" and currency != "GBP")
    return words[:words.rfind(JOINTS[language])] if amount.is_integer() and cents else words


@unittest.skipUnless(os.path.exists(DRIVER), f"no {DRIVER}: build the tests first")
class NumbersAgree(unittest.TestCase):
    def spoken(self, jobs: list[list]) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "jobs.json")
            with open(path, "w") as file:
                json.dump(jobs, file)
            return json.loads(subprocess.run([DRIVER, path], capture_output=True, check=True, text=True).stdout)

    def compare(self, jobs: list[list], expected) -> None:
        for job, words in zip(jobs, self.spoken(jobs)):
            self.assertEqual(words, expected(*job[1:]), job)

    def numbers(self) -> list[int]:
        draw = random.Random(1)
        small, any_size = list(range(2100)), [draw.randrange(10 ** draw.randint(3, 15)) for _ in range(800)]
        round_ones = [draw.randrange(1, 1000) * 10 ** draw.randint(2, 12) for _ in range(600)]
        return small + any_size + round_ones + [draw.randrange(1, 30) * 10 ** draw.randint(3, 9) + draw.randrange(1, 1000) for _ in range(400)]

    def test_cardinals(self):
        self.compare([["cardinal", number, language] for language in LANGUAGES for number in self.numbers()],
                     lambda number, language: num2words(number, lang=language))

    def test_ordinals_below_a_billion(self):
        self.compare([["ordinal", number, language] for language in LANGUAGES for number in self.numbers() if number < 10 ** 9],
                     lambda number, language: num2words(number, lang=language, ordinal=True))

    def test_decimals_and_money(self):
        draw = random.Random(2)
        values = [float(f"{draw.randrange(10 ** draw.randint(1, 5))}.{draw.randrange(10 ** draw.randint(1, 6)):0{draw.randint(1, 4)}}") for _ in range(300)]
        self.compare([["decimal", value, language] for language in LANGUAGES for value in values],
                     lambda value, language: num2words(value, lang=language))
        self.compare([["money", amount, language, currency] for language in LANGUAGES for value in values
                      for amount in (value, float(int(value))) for currency in ("USD", "GBP", "EUR")],
                     lambda amount, language, currency: money(amount, currency, language))


if __name__ == "__main__":
    unittest.main()

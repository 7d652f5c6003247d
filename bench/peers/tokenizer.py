"""Encoding speed of bench_tokenizer and of the tokenizers library on Python's standard library: the same
text, one thread, best of five, and the same ids. tokenizer.py PROGRAM [TOKENIZER.json]"""

import json
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

ROUNDS = 5


def learnt(texts: list[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True),
                                                       pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=16_000, special_tokens=["<|endoftext|>"], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return tokenizer


def best(work) -> float:
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> int:
    program, given = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    texts = [path.read_bytes().decode(errors="replace") for path in files]
    whole = "".join(texts)
    size = len(whole.encode()) / 1e6
    with tempfile.TemporaryDirectory() as folder:
        path = given or f"{folder}/tokenizer.json"
        if not given:
            learnt(texts).save(path)
        Path(f"{folder}/files").write_text("\n".join(map(str, files)))
        ours = json.loads(subprocess.run([program, path, f"{folder}/files"], capture_output=True, check=True, text=True).stdout)
        library = Tokenizer.from_file(path)
        one_text = size / best(lambda: library.encode(whole, add_special_tokens=False))
        each_file = size / best(lambda: [library.encode(text, add_special_tokens=False) for text in texts])
        total = 0
        for number in library.encode(whole, add_special_tokens=False).ids:
            total = (total * 31 + number) % 2**64
    same = total == ours["sum"]
    print(f"{size:.1f} MB of Python, MB/s with one thread; the same ids: {'yes' if same else 'NO'}")
    print(f"ubique      one text {ours['one_text']:7.1f}   each file {ours['each_file']:7.1f}   "
          f"with one encoder {ours['each_file_one_encoder']:7.1f}")
    print(f"tokenizers  one text {one_text:7.1f}   each file {each_file:7.1f}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())

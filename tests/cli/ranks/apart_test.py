"""Ranks whose machines see different files: every rank ends in words, or goes on with what rank 0 has.
Usage: apart_test.py PROGRAM"""

import shutil
import subprocess
import tempfile
from pathlib import Path

from ranks import COMMON, call, free_port, make_sudokus, same, start, torchrun, train

USE = ["--device", "cpu", "--dtype", "f32", "--threads", "1", "-q"]


def machines(folder: Path, name: str) -> list[Path]:
    """Two folders, one for each rank."""
    made = [folder / f"{name}-{rank}" for rank in (0, 1)]
    for machine in made:
        machine.mkdir()
    return made


def run_apart(places: list[Path], commands: list[list[str]], expected: list[int]) -> list[str]:
    port = free_port()
    started: list[subprocess.Popen] = [start(place, command, torchrun(rank, 2, port), place / "log")
                                       for rank, (place, command) in enumerate(zip(places, commands))]
    codes = [process.wait(timeout=200) for process in started]
    texts = [(place / "log").read_text() for place in places]
    assert codes == expected, f"{codes}, not {expected}: {texts}"
    return texts


def test_training_data(folder: Path, words: list[str]) -> None:
    """Other puzzles under the same name, then none at all."""
    places = machines(folder, "data")
    for place, seed in zip(places, ("1", "2")):
        call(place, "data", "trm", "sudoku", "--size", "4", "--train", "20", "--test", "8", "--seed", seed, "-o", "small", "-q")
    command = ["train", *words, *COMMON, "-o", "run"]
    for text in run_apart(places, [command] * 2, [2, 2]):
        assert "rank 1 does not train the same as rank 0; got another training data (digest)" in text, text
    shutil.rmtree(places[1] / "small")
    texts = run_apart(places, [command] * 2, [4, 3])
    assert "small" in texts[1] and "rank 1 ended: " in texts[0] and "small" in texts[0], texts
    print("other training data, and none, on one rank: named by both")


def test_more_ranks_than_samples(folder: Path, words: list[str]) -> None:
    call(folder, "data", "trm", "sudoku", "--size", "4", "--train", "2", "--test", "2", "-o", "few", "-q")
    few = [word if word != "small" else "few" for word in words]
    few[few.index("--batch") + 1] = "1"
    few[few.index("global_batch_size=8")] = "global_batch_size=4"
    text = call(folder, "launch", "-n", "5", "--", "train", *few, *COMMON, "-o", "none", code=2)
    assert "there are more processes than samples in an update; got 5 processes" in text, text
    print("more processes than samples: refused in words")


def test_resume(folder: Path, words: list[str]) -> None:
    """The checkpoint lies with rank 0 alone, which hands it over."""
    places = machines(folder, "resume")
    for place in places:
        (place / "small").symlink_to(folder / "small")
    train(places[0], 1, "run", words, "--max-steps", "3")
    command = ["train", *words, *COMMON, "-o", "run", "--resume"]
    run_apart(places, [command] * 2, [0, 0])
    assert not (places[1] / "run").exists(), list((places[1] / "run").iterdir())
    train(folder, 1, "whole", words)
    same(folder, "whole", [str(places[0] / "run")])
    print("a checkpoint that only rank 0 sees: handed over, the same bits")


def test_use(folder: Path, words: list[str]) -> None:
    """A model, and a puzzle, that only rank 0 has."""
    train(folder, 1, "model", words, "--max-steps", "1")
    places = machines(folder, "use")
    for place, puzzles in zip(places, (3, 2)):
        (place / "puzzles.txt").write_text("1.....3..4.....2\n" * puzzles)
    (places[0] / "model").symlink_to(folder / "model")
    command = ["run", "trm", "puzzles.txt", "--model", "model", *USE]
    texts = run_apart(places, [command] * 2, [4, 3])
    assert "model" in texts[1] and "rank 1 ended: " in texts[0], texts
    (places[1] / "model").symlink_to(folder / "model")
    for text in run_apart(places, [command] * 2, [2, 2]):
        assert "rank 1 sees other work than rank 0; got 2 jobs" in text and "expected 3 jobs" in text, text
    print("a model or inputs that only rank 0 has: said on both")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words = [*make_sudokus(folder), "epochs=2", "eval_interval=2"]
        test_training_data(folder, words)
        test_more_ranks_than_samples(folder, words)
        test_resume(folder, words)
        test_use(folder, words)


if __name__ == "__main__":
    main()

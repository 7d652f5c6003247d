"""Several processes train what one process trains, bit for bit: weights, optimizer, averages, running
statistics, kept state, losses and scores, for every family; resumed with another number of processes too.
Usage: equal_test.py PROGRAM"""

import tempfile
from pathlib import Path

from ranks import call, losses, make_code, make_scans, make_sudokus, same, scores, tensors, train


def check_counts(folder: Path, family: str, words: list[str], counts: list[int]) -> None:
    runs = [f"{family}-{count}" for count in counts]
    for count, run in zip(counts, runs):
        train(folder, count, run, words, "--log-every", "1")
    same(folder, runs[0], runs[1:])
    for run in runs[1:]:
        assert losses(folder / run) == losses(folder / runs[0]), f"{run} has other losses"
        assert scores(folder / run) == scores(folder / runs[0]), f"{run} has other scores"
    print(f"{family}: {counts} processes, {len(losses(folder / runs[0]))} updates: the same bits")


def check_resume(folder: Path, family: str, words: list[str]) -> None:
    """Begun by four, gone on with by two, finished by one."""
    for count, most in ((4, 3), (2, 6), (1, 0)):
        train(folder, count, f"{family}-resumed", words, "--resume", *(["--max-steps", str(most)] if most else []))
    same(folder, f"{family}-1", [f"{family}-resumed"])
    print(f"{family}: begun by 4, gone on with by 2, finished by 1: the same bits")


def check_sharded(folder: Path, family: str, words: list[str], counts: list[int]) -> None:
    """The optimizer's states split among the processes; gone on with by one that has them whole."""
    for count in counts:
        train(folder, count, f"{family}-split-{count}", words, "--shard", "optimizer")
    same(folder, f"{family}-1", [f"{family}-split-{count}" for count in counts])
    train(folder, 3, f"{family}-split-resumed", words, "--shard", "optimizer", "--max-steps", "2")
    train(folder, 1, f"{family}-split-resumed", words, "--resume")
    same(folder, f"{family}-1", [f"{family}-split-resumed"])
    print(f"{family}: {counts} processes with split optimizer states, gone on with by 1: the same bits")


def check_split_weights(folder: Path, code: list[str]) -> None:
    """Sums are made in another order: the same numbers to rounding. Adapters over split frozen weights
    have the bits of one process."""
    train(folder, 2, "codelm-weights", code, "--shard", "weights", "--log-every", "1")
    train(folder, 3, "codelm-weights-resumed", code, "--shard", "weights", "--max-steps", "7", "--log-every", "1")
    train(folder, 1, "codelm-weights-resumed", code, "--resume", "--log-every", "1")
    expected = losses(folder / "codelm-1")
    for run in ("codelm-weights", "codelm-weights-resumed"):
        got = losses(folder / run)
        apart = max(abs(got[step] - loss) for step, loss in expected.items())
        assert got.keys() == expected.keys() and apart < 2e-4, f"{run}: losses are {apart} apart"
        assert tensors(folder / run / "checkpoints/last").keys() == tensors(folder / "codelm-1/checkpoints/last").keys()
    lora = ["codelm", "--model", "codelm-1", "--lora", "--lora-rank", "4", "--sequences", "src", "-e", "1",
            "--batch", "1", "--effective-batch", "4", "--schedule", "constant"]
    train(folder, 1, "lora-1", lora)
    train(folder, 2, "lora-weights", lora, "--shard", "weights")
    same(folder, "lora-1", ["lora-weights"])
    print("codelm: weights split among 2 and 3 processes, gone on with by 1; adapters: the same bits")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scans = [*make_scans(folder), "-e", "4", "--schedule", "constant"]
        check_counts(folder, "meshnet", scans, [1, 2, 3, 4])
        check_resume(folder, "meshnet", scans)
        check_sharded(folder, "meshnet", scans, [2])
        sudokus = [*make_sudokus(folder), "epochs=6", "eval_interval=2", "schedule=constant"]
        check_counts(folder, "trm", sudokus, [1, 2, 3, 4])
        check_resume(folder, "trm", sudokus)
        code = [*make_code(folder), "-e", "3", "--schedule", "constant"]
        check_counts(folder, "codelm", code, [1, 2, 3, 4])
        check_sharded(folder, "codelm", code, [2, 3])
        check_split_weights(folder, code)
        call(folder, "data", "msinet", "synth", "-o", "scenes", "--count", "10", "--valid", "2", "--size", "32,40", "-q")
        check_counts(folder, "msinet", ["msinet", "-d", "scenes", "--preset", "msinet-small", "--size", "32,40",
                                        "--batch", "2", "--effective-batch", "6", "-e", "1"], [1, 2])
        call(folder, "data", "acestep", "new", "--layers", "2", "--heads", "2", "--head-size", "16", "-o", "model", "-q")
        call(folder, "data", "acestep", "synth", "-o", "songs", "--count", "6", "--seconds", "3.065", "-q")
        call(folder, "data", "acestep", "prepare", "songs", "-o", "data", "--model", "model", "--device", "cpu", "-q")
        check_counts(folder, "acestep", ["acestep", "--model", "model", "-d", "data", "--lora-rank", "4", "-e", "2",
                                         "--effective-batch", "4", "--batch", "1", "--preview-seconds", "0.5",
                                         "--preview-steps", "2"], [1, 2, 4])


if __name__ == "__main__":
    main()

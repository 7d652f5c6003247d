"""Synchronised batch norm: two and three processes with a micro-batch each train what one process trains with the
whole batch, within rounding; without it they do not. Usage: sync_norm_test.py PROGRAM"""

import array
import math
import tempfile
from pathlib import Path

from ranks import make_scans, tensors, train


def weights(folder: Path, run: str) -> list[float]:
    """Weights and running statistics, in f32."""
    found = array.array("f")
    for name, (dtype, _, data) in sorted(tensors(folder / run / "checkpoints/last").items()):
        if name.startswith("model.") and dtype == "F32":
            found.frombytes(data)
    return list(found)


def distance(first: list[float], second: list[float]) -> float:
    assert len(first) == len(second) > 100
    return math.dist(first, second) / math.hypot(*first)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words = make_scans(folder)
        words = words[:words.index("--dropout")]  # each micro-batch would draw its own
        words += ["-e", "3", "--schedule", "constant", "--optimizer", "sgd", "--lr", "0.05"]
        for ranks, samples in ((2, 4), (3, 6)):
            # One update differs by rounding; later ones let it grow.
            for steps, most in ((1, 1e-6), (6, 1e-3)):
                def run(count: int, kind: str, *more: str) -> list[float]:
                    name = f"{kind}-{ranks}-{steps}"
                    train(folder, count, name, words, "--max-steps", str(steps), "--effective-batch", str(samples),
                          "--batch", str(samples // count), *more)
                    return weights(folder, name)

                whole = run(1, "whole")
                same = distance(whole, run(1, "alone", "--sync-batch-norm"))
                synced = distance(whole, run(ranks, "synced", "--sync-batch-norm"))
                apart = distance(whole, run(ranks, "apart"))
                print(f"{ranks} processes, {steps} updates: {synced:.1e} from one process with the whole batch; "
                      f"not synchronised {apart:.1e}")
                assert same == 0 and synced < most and apart > 30 * synced, (same, synced, apart)
        # Three micro-batches: the second process sits out the last round.
        uneven = [train(folder, 2, f"uneven-{i}", words, "--effective-batch", "6", "--batch", "2", "--sync-batch-norm")
                  for i in range(2)]
        assert all("finished: 3 epochs" in text for text in uneven)
        assert distance(weights(folder, "uneven-0"), weights(folder, "uneven-1")) == 0
        print("updates that do not come out even: finished, the same bits twice")


if __name__ == "__main__":
    main()

"""A training run killed with -9 at several moments and resumed has, step by step, the losses of one
that was never stopped. Usage: kill_test.py PROGRAM [DEVICE]"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = os.path.abspath(sys.argv[1])
DEVICE = sys.argv[2] if len(sys.argv) > 2 else "cpu"
# A card is done with six epochs before anybody can kill it, and repeats itself only if told to.
HOW = ["-e", "6", "--threads", "1"] if DEVICE == "cpu" else ["-e", "60", "--deterministic"]
KILL_AFTER_STEPS = [1, 9, 14]  # in the first epoch, in the third, in the fourth


def command(folder: Path, run: str, *more: str) -> list[str]:
    return [PROGRAM, "train", "meshnet", "-d", str(folder / "heads"), "--size-bins", "quartiles", "-c", "3",
            "--shape", "32,32,32", "--spacing", "6", "--cache", str(folder / "cache"),
            "--device", DEVICE, *HOW, "--log-every", "1", "-o", str(folder / run), "-q", *more]


def losses(run: Path) -> dict[int, float]:
    """Step to loss; the last line may be half-written after a kill."""
    found = {}
    path = run / "metrics.jsonl"
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        if row.get("kind") == "step":
            assert row["step"] not in found, f"step {row['step']} is there twice"
            found[row["step"]] = row["loss"]
    return found


def train_and_kill(folder: Path, after: int, *more: str) -> None:
    process = subprocess.Popen(command(folder, "broken", *more), stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while process.poll() is None and len(losses(folder / "broken")) < after:
        assert time.monotonic() < deadline, "no progress for two minutes"
        time.sleep(0.01)
    assert process.poll() is None, f"it ended before step {after}"
    process.send_signal(signal.SIGKILL)
    process.wait()


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["UBIQUE_CACHE_DIR"] = str(folder / "probes")
        subprocess.run([PROGRAM, "data", "meshnet", "synth", "-o", str(folder / "heads"), "--count", "9",
                        "--size", "32", "-q"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(command(folder, "whole"), check=True, stdout=subprocess.DEVNULL)
        whole = losses(folder / "whole")
        for number, after in enumerate(KILL_AFTER_STEPS):
            train_and_kill(folder, after, *(["--resume"] if number else []))
        subprocess.run(command(folder, "broken", "--resume"), check=True, stdout=subprocess.DEVNULL)
        broken = losses(folder / "broken")
        assert len(whole) > max(KILL_AFTER_STEPS), f"only {len(whole)} steps"
        assert broken == whole, f"the losses differ:\n{whole}\n{broken}"
        print(f"{len(whole)} steps, killed after {KILL_AFTER_STEPS}, the same losses to the last bit")


if __name__ == "__main__":
    main()

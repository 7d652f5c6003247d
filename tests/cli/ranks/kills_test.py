"""Ranks of a run are killed at random moments, again and again: no checkpoint is lost, and the run ends with the bits
of one that nobody disturbed. Usage: kills_test.py PROGRAM; UBIQUE_TEST_KILLS says how often (3)."""

import os
import random
import signal
import tempfile
import time
from pathlib import Path

from lost_test import LONG, processes_of, wait_for
from ranks import COMMON, losses, make_sudokus, same, start, tensors, train

RANKS = 2


def last_step(run: Path) -> int:
    return max(losses(run), default=0)


def saved_step(run: Path) -> float:
    """The optimizer's step in the last checkpoint, every tensor of which is read; 0: none so far."""
    folder = run / "checkpoints/last"
    if not folder.exists():
        return 0
    import struct
    (dtype, shape, data), = [value for key, value in tensors(folder).items() if key == "trainer.optimizer.step"]
    assert dtype == "F32" and len(data) == 4, f"step is {dtype}{shape}"
    return struct.unpack("<f", data)[0]


def running(launcher, before: set[int]) -> dict[int, int]:
    """The processes of a new start, all of them."""
    found = {}

    def all_new() -> bool:
        found.clear()
        found.update({rank: pid for rank, pid in processes_of(launcher.pid).items() if pid not in before})
        return len(found) == RANKS or launcher.poll() is not None
    wait_for(all_new, "a new start")
    return dict(found)


def kill_once(launcher, run: Path, chance: random.Random, seen: set[int], due: int) -> str:
    """Every third kill is early, while processes start or meet; the others come when the run has made its share of
    steps, at any moment of an update or of a checkpoint."""
    now = running(launcher, seen)
    seen.update(now.values())
    early = chance.random() < 1 / 3
    if not early:
        wait_for(lambda: last_step(run) >= due or launcher.poll() is not None, f"step {due}")
    time.sleep(chance.random() * (1.5 if early else 0.2))
    if launcher.poll() is not None:
        return "ended"
    rank = chance.randrange(RANKS)
    try:
        os.kill(now[rank], signal.SIGKILL)
    except ProcessLookupError:
        return "gone"
    return "early" if early else "in the run"


def main() -> None:
    kills = int(os.environ.get("UBIQUE_TEST_KILLS", "3"))
    seed = int(os.environ.get("UBIQUE_TEST_SEED", "1"))
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words = [*make_sudokus(folder), *LONG[:-1], "5"]  # a checkpoint every five updates
        train(folder, 1, "whole", words)
        total = last_step(folder / "whole")
        run, log = folder / "killed", folder / "log"
        began = time.monotonic()
        launcher = start(folder, ["launch", "-n", str(RANKS), "--restarts", str(kills), "--", "train", *words, *COMMON,
                                  "-o", "killed"], {}, log)
        seen, counts, saved = set(), {}, 0
        for i in range(kills):
            how = kill_once(launcher, run, chance, seen, due=(i + 1) * total // (kills + 1))
            counts[how] = counts.get(how, 0) + 1
            step = saved_step(run)
            assert step >= saved, f"kill {i + 1}: the last checkpoint went back from step {saved} to {step}"
            saved = step
        assert launcher.wait(timeout=300) == 0, log.read_text()
        same(folder, "whole", ["killed"])
        assert counts.get("ended", 0) == 0, f"the run ended too early: {counts}"
        print(f"{kills} kills (seed {seed}): {counts}; {total} updates, {time.monotonic() - began:.0f} s: no checkpoint "
              "lost, the same bits")


if __name__ == "__main__":
    main()

"""Many processes train a small network, lose some at once by kill -9, are started again, go on and finish with the
bits of one process that nobody disturbed. Usage: crowd_test.py PROGRAM [PROCESSES [LOST]]"""

import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

from lost_test import processes_of, wait_for
from ranks import COMMON, call, environment, losses, same, start, train

SETTINGS = ["arch.mlp_t=True", "arch.hidden_size=16", "arch.num_heads=2", "arch.puzzle_emb_len=2", "arch.H_cycles=1",
            "arch.L_cycles=1", "+arch.halt_max_steps=4", "lr_warmup_steps=4", "ema=True", "ema_rate=0.9",
            "schedule=constant", "--batch", "1", "--log-every", "1"]


def memory_of(processes: list[int]) -> int:
    """Bytes; pages that processes share are counted once (their proportional sizes are added up)."""
    total = 0
    for process in processes:
        try:
            rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) * 1024 for line in rollup.splitlines() if line.startswith("Pss:"))
    return total


def main() -> None:
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 8
    lost = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        call(folder, "data", "trm", "sudoku", "--size", "4", "--train", str(2 * count), "--test", "8", "-o", "small", "-q")
        # Two updates of an epoch, a micro-batch for each process.
        words = ["trm", "-d", "small", *SETTINGS, f"global_batch_size={count}", "epochs=20", "eval_interval=5",
                 "--checkpoint-every", "8"]
        train(folder, 1, "one", words)
        log, begin = folder / "log", time.monotonic()
        patience = {"UBIQUE_DIST_TIMEOUT": "120", "UBIQUE_DIST_JOIN_TIMEOUT": "1500"}
        process = start(folder, ["launch", "-n", str(count), "--restarts", "1", "--", "train", *words, *COMMON, "-o", "many"],
                        patience, log)
        wait_for(lambda: len(losses(folder / "many")) > 12 or process.poll() is not None, "progress", 1500)
        assert process.poll() is None, log.read_text()
        ranks, began = processes_of(process.pid), time.monotonic() - begin
        assert len(ranks) == count, ranks
        memory = memory_of(list(ranks.values()))
        chosen = random.Random(1).sample(range(count), lost)
        for rank in chosen:
            os.kill(ranks[rank], signal.SIGKILL)
        assert process.wait(timeout=1500) == 0, log.read_text()
        text = log.read_text()
        assert "was ended by signal 9" in text and "starting again from the last checkpoint (1 of 1 restarts)" in text, text
        same(folder, "one", ["many"])
        print(f"{count} processes, {memory / 2**30:.1f} GiB together: {lost} killed (ranks {sorted(chosen)}) after "
              f"{began:.0f} s, finished after {time.monotonic() - begin:.0f} s with the bits of one process")


if __name__ == "__main__":
    main()

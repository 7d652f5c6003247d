"""Runs of several processes that are disturbed: a process is killed or hangs, Ctrl-C, ranks that were not
started alike, wrong places. Usage: lost_test.py PROGRAM"""

import os
import re
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from ranks import COMMON, PROGRAM, environment, free_port, losses, make_sudokus, same, start, torchrun, train

LONG = ["epochs=80", "eval_interval=20", "schedule=constant", "--log-every", "1", "--checkpoint-every", "20"]


def wait_for(condition, what: str, seconds: int = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{seconds} seconds without {what}"
        time.sleep(0.02)


def processes_of(launcher: int) -> dict[int, int]:
    """Rank to process id of a launcher's children."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            variables = (entry / "environ").read_bytes().decode(errors="replace")
        except (OSError, IndexError):
            continue
        rank = re.search(r"(?:^|\0)RANK=(\d+)", variables)
        if parent == launcher and rank:
            found[int(rank.group(1))] = int(entry.name)
    return found


def launched(folder: Path, words: list[str], run: str, *options: str) -> tuple[subprocess.Popen, Path]:
    """`ubique launch` of two processes, once it has made some steps."""
    log = folder / f"{run}.log"
    process = start(folder, ["launch", "-n", "2", *options, "--", "train", *words, *COMMON, "-o", run], {}, log)
    wait_for(lambda: len(losses(folder / run)) > 25 or process.poll() is not None, "progress")
    assert process.poll() is None, log.read_text()
    return process, log


def test_killed(folder: Path, words: list[str]) -> None:
    """Rank 1 is killed: named by the launcher and by rank 0, and with a restart the run is as if
    nothing had happened."""
    for rank, other in ((1, 0), (0, 1)):
        process, log = launched(folder, words, f"killed-{rank}", "--restarts", "1")
        os.kill(processes_of(process.pid)[rank], signal.SIGKILL)
        assert process.wait(timeout=200) == 0, log.read_text()
        text = log.read_text() + (folder / f"killed-{rank}/ranks/rank-1.log").read_text()
        assert f"rank {rank} (process" in text and "was ended by signal 9" in text, text
        assert f"[dist.exchange] rank {rank} is lost" in text, text
        same(folder, "whole", [f"killed-{rank}"])
    print("a killed process: named, and gone on without a trace")


def test_hanging(folder: Path, words: list[str]) -> None:
    process, log = launched(folder, words, "hanging")
    os.kill(processes_of(process.pid)[1], signal.SIGSTOP)
    assert process.wait(timeout=120) == 4, log.read_text()
    text = log.read_text()
    assert re.search(r"rank 1 is lost: its last sign of life came \d+ s ago, after step \d+", text), text
    print("a process that hangs: named with its last step")


def test_stopped(folder: Path, words: list[str]) -> None:
    process, log = launched(folder, words, "stopped")
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=120) == 130, log.read_text()
    assert log.read_text().count("interrupted; --resume goes on") == 1, log.read_text()
    train(folder, 3, "stopped", words, "--resume")
    same(folder, "whole", ["stopped"])
    print("Ctrl-C: one checkpoint, from which three processes go on")


def outputs(folder: Path, variables: list[dict], commands: list[list[str]], expected: list[int]) -> list[str]:
    """The outputs of ranks that were started by hand."""
    logs = [folder / f"hand-{rank}.log" for rank in range(len(commands))]
    started = [start(folder, command, own, log) for command, own, log in zip(commands, variables, logs)]
    codes = [process.wait(timeout=120) for process in started]
    texts = [log.read_text() for log in logs]
    assert codes == expected, f"{codes}, not {expected}: {texts}"
    return texts


def test_launchers(folder: Path, words: list[str]) -> None:
    """torchrun's, Open MPI's, SLURM's and PMI's variables mean the same."""
    size, places = 2, {}
    port = str(free_port())
    meeting = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    places["torchrun"] = lambda rank: torchrun(rank, size, int(port))
    places["mpi"] = lambda rank: {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "2",
                                  "OMPI_COMM_WORLD_LOCAL_RANK": str(rank), "OMPI_COMM_WORLD_LOCAL_SIZE": "2"} | meeting
    places["slurm"] = lambda rank: {"SLURM_PROCID": str(rank), "SLURM_STEP_NUM_TASKS": "2", "SLURM_LOCALID": str(rank),
                                    "SLURM_STEP_TASKS_PER_NODE": "2", "SLURM_STEP_NODELIST": "localhost",
                                    "SLURM_JOB_ID": port}
    places["pmi"] = lambda rank: {"PMI_RANK": str(rank), "PMI_SIZE": "2", "MPI_LOCALRANKID": str(rank),
                                  "MPI_LOCALNRANKS": "2"} | meeting
    for name, place in places.items():
        command = ["train", *words, *COMMON, "-o", name]
        texts = outputs(folder, [place(rank) for rank in range(size)], [command] * size, [0, 0])
        assert "finished:" in texts[0] and texts[1] == "", texts
        same(folder, "short", [name])
    print(f"variables of {', '.join(places)}: the same run; only rank 0 talks")


def test_unlike(folder: Path, words: list[str]) -> None:
    """Ranks that would train something else are named before the first update."""
    def pair(first: list[str], second: list[str]) -> str:
        port = free_port()
        return outputs(folder, [torchrun(0, 2, port), torchrun(1, 2, port)],
                       [["train", *words, *COMMON, "-o", "unlike", *more] for more in (first, second)], [2, 2])[0]

    text = pair([], ["lr=0.5"])
    assert "rank 1 does not train the same as rank 0" in text and "lr is 0.5" in text, text
    text = pair(["--resume"], [])
    assert "--resume: true on rank 0, false there" in text, text
    text = pair(["global_batch_size=2"], ["global_batch_size=2"])
    assert "nothing to do" in text and "--batch 1" in text, text
    print("unlike ranks: refused, the difference named")


def test_places(folder: Path, words: list[str]) -> None:
    """Places that cannot be."""
    def refusal(code: int, **variables: str) -> str:
        done = subprocess.run([PROGRAM, "train", *words, *COMMON, "-o", "none"], cwd=folder, text=True, timeout=120,
                              env=environment(folder, **variables), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode == code, done.stdout
        return done.stdout

    place = torchrun(0, 2, free_port())
    assert "'no.such.host.invalid'" in refusal(2, **place | {"MASTER_ADDR": "no.such.host.invalid"})
    assert "without RANK" in refusal(2, WORLD_SIZE="2")
    text = refusal(4, **place, UBIQUE_DIST_JOIN_TIMEOUT="2")
    assert "did not all meet" in text, text

    with socket.socket() as listener:
        listener.bind(("0.0.0.0", 0))
        listener.listen()
        port = listener.getsockname()[1]
        assert f"port {port} is in use" in refusal(2, **place | {"MASTER_PORT": str(port)})
    print("places that cannot be: refused in words")


def test_other_weights(folder: Path, words: list[str]) -> None:
    """The same name of a file on two machines, with other weights in it."""
    port, commands, started = free_port(), [], []
    for rank, seed in ((0, 1), (1, 2)):
        machine = folder / f"machine-{rank}"
        machine.mkdir()
        (machine / "small").symlink_to(folder / "small")
        train(machine, 1, "start", words, "--max-steps", "1", "--seed", str(seed))
        command = ["train", *words, *COMMON, "-o", "run", "--model", "start"]
        started.append(start(machine, command, torchrun(rank, 2, port), machine / "log"))
    codes = [process.wait(timeout=120) for process in started]
    text = (folder / "machine-0/log").read_text()
    assert codes == [4, 4] and "the weights of rank 1 differ" in text, (codes, text)
    print("other weights on one rank: named before the first update")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sudokus = make_sudokus(folder)
        short = [*sudokus, "epochs=2", "eval_interval=2"]
        train(folder, 1, "short", short)
        train(folder, 1, "whole", [*sudokus, *LONG])
        test_places(folder, short)
        test_unlike(folder, short)
        test_other_weights(folder, short)
        test_launchers(folder, short)
        test_killed(folder, [*sudokus, *LONG])
        test_hanging(folder, [*sudokus, *LONG])
        test_stopped(folder, [*sudokus, *LONG])


if __name__ == "__main__":
    main()

"""`ubique launch --hosts` on pretend machines of a network that delays and loses frames, and whose cables are
pulled: the same bits, or a restart that says in words with whom it goes on. Usage: network_test.py PROGRAM"""

import subprocess
import tempfile
import time
from pathlib import Path

from lost_test import wait_for
from network import Missing, Network
from ranks import COMMON, PROGRAM, environment, losses, make_sudokus, same, train

LONG = ["epochs=24", "eval_interval=12", "schedule=constant", "--log-every", "1", "--checkpoint-every", "10"]
SILENCE = "6"  # seconds until a rank counts as lost


def launch(network: Network, folder: Path, hosts: list[str], words: list[str], run: str, *options: str):
    """Started on the first machine, which takes no part."""
    command = [PROGRAM, "launch", "-n", "1", "--hosts", ",".join(hosts), "--shell", str(network.shell), *options,
               "--", "train", *words, *[word for word in COMMON if word != "-q"], "-o", run]
    log = folder / f"{run}.log"
    with log.open("w") as output:
        process = subprocess.Popen(network.inside(network.addresses[0], command), cwd=folder, stdout=output,
                                   stderr=subprocess.STDOUT, env=environment(folder, UBIQUE_DIST_TIMEOUT=SILENCE))
    return process, log


def underway(process: subprocess.Popen, log: Path, run: Path, steps: int) -> None:
    wait_for(lambda: len(losses(run)) > steps or process.poll() is not None, "progress")
    assert process.poll() is None, log.read_text()


def finished(process: subprocess.Popen, log: Path) -> str:
    assert process.wait(timeout=120) == 0, log.read_text()
    return log.read_text()


def test_slow_and_lossy(folder: Path, words: list[str]) -> None:
    with Network(folder, 4, delay=0.003, loss=0.01) as network:
        hosts = network.addresses[1:]
        text = finished(*launch(network, folder, hosts, words, "lossy"))
        assert "3 processes, started by ubique launch" in text, text
        assert network.lost > 20, f"only {network.lost} of {network.sent} frames were lost"
        same(folder, "whole", ["lossy"])
        print(f"three machines, 3 ms of delay, {network.lost} of {network.sent} frames lost: the same bits")


def test_short_cut(folder: Path, words: list[str]) -> None:
    with Network(folder, 3, delay=0.001) as network:
        hosts = network.addresses[1:]
        process, log = launch(network, folder, hosts, words, "short-cut")
        underway(process, log, folder / "short-cut", 15)
        network.cut.add(hosts[1])
        time.sleep(1.5)
        steps = len(losses(folder / "short-cut"))
        time.sleep(0.3)
        assert len(losses(folder / "short-cut")) == steps, "a training over a cable that is pulled"
        network.cut.clear()
        text = finished(process, log)
        same(folder, "whole", ["short-cut"])
    print("a cable pulled for two seconds: gone on without a restart, the same bits")


def test_cut(folder: Path, words: list[str], which: int) -> None:
    """The cable of rank `which` is pulled for good: the others name it, and go on without it."""
    run = f"cut-{which}"
    with Network(folder, 3) as network:
        hosts = network.addresses[1:]
        process, log = launch(network, folder, hosts, words, run, "--restarts", "2", "--wait", "2")
        underway(process, log, folder / run, 15)
        network.cut.add(hosts[which])
        text = finished(process, log)
        said = text + (folder / f"{run}/ranks/rank-1.log").read_text()
        assert "[dist.exchange] rank 1 is lost: its last sign of life" in said, said
        assert "[dist.exchange] rank 0 is lost: its store has not answered for" in said, said
        assert f"going on without {hosts[which]}" in text and "1 of 2 hosts" in text, text
        assert (f"rank 0 is on {hosts[1]} now" in text) == (which == 0), text
        assert not network.processes(hosts[which]), "the machine without a cable still computes"
        same(folder, "whole", [run])
    print(f"the cable of rank {which} pulled: named by both sides, gone on with one machine, the same bits")


def test_mended(folder: Path, words: list[str]) -> None:
    with Network(folder, 3) as network:
        hosts = network.addresses[1:]
        process, log = launch(network, folder, hosts, words, "mended", "--restarts", "1", "--wait", "60")
        underway(process, log, folder / "mended", 15)
        network.cut.add(hosts[1])
        wait_for(lambda: "waiting up to 60 seconds" in log.read_text() or process.poll() is not None, "a restart")
        network.cut.clear()
        text = finished(process, log)
        assert f'{hosts[1]} ("ssh: connect to host' in text and "going on without" not in text, text
        assert text.count("2 processes, started by ubique launch") == 2, text
        same(folder, "whole", ["mended"])
    print("a cable pulled and mended: the restart waits, both machines go on, the same bits")


def test_stopped(folder: Path, words: list[str]) -> None:
    """Ctrl-C stops all machines with one checkpoint; launcher gone: they stop too."""
    with Network(folder, 3) as network:
        hosts = network.addresses[1:]
        process, log = launch(network, folder, hosts, words, "stopped")
        underway(process, log, folder / "stopped", 15)
        process.send_signal(2)
        assert process.wait(timeout=60) == 130, log.read_text()
        assert log.read_text().count("interrupted; --resume goes on") == 1, log.read_text()
        process, log = launch(network, folder, hosts, [*words, "--resume"], "stopped")
        underway(process, log, folder / "stopped", 25)
        process.kill()
        wait_for(lambda: not any(network.processes(host) for host in hosts), "an end of all ranks")
    train(folder, 2, "stopped", words, "--resume")
    same(folder, "whole", ["stopped"])
    print("Ctrl-C, and a launcher that is killed: all machines stop with one checkpoint")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            with Network(folder, 1):
                pass
        except Missing as error:
            print(f"skipped: no network of pretend machines here; {error}")
            return
        words = [*make_sudokus(folder), *LONG]
        train(folder, 1, "whole", words)
        test_slow_and_lossy(folder, words)
        test_short_cut(folder, words)
        test_cut(folder, words, 1)
        test_cut(folder, words, 0)
        test_mended(folder, words)
        test_stopped(folder, words)


if __name__ == "__main__":
    main()

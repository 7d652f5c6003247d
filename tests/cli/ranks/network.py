"""A network of pretend machines on this one: a network namespace each, and a cable from each to a switch that
this process plays. The switch delays frames, loses some, and can have a cable pulled. (The kernel's own netem
does the first two, but many kernels lack it.) Needs root and iproute2."""

import fcntl
import heapq
import os
import random
import select
import shutil
import struct
import subprocess
import threading
import time
from pathlib import Path

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
# Stands for ssh: reaches a machine only by the network, and brings no variables along.
SHELL = """#!/bin/bash
answer=$(timeout 3 bash -c "true < /dev/tcp/$1/9" 2>&1)
case "$answer" in
  *refused*) exec env -i PATH="$PATH" ip netns exec {prefix}-$1 sh -c "$2" ;;
esac
echo "ssh: connect to host $1 port 22: No route to host" >&2
exit 255
"""


class Missing(Exception):
    """Why there can be no such network here."""


def ip(*words: str) -> str:
    done = subprocess.run(["ip", *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=30)
    if done.returncode != 0:
        raise Missing(f"ip {' '.join(words)}: {done.stdout.strip()}")
    return done.stdout


class Network:
    """Machines 10.77.0.1, .2, ... of a `with` statement. `delay` in seconds, `loss` as a share of all frames."""

    def __init__(self, folder: Path, machines: int, delay: float = 0, loss: float = 0):
        if not shutil.which("ip"):
            raise Missing("no program `ip`; install iproute2 (tools/setup does)")
        if os.geteuid() != 0 or not os.path.exists("/dev/net/tun"):
            raise Missing("network namespaces and /dev/net/tun need root")
        self.prefix = f"ubique{os.getpid()}"
        self.addresses = [f"10.77.0.{i + 1}" for i in range(machines)]
        self.delay, self.loss, self.random = delay, loss, random.Random(1)
        self.cut, self.waiting, self.ends, self.made = set(), [], {}, []
        self.sent = self.lost = 0
        self.running = True
        self.shell = folder / "shell"
        self.shell.write_text(SHELL.format(prefix=self.prefix))
        self.shell.chmod(0o755)

    def __enter__(self) -> "Network":
        try:
            for address in self.addresses:
                self.add_machine(address)
        except (Missing, OSError) as error:
            self.close()
            raise Missing(str(error)) from error
        self.thread = threading.Thread(target=self.switch, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.running = False
        self.thread.join()
        self.close()

    def namespace(self, address: str) -> str:
        return f"{self.prefix}-{address}"

    def add_machine(self, address: str) -> None:
        name = self.namespace(address)
        ip("netns", "add", name)
        self.made.append(address)
        end, device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK), f"ubq{os.getpid()}"[:15]
        self.ends[address] = end
        fcntl.ioctl(end, TUNSETIFF, struct.pack("16sH22x", device.encode(), IFF_TAP | IFF_NO_PI))
        ip("link", "set", device, "netns", name)
        ip("-n", name, "link", "set", device, "name", "lan0")
        ip("-n", name, "address", "add", f"{address}/24", "dev", "lan0")
        for interface in ("lo", "lan0"):
            ip("-n", name, "link", "set", interface, "up")

    def close(self) -> None:
        for end in self.ends.values():
            os.close(end)
        for address in self.made:
            for process in self.processes(address):
                os.kill(process, 9)
            subprocess.run(["ip", "netns", "delete", self.namespace(address)], check=False)

    def processes(self, address: str) -> list[int]:
        return [int(word) for word in ip("netns", "pids", self.namespace(address)).split()]

    def inside(self, address: str, command: list[str]) -> list[str]:
        """The command on one of the machines."""
        return ["ip", "netns", "exec", self.namespace(address), *command]

    def switch(self) -> None:
        """Hands every frame to all other machines; those that it is not for ignore it."""
        whose = {end: address for address, end in self.ends.items()}
        while self.running:
            pause = 0.05 if not self.waiting else max(0, min(0.05, self.waiting[0][0] - time.monotonic()))
            for end in select.select(list(whose), [], [], pause)[0]:
                self.take(whose[end], end)
            while self.waiting and self.waiting[0][0] <= time.monotonic():
                _, _, address, frame = heapq.heappop(self.waiting)
                if address not in self.cut:
                    self.hand_over(self.ends[address], frame)

    def take(self, sender: str, end: int) -> None:
        try:
            frame = os.read(end, 65536)
        except OSError:
            return
        for address in self.ends:
            if address == sender or sender in self.cut:
                continue
            self.sent += 1
            if self.random.random() < self.loss:
                self.lost += 1
                continue
            heapq.heappush(self.waiting, (time.monotonic() + self.delay, self.sent, address, frame))

    def hand_over(self, end: int, frame: bytes) -> None:
        try:
            os.write(end, frame)
        except OSError:  # its queue is full: lost, as on a real cable
            self.lost += 1

#!/usr/bin/env python3
"""Mixed jobs while server and workers are killed at random: none lost, none done twice.

    bench/serve/kills.py build/cpu/bin/ubique [JOBS [KILLS [SEED]]]
"""

import collections
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/cli/helpers"))
from studio import Studio  # noqa: E402


def mixed_jobs(count, data, chance):
    """(verb, family, name, options, state that it must end in)."""
    heads = dict(verb="data", family="meshnet", name="synth")
    for number in range(count):
        kind = chance.random()
        if number % 250 == 100:
            yield dict(verb="train", family="meshnet", options={
                "data": [f"library:{data}"], "size_bins": "quartiles", "channels": 3, "shape": "24,24,24", "spacing": 8,
                "epochs": 6, "threads": 1, "log_every": 1}), "succeeded"
        elif kind < 0.05:
            yield heads | {"options": {"size": 5}}, "failed"
        elif kind < 0.5:
            yield dict(verb="data", family="trm", name="sudoku", options={"size": 4, "train": 4, "test": 2, "seed": number}), "succeeded"
        else:
            yield heads | {"options": {"count": 1, "size": 16, "seed": number}}, "succeeded"


def main():
    program = os.path.abspath(sys.argv[1])
    count, kills, seed = (int(text) for text in (sys.argv[2:] + ["1000", "100", "1"][len(sys.argv) - 2:])[:3])
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        studio = Studio(program, Path(name) / "data", environment={"UBIQUE_CACHE_DIR": name + "/cache"})
        studio.start()
        data = studio.add("data", "meshnet", "synth", options={"count": 6, "size": 24})
        studio.finished(data)
        wanted = {data: "succeeded"}
        for body, state in mixed_jobs(count - 1, data, chance):
            wanted[studio.json("POST", "/api/jobs", body, 201)["id"]] = state
        began, killed = time.monotonic(), collections.Counter()
        while True:
            over = metrics(studio, ("succeeded", "failed", "cancelled"))
            if over == len(wanted):
                break
            # Spread over all the jobs, at moments that nothing is tuned to.
            due = killed.total() < kills and over >= len(wanted) * killed.total() / (kills + 1)
            if due:
                time.sleep(chance.uniform(0, 0.4))
                running = studio.worker_ids()
                if running and chance.random() < 0.6:
                    os.kill(running[0], signal.SIGKILL)
                    killed["worker"] += 1
                else:
                    studio.kill()
                    studio.start()
                    killed["server"] += 1
            else:
                time.sleep(0.05)
        failed = report(studio, wanted, killed, time.monotonic() - began)
        studio.stop()
    sys.exit(failed)


def metrics(studio, states):
    lines = studio.ask("GET", "/metrics")[2].decode().splitlines()
    return sum(int(line.split()[1]) for line in lines for state in states if line.startswith(f'ubique_jobs{{state="{state}"}}'))


def report(studio, wanted, killed, seconds):
    found = {job["id"]: job for job in studio.jobs()}
    told = collections.Counter(data["id"] for _, kind, data in studio.events()
                               if kind == "job" and data.get("state") in ("succeeded", "failed"))
    items = {item["id"] for page in pages(studio) for item in page}
    lost = [job for job in wanted if job not in found]
    wrong = [job for job, state in wanted.items() if job in found and found[job]["state"] != state]
    twice = [job for job, times in told.items() if times > 1]
    without = [job for job, state in wanted.items() if state == "succeeded" and job not in items]
    again = sum(found[job]["attempts"] - 1 for job in found)
    print(f"{len(wanted)} jobs in {seconds:.0f} s, killed: {killed['worker']} workers, {killed['server']} servers; "
          f"{again} attempts were begun again")
    print(f"lost {len(lost)}, ended otherwise {len(wrong)}, ended twice {len(twice)}, without their result {len(without)}, "
          f"results too many {len(items - wanted.keys())}")
    for job in wrong[:5]:
        print(job, wanted[job], found[job]["state"], found[job]["error"])
    return bool(lost or wrong or twice or without or items - wanted.keys())


def pages(studio):
    after = ""
    while after is not None:
        page = studio.json("GET", f"/api/library?limit=500&after={after}")
        yield page["items"]
        after = page["next"]


main()

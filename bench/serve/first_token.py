#!/usr/bin/env python3
"""Time to the first token through `ubique serve`, and from the same worker without it: warm, a short prompt, in turns.

    bench/serve/first_token.py build/cpu/bin/ubique MODEL [REPEATS]
"""

import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/cli/helpers"))
from studio import Studio  # noqa: E402

BODY = dict(model="m", prompt="def add(first", max_tokens=4, temperature=0, stream=True)


def through_server(connection):
    begin = time.perf_counter()
    connection.request("POST", "/v1/completions", json.dumps(BODY), {"Content-Type": "application/json"})
    response = connection.getresponse()
    response.readline()
    first = time.perf_counter() - begin
    response.read()
    return first * 1e3


def alone(worker, number):
    request = dict(op="complete", id=str(number), prompt=BODY["prompt"], max_tokens=4, temperature=0, seed=1)
    begin = time.perf_counter()
    worker.stdin.write(json.dumps(request) + "\n")
    worker.stdin.flush()
    first = None
    for line in worker.stdout:
        event = json.loads(line)["event"]
        if event == "text" and first is None:
            first = time.perf_counter() - begin
        if event in ("done", "error"):
            assert first is not None, line
            return first * 1e3


def main():
    program, model = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 50
    with tempfile.TemporaryDirectory() as name:
        studio = Studio(program, Path(name) / "data", "--models-device", "cpu")
        studio.start()
        studio.json("POST", "/api/models", {"path": model, "name": "m"}, 201)
        worker = subprocess.Popen([program, "run", "codelm", "--worker", "--model", model, "--device", "cpu"], text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        worker.stdout.readline()
        connection = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=60)
        served, direct = [], []
        for number in range(repeats + 5):
            served.append(through_server(connection))
            direct.append(alone(worker, number))
        served, direct = served[5:], direct[5:]
        print(f"first token, median of {repeats}: {statistics.median(served):.2f} ms through the server, "
              f"{statistics.median(direct):.2f} ms without; {statistics.median(served) - statistics.median(direct):+.2f} ms")
        worker.stdin.close()
        worker.wait()
        studio.stop()


main()

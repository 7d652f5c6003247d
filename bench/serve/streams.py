#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Streams of OpenAI's interface from `ubique serve`, with one and with many clients at once, beside the same worker process without
the server: tokens per second over all clients with their prompts, and behind the first tokens; the time to the first token. Turns
alternate, with new prompts in each; medians are compared.

    bench/serve/streams.py build/cpu/bin/ubique [--device cuda] [--shape 164m] [--clients 1,16] [--tokens 256] [--turns 5]

Needs nothing but Python's standard library: the model has random weights and is made here. Beside the program, bench_codelm is
asked too where it was built: the decoder alone, without texts or prompts, with as many slots as clients.
"""

import argparse
import json
import multiprocessing
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/cli/helpers"))
from random_code_model import SHAPES, write_random_code_model  # noqa: E402
from studio import Studio  # noqa: E402

PROMPT = "def add(first, second):  # sixty-four letters are as many tokens"


def prompt_of(client, turn):
    """No slot holds the beginning of it."""
    return f"{chr(97 + turn % 26)}{client:02}{PROMPT[3:64]}"


class Measured:
    """Spans of all clients of a turn: (begin, first token, end, tokens)."""

    def __init__(self, spans):
        begins, firsts, ends, tokens = zip(*spans)
        self.rate = sum(tokens) / (max(ends) - min(begins))
        self.decoding = sum((count - 1) / (end - first) for first, end, count in zip(firsts, ends, tokens))
        self.first_ms = 1e3 * statistics.median(first - begin for first, begin in zip(firsts, begins))
        self.tokens = sum(tokens)


def stream(port, client, turn, tokens, ready, results):
    body = json.dumps(dict(model="m", prompt=prompt_of(client, turn), max_tokens=tokens, temperature=0, stream=True,
                           stream_options={"include_usage": True})).encode()
    head = f"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=300) as own:
        own.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        ready.wait()
        begin, first, got = time.monotonic(), None, bytearray()
        own.sendall(head.encode() + body)
        while b"[DONE]" not in got[-64:]:
            piece = own.recv(1 << 16)
            assert piece, bytes(got[:500])
            got += piece
            first = first or (time.monotonic() if b'"text"' in got else None)
        end = time.monotonic()
    count = re.search(rb'"completion_tokens":\s*(\d+)', got[-2000:])
    results.put((begin, first, end, int(count[1])))


def through_server(port, clients, turn, tokens):
    context = multiprocessing.get_context("fork")  # a process each: threads of Python would wait for each other
    ready, results = context.Barrier(clients), context.Queue()
    readers = [context.Process(target=stream, args=(port, client, turn, tokens, ready, results)) for client in range(clients)]
    for reader in readers:
        reader.start()
    spans = [results.get(timeout=300) for _ in readers]
    for reader in readers:
        reader.join()
    return Measured(spans)


def alone(worker, clients, turn, tokens):
    ids = {f"{time.monotonic_ns()}-{client}": client for client in range(clients)}
    begin, firsts, spans = time.monotonic(), {}, []
    for name, client in ids.items():
        request = dict(op="complete", id=name, prompt=prompt_of(client, turn), max_tokens=tokens, temperature=0, seed=1)
        worker.stdin.write(json.dumps(request).encode() + b"\n")
    worker.stdin.flush()
    while len(spans) < clients:
        line = worker.stdout.readline()
        now = time.monotonic()
        event = json.loads(line)
        assert event["event"] != "error", line
        if event["event"] == "text":
            firsts.setdefault(event["id"], now)
        if event["event"] == "done":
            spans.append((begin, firsts[event["id"]], now, event["completion_tokens"]))
    return Measured(spans)


def decoder_only(program, wanted, clients):
    """Tokens per second of the bare decoder; None where that is not built or has no such shape."""
    bench = Path(program).with_name("bench_codelm")
    if wanted.shape != "164m" or not bench.exists():
        return None
    words = [bench, wanted.device, "decode", "tiny", "64", str(wanted.tokens), "3", "plan", str(clients)]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()[-1]
    return json.loads(told)["median_tokens_per_s"]


def compare(studio, worker, wanted, clients):
    served, direct = [], []
    for turn in range(wanted.turns + 2):  # two warm up: prompts are recorded when they come again
        served.append(through_server(studio.port, clients, turn, wanted.tokens))
        direct.append(alone(worker, clients, turn, wanted.tokens))
        assert served[-1].tokens == direct[-1].tokens == clients * wanted.tokens, "a text was shorter than was asked for"
    bare = decoder_only(studio.program, wanted, clients)
    if bare:
        print(f"{clients:3} clients: {bare:.0f} tokens/s by the bare decoder", flush=True)
    rates = {}
    for name, turns in (("worker alone", direct), ("through the server", served)):
        rate, decoding, first = (statistics.median(getattr(turn, value) for turn in turns[2:])
                                 for value in ("rate", "decoding", "first_ms"))
        shares = f" ({100 * rate / bare:.1f} and {100 * decoding / bare:.1f} % of the bare decoder)" if bare else ""
        print(f"{clients:3} clients, {name}: {rate:.0f} tokens/s, {decoding:.0f} behind the first tokens{shares}; first token {first:.2f} ms", flush=True)
        rates[name] = rate
    print(f"{clients:3} clients: {100 * rates['through the server'] / rates['worker alone']:.1f} % of the worker through the server", flush=True)


def main():
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("program")
    given.add_argument("--device", default="cpu")
    given.add_argument("--shape", default="164m", choices=SHAPES)
    given.add_argument("--clients", default="1,16")
    given.add_argument("--tokens", type=int, default=256)
    given.add_argument("--turns", type=int, default=5)
    wanted = given.parse_args()
    program = os.path.abspath(wanted.program)
    counts = [int(text) for text in wanted.clients.split(",")]
    with tempfile.TemporaryDirectory() as name:
        model = write_random_code_model(Path(name) / "model", wanted.shape)
        slots = str(max(counts))
        studio = Studio(program, Path(name) / "data", "--models-device", wanted.device, "--slots", slots)
        studio.start()
        studio.json("POST", "/api/models", {"path": str(model), "name": "m"}, 201)
        worker = subprocess.Popen([program, "run", "codelm", "--worker", "--model", model, "--device", wanted.device, "--slots", slots],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        facts = json.loads(worker.stdout.readline())
        print(f"{wanted.shape} on {facts['device']} in {facts['dtype']}, {wanted.tokens} tokens after 64, median of {wanted.turns} turns", flush=True)
        try:
            for clients in counts:
                compare(studio, worker, wanted, clients)
        finally:
            worker.stdin.close()
            worker.wait()
            studio.stop()


if __name__ == "__main__":
    main()

"""A `ubique serve` of a test's own, with a client: started, asked, killed, started again."""

import http.client
import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path


class Studio:
    def __init__(self, program, data, *arguments, environment=None):
        self.program, self.data, self.arguments = program, Path(data), list(arguments)
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("UBIQUE_")}
        self.environment.update(environment or {})
        self.log_path = Path(str(data) + ".log")
        self.process = None
        self.told = {}

    def start(self, *more):
        """Returns what it printed as JSON; raises with its words if it ends instead."""
        self.log = open(self.log_path, "ab")
        words = [*self.arguments, *more]
        port = [] if "--port" in words else ["--port", "0"]
        self.process = subprocess.Popen([self.program, "serve", "--data", str(self.data), "--json", *port, *words], stdout=subprocess.PIPE, stderr=self.log,
                                        stdin=subprocess.DEVNULL, env=self.environment, text=True)
        text = ""
        for line in self.process.stdout:
            text += line
            try:
                self.told = json.loads(text)
                break
            except json.JSONDecodeError:
                continue
        else:
            self.process.stdout.close()
            self.log.close()
            raise RuntimeError(f"it ended with {self.process.wait()}: {self.words()}")
        # Its pipe must never be full.
        self.reader = threading.Thread(target=self.read_rest, args=[self.process.stdout], daemon=True)
        self.reader.start()
        self.host, port = self.told["address"].removeprefix("http://").rsplit(":", 1)
        self.port = int(port)
        return self.told

    @staticmethod
    def read_rest(pipe):
        with pipe:
            pipe.read()

    def end(self):
        code = self.process.wait(timeout=60)
        self.reader.join(60)
        self.log.close()
        return code

    def words(self):
        return self.log_path.read_text(errors="replace")

    def stop(self):
        """Asks it to stop; the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.end()

    def kill(self):
        self.process.kill()
        self.end()

    def close(self):
        if self.process and not self.log.closed:
            self.kill()

    def ask(self, method, path, body=None, headers=None, connection=None):
        """(status, headers, bytes) of one request."""
        own = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {"X-Ubique": "1"} | (headers or {})
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        try:
            own.request(method, path, body, sent)
            response = own.getresponse()
            return response.status, dict(response.getheaders()), response.read()
        finally:
            if not connection:
                own.close()

    def json(self, method, path, body=None, status=200, headers=None):
        got, _, text = self.ask(method, path, body, headers)
        assert got == status, f"{method} {path}: {got}, expected {status}: {text[:500]!r}"
        return json.loads(text)

    def add(self, verb, family="", name="", **more):
        return self.json("POST", "/api/jobs", dict(verb=verb, family=family, name=name, **more), 201)["id"]

    def wait_for(self, condition, seconds=120):
        """Asks again until the condition holds; returns what it gave."""
        deadline = time.monotonic() + seconds
        while not (found := condition()):
            assert time.monotonic() < deadline, f"nothing after {seconds} s; the server said: {self.words()[-2000:]}"
            time.sleep(0.02)
        return found

    def finished(self, job, seconds=120):
        """The job when it is over."""
        over = ("succeeded", "failed", "cancelled")
        return self.wait_for(lambda: (found := self.json("GET", f"/api/jobs/{job}"))["state"] in over and found, seconds)

    def jobs(self):
        found, after = [], ""
        while after is not None:
            page = self.json("GET", f"/api/jobs?limit=500&after={after}")
            found += page["jobs"]
            after = page["next"]
        return found

    def events(self, after=0, until=None):
        """Events with numbers, from `after` on, until it says so or there are no more."""
        own = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        own.request("GET", f"/api/events?after={after}")
        response = own.getresponse()
        assert response.status == 200, response.read()
        found, event = [], {}
        for line in response:
            line = line.decode().rstrip("\n")
            if line.startswith(("event: ", "data: ", "id: ")):
                key, value = line.split(": ", 1)
                event[key] = value
            elif not line and event:
                if "id" in event:
                    found.append((int(event["id"]), event["event"], json.loads(event["data"])))
                if (until and until(found)) or (not until and event["event"] == "machine"):
                    break  # what the machine does is told after all that is new
                event = {}
        own.close()
        return found

    def worker_ids(self):
        """Process numbers of attempts that run now, by the lock files that they hold."""
        found = []
        for path in self.data.glob("work/*/alive"):
            try:
                number = int(path.read_text() or 0)
                words = Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")
                if number > 1 and words[0].decode() == os.path.realpath(self.program):
                    found.append(number)
            except (OSError, ValueError):
                continue
        return found

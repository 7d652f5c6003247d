# SPDX-License-Identifier: Apache-2.0
"""OpenAI's interface of `ubique serve` when clients vanish, models are removed while they are used, and processes are killed, with a
code model of random weights. Usage: language_models_test.py PROGRAM"""

import json
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, os.path.dirname(__file__))
from random_code_model import write_random_code_model  # noqa: E402
from studio import Studio  # noqa: E402

PROGRAM = os.path.abspath(sys.argv.pop(1))
LONG, SHORT = 3000, 8  # tokens


def body(tokens, stream=True, **more):
    return dict(model="m", prompt="x = 1", max_tokens=tokens, temperature=0, stream=stream, **more)


class LanguageModels(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        folder = Path(self.temporary.name)
        self.model = write_random_code_model(folder / "model")
        environment = {"UBIQUE_CACHE_DIR": str(folder / "cache"), "HF_HOME": str(folder / "hf")}
        self.studio = Studio(PROGRAM, folder / "data", "--models-device", "cpu", "--slots", "2", environment=environment)
        self.studio.start()
        self.ref = self.studio.json("POST", "/api/models", {"path": str(self.model), "name": "m"}, 201)["ref"]

    def tearDown(self):
        self.studio.close()
        self.temporary.cleanup()

    def ask(self, **wanted):
        return self.studio.ask("POST", "/v1/completions", wanted)

    def begin(self, tokens=LONG, stream=True):
        """A connection on which a text has begun."""
        own = socket.create_connection(("127.0.0.1", self.studio.port), timeout=60)
        text = json.dumps(body(tokens, stream)).encode()
        own.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    + f"Content-Length: {len(text)}\r\nConnection: close\r\n\r\n".encode() + text)
        if stream:
            self.read_until(own, b'"text"')
        return own

    def read_until(self, own, words=None):
        got = b""
        while words is None or words not in got:
            piece = own.recv(1 << 16)
            if not piece:
                break
            got += piece
        return got

    def figure(self, name):
        for line in self.studio.ask("GET", "/metrics")[2].decode().splitlines():
            if line.startswith(f"ubique_{name} "):
                return int(line.split()[1])
        self.fail(f"no figure {name}")

    def idle(self):
        return self.figure("language_model_texts") == 0

    def process(self):
        """The number of the model's own process."""
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = path.read_bytes().split(b"\0")
                parent = Path(path.parent, "stat").read_text().rsplit(")", 1)[1].split()[1]
            except OSError:
                continue
            if b"--worker" in words and int(parent) == self.studio.process.pid:
                return int(path.parent.name)
        return None

    def test_clients_that_vanish_in_mid_stream_give_their_places_back(self):
        for _ in range(10):
            for stream in (True, False):
                own = self.begin(stream=stream)
                self.studio.wait_for(lambda: not self.idle())
                own.close()
        self.studio.wait_for(self.idle, 30)
        self.assertEqual(self.figure("language_models_loaded"), 1)
        status, _, text = self.ask(**body(SHORT, stream=False))
        self.assertEqual((status, json.loads(text)["usage"]["completion_tokens"]), (200, SHORT))

    def test_a_client_that_stops_reading_holds_up_nobody(self):
        lazy = self.begin()
        for _ in range(5):
            self.assertEqual(self.ask(**body(SHORT, stream=False))[0], 200)
        lazy.close()
        self.studio.wait_for(self.idle, 30)

    def test_a_model_whose_files_are_removed_answers_what_it_began_and_is_then_gone(self):
        own = self.begin()
        shutil.rmtree(self.model)
        self.assertIn(b"data: [DONE]", self.read_until(own))
        status, _, text = self.ask(**body(SHORT, stream=False))
        self.assertEqual((status, json.loads(text)["error"]["code"]), (404, "model_not_found"))
        self.assertIn("there is no model 'm'", json.loads(text)["error"]["message"])
        self.assertEqual(self.studio.json("GET", "/v1/models")["data"], [])
        self.studio.wait_for(lambda: self.process() is None, 30)  # its memory is free again

    def test_a_model_that_is_taken_off_the_list_answers_what_it_began_and_is_unloaded(self):
        own = self.begin()
        self.studio.json("DELETE", f"/api/models/{self.ref}")
        self.assertIn(b"data: [DONE]", self.read_until(own))
        self.assertEqual(self.ask(**body(SHORT))[0], 404)
        self.studio.wait_for(lambda: self.process() is None, 30)
        self.studio.json("POST", "/api/models", {"path": str(self.model), "name": "m"}, 201)
        self.assertEqual(self.ask(**body(SHORT))[0], 200)

    def test_a_model_with_damaged_weights_is_refused_and_works_when_they_are_whole_again(self):
        weights = self.model / "model.safetensors"
        whole = weights.read_bytes()
        weights.write_bytes(whole[:1000])
        status, _, text = self.ask(**body(SHORT))
        self.assertEqual((status, json.loads(text)["error"]["code"]), (503, "model_not_loaded"), text)
        weights.write_bytes(whole)
        self.assertEqual(self.ask(**body(SHORT))[0], 200)

    def test_a_process_that_is_killed_ends_its_streams_with_an_error_and_the_next_request_works(self):
        own = self.begin()
        os.kill(self.process(), signal.SIGKILL)
        got = self.read_until(own)
        self.assertIn(b"model_process_ended", got)
        self.assertNotIn(b"[DONE]", got)
        self.assertEqual(self.ask(**body(SHORT))[0], 200)

    def test_too_many_texts_are_told_to_come_again(self):
        self.assertEqual(self.ask(**body(SHORT))[0], 200)  # it is loaded
        own = [self.begin(stream=False) for _ in range(300)]  # 2 at once, 256 wait
        waiting, answers = list(own), set()
        while b"429" not in answers and waiting:  # some texts may be done before the last request
            ready, _, _ = select.select(waiting, [], [], 60)
            self.assertTrue(ready)
            answers.update(each.recv(12)[9:] for each in ready)
            waiting = [each for each in waiting if each not in ready]
        self.assertIn(b"429", answers)
        for each in own:
            each.close()
        self.studio.wait_for(self.idle, 60)
        self.assertEqual(self.ask(**body(SHORT))[0], 200)


if __name__ == "__main__":
    unittest.main()

"""`ubique pull` against a hub that cuts, lies, redirects and asks to wait. Usage: pull_test.py PROGRAM"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, os.path.dirname(__file__))
from fake_hub import COMMIT, FakeHub, git_oid  # noqa: E402

PROGRAM = os.path.abspath(sys.argv.pop(1))
LARGE = random.Random(1).randbytes(40_000_000)  # three pieces
SMALL = {"config.json": b'{"model_type": "llama"}', "tokenizer/tokenizer.json": b"{}" * 900, "README.md": b"# name\n",
         "empty.txt": b"", "pytorch_model.bin": b"\x80\x02.", "run.py": b"print(1)\n"}


class Pull(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        self.hubs = []

    def tearDown(self):
        for hub in self.hubs:
            hub.close()
        self.temporary.cleanup()

    def hub(self, files=None):
        self.hubs.append(FakeHub(dict(files or dict(SMALL, **{"model.safetensors": LARGE}))))
        return self.hubs[-1]

    def environment(self, hub, **more):
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "UBIQUE_", "http", "HTTP"))}
        return kept | dict(HF_ENDPOINT=hub.url, HF_HOME=str(self.folder / "hf"), UBIQUE_CACHE_DIR=str(self.folder / "cache"),
                           no_proxy="127.0.0.1") | more

    def pull(self, hub, *arguments, **more):
        return subprocess.run([PROGRAM, "pull", "hf:owner/name", *arguments], env=self.environment(hub, **more), text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=120)

    @property
    def model(self):
        return self.folder / "hf/hub/models--owner--name"

    def check_complete(self, files):
        snapshot = self.model / "snapshots" / COMMIT
        found = {path.relative_to(snapshot).as_posix(): path.read_bytes() for path in snapshot.rglob("*") if not path.is_dir()}
        self.assertEqual({name: len(content) for name, content in found.items()}, {name: len(content) for name, content in files.items()})
        self.assertTrue(found == files)
        self.assertEqual((self.model / "refs/main").read_text(), COMMIT)
        for path in snapshot.rglob("*"):
            if not path.is_dir():
                self.assertTrue(path.is_symlink() and not os.readlink(path).startswith("/"), path)
        self.assertEqual([path.name for path in (self.model / "blobs").iterdir() if "ubique" in path.name], [])

    def wanted(self, files):
        return {name: content for name, content in files.items() if not name.endswith((".bin", ".py"))}

    def refused(self, done, words, status=3):
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(words, done.stderr)
        self.assertFalse((self.model / "refs/main").exists())

    def test_all_files_come_over_several_connections_into_the_shared_layout(self):
        hub = self.hub()
        hub.page = 3
        done = self.pull(hub, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_complete(self.wanted(hub.files))
        told = json.loads(done.stdout)
        self.assertEqual((told["license"], told["commit"], told["complete"]), ("apache-2.0", COMMIT, True))
        self.assertEqual(told["bytes"], sum(map(len, self.wanted(hub.files).values())))
        pieces = [headers for path, headers in hub.requests if path.endswith("model.safetensors")]
        self.assertEqual(len(pieces), 3)
        self.assertTrue(all("Range" in headers for headers in pieces))
        self.assertTrue((self.model / "blobs" / git_oid(SMALL["config.json"])).is_file())
        before = len(hub.requests)
        again = self.pull(hub)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual([path for path, _ in hub.requests[before:] if "/resolve/" in path], [])

    def test_what_was_cut_goes_on_where_it_stopped(self):
        hub = self.hub()
        hub.cut_after, hub.cuts = 3_000_000, 5
        done = self.pull(hub)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_complete(self.wanted(hub.files))
        firsts = [int(headers["Range"].split("=")[1].split("-")[0]) for path, headers in hub.requests
                  if path.endswith("model.safetensors")]
        self.assertEqual(len(set(firsts)), len(firsts))  # no byte was asked for twice

    def test_a_kill_and_ctrl_c_keep_what_came(self):
        hub = self.hub()
        for end in (signal.SIGKILL, signal.SIGINT):
            hub.slow, earlier = 0.01, len(hub.requests)
            process = subprocess.Popen([PROGRAM, "pull", "hf:owner/name", "--connections", "2", "-q"], env=self.environment(hub),
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            deadline = time.monotonic() + 60
            while not [1 for path, _ in hub.requests[earlier:] if path.endswith(".safetensors")]:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)
            time.sleep(0.5)
            process.send_signal(end)
            process.communicate(timeout=30)
            self.assertEqual(process.returncode, -9 if end == signal.SIGKILL else 130)
            self.assertFalse((self.model / "refs/main").exists())
        hub.slow, before = 0, len(hub.requests)
        planned = json.loads(self.pull(hub, "--dry-run", "--json").stdout)
        self.assertLess(planned["bytes_missing"], planned["bytes"] - 1_000_000)
        done = self.pull(hub)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_complete(self.wanted(hub.files))
        asked = [headers["Range"] for path, headers in hub.requests[before:] if path.endswith(".safetensors")]
        self.assertNotIn("bytes=0-16777215", asked)

    def test_a_server_without_ranges_serves_in_one_go(self):
        hub = self.hub()
        hub.ranges = False
        done = self.pull(hub)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_complete(self.wanted(hub.files))

    def test_busy_servers_are_asked_again(self):
        hub = self.hub(SMALL)
        hub.busy = [(429, {"Retry-After": "0"}), (503, {"Retry-After": "0"}), (500, {}), (408, {})]
        done = self.pull(hub)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("status 429", done.stderr)
        self.check_complete(self.wanted(SMALL))

    def test_wrong_content_is_never_taken(self):
        hub = self.hub()
        hub.content["model.safetensors"] = LARGE[:-1] + bytes([LARGE[-1] ^ 1])
        self.refused(self.pull(hub), "is not what the hub announced")
        self.assertEqual(list((self.model / "blobs").glob("*ubique-part")), [])
        shutil.rmtree(self.model)
        hub.content = {"config.json": SMALL["config.json"].replace(b"llama", b"lIama")}
        self.refused(self.pull(hub), "is not what the hub announced")
        hub.content = {}
        self.assertEqual(self.pull(hub).returncode, 0)

    def test_wrong_sizes_and_ranges_are_refused(self):
        for name, content, words in (("model.safetensors", LARGE + b"more", "has another size on the server"),
                                     ("model.safetensors", LARGE[:100], "its listing"),
                                     ("config.json", b"{}", "has another size on the server")):
            hub = self.hub()
            hub.content[name] = content
            self.refused(self.pull(hub), words)
            shutil.rmtree(self.model)
        hub = self.hub()
        hub.wrong_range = True
        self.refused(self.pull(hub), "answers with the range")

    def test_damaged_bytes_of_an_earlier_run_begin_anew(self):
        hub = self.hub()
        hub.cut_after = 1_000_000
        hub.busy = []
        process = subprocess.Popen([PROGRAM, "pull", "hf:owner/name", "-q"], env=self.environment(hub), stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while len([1 for path, _ in hub.requests if path.endswith("model.safetensors")]) < 12:  # cut some times already
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        process.kill()
        process.wait()
        hub.cut_after = None
        part = next((self.model / "blobs").glob("*ubique-part"))
        with part.open("r+b") as file:
            file.write(b"damage")
        done = self.pull(hub)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("begins anew", done.stderr)
        self.check_complete(self.wanted(hub.files))

    def test_a_file_that_another_program_cut_short_is_fetched_again(self):
        hub = self.hub()
        self.assertEqual(self.pull(hub).returncode, 0)
        blob = (self.model / "snapshots" / COMMIT / "model.safetensors").resolve()
        blob.write_bytes(LARGE[:1000])
        self.assertEqual(self.pull(hub).returncode, 0)
        self.check_complete(self.wanted(dict(SMALL, **{"model.safetensors": LARGE})))

    def test_names_with_path_tricks_are_refused_before_anything_is_written(self):
        for name in ("../evil.json", "/etc/evil.json", "a/../../evil.json", "a\\..\\evil.json", "C:evil.json", "a//b.json", "./a.json",
                     "evil\n.json", "x" * 300 + ".json"):
            hub = self.hub(SMALL)
            hub.entries.append(dict(hub.entry("fine.json", b"x"), path=name))
            self.refused(self.pull(hub), "lists a file with the name")
            self.assertEqual(list(self.folder.rglob("*evil*")), [])
        for more, words in (([("config.json", b"x")], "twice"), ([("a.json", b"x"), ("a.json/b.json", b"y")], "as a file and as a folder")):
            hub = self.hub(SMALL)
            hub.entries += [hub.entry(name, content) for name, content in more]
            self.refused(self.pull(hub), words)
        for field, value in (("size", -1), ("size", "many"), ("size", 1e30), ("oid", "../../x"), ("oid", "A" * 40)):
            hub = self.hub(SMALL)
            hub.entries[0][field] = value
            self.refused(self.pull(hub), "the size of" if field == "size" else "the digest of")

    def test_a_token_goes_to_the_hub_and_nowhere_else(self):
        storage, hub = self.hub(), self.hub()
        hub.token, hub.redirect = "hf_secret", storage.url
        done = self.pull(hub, "-v", HF_TOKEN="hf_secret")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_complete(self.wanted(hub.files))
        self.assertTrue(storage.requests)
        self.assertTrue(all("Authorization" not in headers for _, headers in storage.requests))
        self.assertNotIn("hf_secret", done.stderr + done.stdout)
        self.assertNotIn("signature", done.stderr)
        (self.folder / "hf/token").write_text("hf_secret\n")  # as `hf auth login` leaves it
        self.assertEqual(self.pull(hub).returncode, 0)

    def test_a_proxy_is_gone_through_unless_the_hub_is_near(self):
        proxy, hub = self.hub(), self.hub()  # what a proxy is asked for has the whole address
        name = "http://models.example"
        far = self.pull(hub, HF_ENDPOINT=name, http_proxy=proxy.url, no_proxy="")
        self.assertEqual(far.returncode, 0, far.stderr)
        self.check_complete(self.wanted(proxy.files))
        asked = len(proxy.requests)
        self.assertEqual(proxy.asked_for, [name] * asked)
        shutil.rmtree(self.model)
        near = self.pull(hub, http_proxy=proxy.url, no_proxy="127.0.0.1")
        self.assertEqual(near.returncode, 0, near.stderr)
        self.assertEqual(len(proxy.requests), asked)
        shutil.rmtree(self.model)
        with_name = self.pull(hub, HF_ENDPOINT=name, http_proxy=proxy.url.replace("//", "//user:pass@"), no_proxy="", HF_TOKEN="hf_x")
        self.assertEqual(with_name.returncode, 0, with_name.stderr)
        self.assertEqual(proxy.requests[-1][1]["Proxy-Authorization"], "Basic dXNlcjpwYXNz")
        self.assertNotIn("pass@", with_name.stdout + with_name.stderr)

    def test_refusals_say_what_to_do(self):
        hub = self.hub()
        hub.token = "hf_secret"
        self.refused(self.pull(hub), "set HF_TOKEN")
        hub.token = None

        def run(name, **more):
            return subprocess.run([PROGRAM, "pull", name], env=self.environment(hub, **more), text=True, capture_output=True,
                                  stdin=subprocess.DEVNULL, timeout=120)

        self.refused(run("hf:owner/gated"), "accept the conditions")
        self.refused(run("hf:owner/missing"), "no model, revision or file of that name")
        self.refused(run("hf:owner/name@nothing"), "no such revision")
        self.refused(run("name"), "expected hf:OWNER/NAME", 2)
        self.refused(run("hf:owner/name", HF_ENDPOINT="ftp://x"), "HF_ENDPOINT is no address", 2)
        self.refused(run("hf:owner/name", HF_TOKEN="two words"), "the token in HF_TOKEN", 2)
        self.refused(run("hf:owner/name", HF_HUB_OFFLINE="1"), "HF_HUB_OFFLINE", 2)
        self.refused(self.pull(hub, "--include", "*.gguf"), "has no file to download")
        self.refused(self.pull(hub, UBIQUE_FAULT="hub.append:2=enospc"), "No space left")  # a full disk
        self.assertEqual(self.pull(hub).returncode, 0)

    def test_a_pulled_model_is_found_by_its_name(self):
        hub = self.hub(dict(SMALL, **{"weights.safetensors": b"\x02\0\0\0\0\0\0\0{}"}))
        self.assertEqual(self.pull(hub, "--exclude", "*.md").returncode, 0)
        done = subprocess.run([PROGRAM, "run", "codelm", "--model", "owner/name", "--prompt", "x"], env=self.environment(hub), text=True,
                              capture_output=True)
        self.assertIn(f"snapshots/{COMMIT}", done.stderr)  # opened, and found wanting
        done = subprocess.run([PROGRAM, "run", "codelm", "--model", "owner/other", "--prompt", "x"], env=self.environment(hub), text=True,
                              capture_output=True)
        self.assertIn("ubique pull hf:owner/other", done.stderr)


if __name__ == "__main__":
    unittest.main()

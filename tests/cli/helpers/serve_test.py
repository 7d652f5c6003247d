"""`ubique serve` as a person and a program meet it: addresses, tokens, files, streams, kills. Usage: serve_test.py PROGRAM"""

import http.client
import json
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, os.path.dirname(__file__))
from studio import Studio  # noqa: E402

PROGRAM = os.path.abspath(sys.argv.pop(1))
HEADS = dict(verb="data", family="meshnet", name="synth", options={"count": 1, "size": 16})


class Serve(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        self.studios = []

    def tearDown(self):
        for studio in self.studios:
            studio.close()
        self.temporary.cleanup()

    def studio(self, *arguments, start=True, name="data"):
        environment = {"UBIQUE_CACHE_DIR": str(self.folder / "cache"), "HF_HOME": str(self.folder / "hf")}
        self.studios.append(Studio(PROGRAM, self.folder / name, *arguments, environment=environment))
        if start:
            self.studios[-1].start()
        return self.studios[-1]

    def raw(self, studio, text):
        """Status and body of the answer to these bytes."""
        with socket.create_connection(("127.0.0.1", studio.port), timeout=30) as own:
            own.sendall(text)
            answer = http.client.HTTPResponse(own)
            answer.begin()
            return answer.status, answer.read()


class Start(Serve):
    def test_it_answers_and_stops_cleanly(self):
        studio = self.studio()
        self.assertEqual(studio.ask("GET", "/healthz")[2], b"ok\n")
        self.assertEqual(studio.json("GET", "/api/session")["api"], 1)
        self.assertEqual(studio.stop(), 0)
        first = studio.told["address"]
        studio.start()
        self.assertNotEqual(first, "")
        self.assertEqual(studio.ask("GET", "/")[0], 200)

    def test_a_second_start_names_the_first_one(self):
        first = self.studio()
        second = self.studio(start=False)
        told = second.start()
        self.assertEqual((told["address"], told["running_already"]), (first.told["address"], True))
        self.assertEqual(second.end(), 0)
        self.assertEqual(first.ask("GET", "/healthz")[0], 200)

    def test_a_port_in_use_gives_the_next_free_one(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            studio = self.studio(start=False)
            studio.start("--port", str(port))
        self.assertGreater(studio.port, port)
        self.assertIn(f"port {port} is taken; the next free one is {studio.port}", studio.words())

    def test_beyond_this_machine_a_token_is_needed(self):
        studio = self.studio("--host", "0.0.0.0")
        token = studio.told["token"]
        self.assertEqual(studio.ask("GET", "/healthz")[0], 200)
        self.assertEqual(studio.ask("GET", "/api/jobs")[0], 401)
        self.assertEqual(studio.ask("GET", "/")[0], 200)  # the page, which asks for the token
        self.assertEqual(studio.ask("GET", "/?token=wrong")[0], 401)
        self.assertEqual(studio.ask("GET", "/v1/models")[0], 401)
        self.assertEqual(studio.ask("GET", "/api/jobs", headers={"Authorization": "Bearer wrong"})[0], 401)
        self.assertEqual(studio.ask("GET", "/api/jobs", headers={"Authorization": f"Bearer {token}"})[0], 200)
        status, headers, _ = studio.ask("GET", f"/?token={token}")
        self.assertEqual((status, headers["Location"]), (303, "/"))
        cookie = headers["Set-Cookie"].split(";")[0]
        self.assertEqual(studio.ask("GET", "/", headers={"Cookie": cookie})[0], 200)
        self.assertEqual((studio.data / "token").stat().st_mode & 0o777, 0o600)
        studio.stop()
        self.assertNotIn("token", studio.start())  # printed once, and still the same
        self.assertEqual(studio.ask("GET", "/api/jobs", headers={"Authorization": f"Bearer {token}"})[0], 200)
        self.assertNotIn(token, studio.words())

    def test_a_newer_database_is_refused_and_left_alone(self):
        studio = self.studio()
        studio.stop()
        path = studio.data / "studio.db"
        database = sqlite3.connect(path)
        database.execute("PRAGMA user_version = 77")
        database.commit()
        database.close()
        before = path.read_bytes()
        with self.assertRaisesRegex(RuntimeError, r"ended with 3: (?s:.*)newer version of this program"):
            studio.start()
        self.assertEqual(path.read_bytes(), before)

    def test_an_old_database_is_brought_up_to_date_with_its_jobs(self):
        studio = self.studio()
        studio.json("PATCH", "/api/queue", {"held": True})
        job = studio.json("POST", "/api/jobs", HEADS, 201)["id"]
        studio.stop()
        database = sqlite3.connect(studio.data / "studio.db")
        database.executescript("DROP TABLE settings; PRAGMA user_version = 1")
        database.close()
        studio.start()
        self.assertEqual(studio.finished(job)["state"], "succeeded")
        self.assertTrue((studio.data / "studio.db.v1").exists())


class Http(Serve):
    def upload(self, studio, name, content, field="file"):
        boundary = "----x"
        body = (f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"; filename="{name}"\r\n'
                f"Content-Type: image/png\r\n\r\n").encode() + content + f"\r\n--{boundary}--\r\n".encode()
        return studio.ask("POST", "/api/uploads", body, {"Content-Type": f"multipart/form-data; boundary={boundary}"})

    def test_uploads_are_what_their_content_says(self):
        studio = self.studio("--upload", "100KB")
        wave = b"RIFF\x24\0\0\0WAVEfmt " + bytes(range(256)) * 20
        status, _, text = self.upload(studio, '../../<b>"x.png', wave)
        told = json.loads(text)
        self.assertEqual((status, told["type"], told["mime"]), (201, "sound", "audio/wav"))
        self.assertNotIn("/", told["name"])
        self.assertNotIn("<", told["name"])
        address = f"/api/uploads/{told['id']}"
        self.assertEqual(studio.ask("GET", address)[2], wave)
        for asked, status, part in (("bytes=2-5", 206, wave[2:6]), ("bytes=-4", 206, wave[-4:]),
                                    ("bytes=5000-", 206, wave[5000:]), ("bytes=9999999-", 416, None)):
            got, headers, content = studio.ask("GET", address, headers={"Range": asked})
            self.assertEqual(got, status, asked)
            if part is not None:
                self.assertEqual(content, part, asked)
                self.assertEqual(headers["Accept-Ranges"], "bytes")
        status, headers, content = studio.ask("HEAD", address)
        self.assertEqual((status, int(headers["Content-Length"]), content), (200, len(wave), b""))
        self.assertEqual(self.upload(studio, "song.wav", b"\x7fELF\x02\x01\x01" + bytes(64))[0], 415)
        self.assertEqual(self.upload(studio, "x.txt", b"<html><script>")[0], 415)
        self.assertEqual(self.upload(studio, "x.txt", b"text", field="other")[0], 422)
        self.assertEqual(self.upload(studio, "x.txt", b"a" * 200_000)[0], 413)
        self.assertEqual(studio.ask("POST", "/api/uploads", b"not multipart")[0], 415)
        self.assertEqual(studio.ask("POST", "/api/uploads", b"--x\r\nbroken", {"Content-Type": "multipart/form-data; boundary=x"})[0], 400)
        self.assertEqual(studio.ask("GET", "/healthz")[0], 200)
        studio.wait_for(lambda: not list((studio.data / "temporary").iterdir()))
        self.assertEqual(len(list((studio.data / "uploads").iterdir())), 1)

    def test_an_upload_whose_client_vanishes_leaves_nothing(self):
        studio = self.studio()
        received = studio.data / "temporary"
        for _ in range(3):
            own = socket.create_connection(("127.0.0.1", studio.port), timeout=20)
            own.sendall(b"POST /api/uploads HTTP/1.1\r\nHost: localhost\r\nX-Ubique: 1\r\nContent-Length: 1000000\r\n"
                        b"Content-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\n"
                        b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n' + b"a" * 300_000)
            studio.wait_for(lambda: list(received.iterdir()))
            own.close()
            studio.wait_for(lambda: not list(received.iterdir()))
        self.assertEqual(list((studio.data / "uploads").iterdir()), [])

    def test_no_path_leaves_the_data_folder(self):
        studio = self.studio()
        for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/api/library/1/files/../../studio.db",
                     "/api/uploads/..%2f..%2fstudio.db", "/api/folders/..%2f..", "//etc/passwd", "/assets/%2e%2e/x",
                     "/api/uploads/a%00b", "/api/jobs/1%0d%0aX: y"):
            status, got = self.raw(studio, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            # An address without an ending may be the application's own: then it is its first page.
            if status != 200 or not got.startswith(b"<!doctype html>"):
                self.assertIn(status, (400, 404), path)
            self.assertNotIn(b"root:", got)
            self.assertNotIn(b"SQLite format", got)

    def test_what_no_honest_client_sends_is_refused(self):
        studio = self.studio()
        end = b"Connection: close\r\n\r\n"
        for sent, status in ((b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n" + end, 400),
                             (b"GET / HTTP/1.1\r\nHost: evil.example\r\n" + end, 403),
                             (b"GET / HTTP/1.1\r\n" + end, 403),
                             (b"GET /" + b"a" * 2000 + b" HTTP/1.1\r\nHost: localhost\r\n" + end, 414),
                             (b"POST /api/jobs HTTP/1.1\r\nHost: localhost\r\nX-Ubique: 1\r\nContent-Length: 2\r\n"
                              b"Transfer-Encoding: chunked\r\n" + end + b"{}", 400),
                             (b"BREW /pot HTTP/1.1\r\nHost: localhost\r\n" + end, 400),
                             (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400)):
            self.assertEqual(self.raw(studio, sent)[0], status, sent[:80])
        body = b'{"verb": "' + b"x" * 5_000_000 + b'"}'
        self.assertEqual(studio.ask("POST", "/api/jobs", body)[0], 413)
        self.assertEqual(studio.ask("POST", "/api/jobs", b"[" * 100_000)[0], 400)
        self.assertEqual(studio.ask("POST", "/api/jobs", HEADS, {"X-Ubique": ""})[0], 403)
        self.assertEqual(studio.ask("POST", "/api/jobs", HEADS, {"Origin": "http://evil.example"})[0], 403)
        self.assertEqual(studio.json("GET", "/api/jobs")["jobs"], [])

    def test_answers_are_hardened_and_connections_kept(self):
        studio = self.studio()
        own = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=20)
        for path in ("/", "/api/session", "/nowhere.js", "/healthz") * 5:
            _, headers, _ = studio.ask("GET", path, connection=own)
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff", path)
            self.assertIn("Content-Security-Policy", headers)
        own.close()

    def test_many_streams_and_clients_that_vanish_leave_it_well(self):
        studio = self.studio()
        open_streams, statuses = [], []
        for _ in range(500):
            own = socket.create_connection(("127.0.0.1", studio.port), timeout=20)
            own.sendall(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            open_streams.append(own)
        for own in open_streams:
            statuses.append(own.recv(12)[9:])
        self.assertEqual(set(statuses), {b"200", b"503"})
        self.assertEqual(statuses.count(b"200"), 100)
        self.assertEqual(studio.ask("GET", "/healthz")[0], 200)
        for own in open_streams:
            own.close()
        gone = lambda: b"ubique_event_streams 0\n" in studio.ask("GET", "/metrics")[2]  # noqa: E731
        studio.wait_for(gone)
        self.assertEqual(studio.events(), [])


class Jobs(Serve):
    def test_a_job_goes_from_the_queue_into_the_library(self):
        studio = self.studio()
        job = studio.json("POST", "/api/jobs", HEADS, 201)["id"]
        self.assertEqual(studio.finished(job)["state"], "succeeded")
        item = studio.json("GET", f"/api/library/{job}")
        names = [file["name"] for file in item["files"]]
        self.assertIn("log.txt", names)
        scan = next(file for file in item["files"] if file["name"].endswith(".nii.gz"))
        content = studio.ask("GET", scan["url"])[2]
        self.assertEqual((len(content), content[:2]), (scan["bytes"], b"\x1f\x8b"))
        told = studio.events()
        self.assertEqual([number for number, _, _ in told], list(range(1, len(told) + 1)))
        states = [data["state"] for _, kind, data in told if kind == "job"]
        self.assertEqual(states, ["queued", "running", "succeeded"])
        again = studio.events(after=2)
        self.assertEqual(again, told[2:])
        self.assertIsInstance(studio.json("GET", f"/api/jobs/{job}/outcome"), dict)
        failed = studio.add("data", "meshnet", "synth", options={"size": 5})
        told = studio.finished(failed)
        self.assertEqual((told["state"], told["error"]["kind"]), ("failed", "usage"))
        self.assertRegex(told["error"]["message"], r"^\[data\.phantom\] got 5 voxels")

    def test_a_model_that_is_removed_while_jobs_wait_is_named(self):
        studio = self.studio()
        model = self.folder / "songs"
        subprocess.run([PROGRAM, "data", "acestep", "new", "-o", model, "-q"], check=True, stdout=subprocess.DEVNULL)
        ref = studio.json("POST", "/api/models", {"path": str(model)}, 201)["ref"]
        self.make_a_song_as_aceforge_does(studio)
        studio.json("PATCH", "/api/queue", {"held": True})
        job = studio.add("run", "acestep", model=ref, options={"tags": "funk"})
        model.rename(self.folder / "elsewhere")
        studio.json("PATCH", "/api/queue", {"held": False})
        told = studio.finished(job)
        self.assertEqual(told["state"], "failed")
        self.assertIn("are gone", told["error"]["message"])

    def make_a_song_as_aceforge_does(self, studio):
        sent = {"X-Ubique": ""}  # its scripts know nothing of our header
        body = {"songDescription": "funk", "duration": 15, "inferenceSteps": 1, "seed": 3, "title": "Mine"}
        job = studio.json("POST", "/api/generate", body, headers=sent)["jobId"]
        told = studio.wait_for(lambda: (now := studio.json("GET", f"/api/generate/status/{job}"))["status"] in
                               ("succeeded", "failed") and now)
        self.assertEqual((told["status"], told["progressPercent"], told["error"]), ("succeeded", 100, None))
        sound = studio.ask("GET", told["result"]["audioUrls"][0])[2]
        self.assertEqual(sound[:4] + sound[8:12], b"RIFFWAVE")
        self.assertEqual(studio.ask("GET", f"/api/songs/{job}/audio")[2], sound)
        song = studio.json("GET", "/api/songs")["songs"][0]
        self.assertEqual((song["title"], round(song["duration"])), ("Mine", 15))
        self.assertTrue(studio.json("POST", f"/api/songs/{job}/like", headers=sent)["liked"])

    def test_kills_of_server_and_workers_lose_nothing_and_do_nothing_twice(self):
        chance = random.Random(3)
        studio = self.studio()
        data = studio.json("POST", "/api/jobs", HEADS | {"options": {"count": 6, "size": 24}}, 201)["id"]
        studio.finished(data)
        training = studio.add("train", "meshnet", options={
            "data": [f"library:{data}"], "size_bins": "quartiles", "channels": 3, "shape": "24,24,24", "spacing": 8,
            "epochs": 8, "threads": 1, "log_every": 1})
        ids = [data, training]
        for number in range(8):
            ids.append(studio.json("POST", "/api/jobs", HEADS | {"options": {"count": 1, "size": 16, "seed": number}}, 201)["id"])
        servers = workers = 0
        while servers < 3 or workers < 3:
            time.sleep(chance.uniform(0.05, 0.6))
            if all(job["state"] == "succeeded" for job in studio.jobs()):
                break
            running = studio.worker_ids()
            if servers < 3 and (chance.random() < 0.5 or workers == 3):
                studio.kill()
                studio.start()
                servers += 1
            elif running and workers < 3:
                os.kill(running[0], signal.SIGKILL)
                workers += 1
        self.assertGreaterEqual(servers + workers, 4, "all was over before anything was killed")
        for job in ids:
            told = studio.finished(job)
            self.assertEqual(told["state"], "succeeded", told["error"])
        self.check_each_once(studio, ids)
        metrics = [json.loads(line) for line in studio.ask("GET", f"/api/library/{training}/files/metrics.jsonl")[2].splitlines()]
        steps = [row["step"] for row in metrics if row.get("kind") == "step"]
        self.assertEqual(steps, list(range(steps[0], steps[0] + len(steps))))
        self.assertEqual(studio.stop(), 0)
        self.assertEqual(studio.worker_ids(), [])

    def check_each_once(self, studio, ids):
        self.assertEqual(sorted(int(job["id"]) for job in studio.jobs()), sorted(map(int, ids)))
        ended = [data["id"] for _, kind, data in studio.events() if kind == "job" and data.get("state") == "succeeded"]
        self.assertEqual(sorted(map(int, ended)), sorted(map(int, ids)))
        items = studio.json("GET", "/api/library?limit=500")["items"]
        self.assertEqual(sorted(int(item["id"]) for item in items), sorted(map(int, ids)))
        folders = sorted(int(path.name) for path in (studio.data / "results").iterdir())
        self.assertEqual(folders, sorted(map(int, ids)))

    def test_a_stop_keeps_a_running_job_for_the_next_start(self):
        studio = self.studio()
        job = studio.json("POST", "/api/jobs", HEADS | {"options": {"count": 40, "size": 48}}, 201)["id"]
        studio.wait_for(studio.worker_ids)
        self.assertEqual(studio.stop(), 0)
        self.assertEqual(studio.worker_ids(), [])
        studio.start()
        self.assertIn(studio.json("GET", f"/api/jobs/{job}")["state"], ("queued", "running"))
        studio.json("POST", f"/api/jobs/{job}/cancel")
        self.assertEqual(studio.finished(job)["state"], "cancelled")
        self.assertEqual(studio.json("GET", "/api/library")["items"], [])
        studio.json("POST", f"/api/jobs/{job}/retry")
        self.assertIn(studio.json("GET", f"/api/jobs/{job}")["state"], ("queued", "running"))

    def test_two_pages_see_the_same_while_jobs_are_added(self):
        studio = self.studio()
        studio.json("PATCH", "/api/queue", {"held": True})
        seen = [None, None]
        reach = lambda events: len(events) >= 30  # noqa: E731

        def page(number):
            seen[number] = studio.events(0, until=reach)

        pages = [threading.Thread(target=page, args=(number,)) for number in range(2)]
        for each in pages:
            each.start()
        for _ in range(30):
            studio.json("POST", "/api/jobs", HEADS, 201)
        for each in pages:
            each.join(60)
        self.assertEqual(seen[0], seen[1])
        self.assertEqual([number for number, _, _ in seen[0]], list(range(1, 31)))


if __name__ == "__main__":
    unittest.main()

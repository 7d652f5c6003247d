# SPDX-License-Identifier: Apache-2.0
"""`ubique serve` on a disk that is full: a small file system of the test's own, in memory. Usage: full_disk_test.py PROGRAM"""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, os.path.dirname(__file__))
from studio import Studio  # noqa: E402

PROGRAM = os.path.abspath(sys.argv.pop(1))
HEADS = dict(verb="data", family="meshnet", name="synth", options={"count": 1, "size": 16})
DISK = 96 << 20  # bytes; jobs begin with 64 MiB free
MOST_JOBS = 5000


def mounted(folder):
    return sys.platform == "linux" and subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", folder],
                                                      capture_output=True).returncode == 0


class FullDisk(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.disk = Path(self.temporary.name) / "disk"
        self.disk.mkdir()
        if not mounted(self.disk):
            self.temporary.cleanup()
            self.skipTest("no small disk can be made here: mounting one takes Linux and an administrator")
        environment = {"UBIQUE_CACHE_DIR": self.temporary.name + "/cache", "HF_HOME": self.temporary.name + "/hf"}
        self.studio = Studio(PROGRAM, self.disk / "data", environment=environment)
        self.studio.log_path = Path(self.temporary.name) / "log"  # the words of a server must not fill its disk
        self.studio.start()

    def tearDown(self):
        self.studio.close()
        subprocess.run(["umount", "-l", self.disk], check=True)
        self.temporary.cleanup()

    def fill(self, name="filler"):
        """Every byte that is left."""
        with open(self.disk / name, "wb", buffering=0) as file:
            for size in (1 << 20, 4096):
                try:
                    while file.write(bytes(size)) == size:
                        pass
                except OSError:
                    continue

    def make_room(self):
        (self.disk / "filler").unlink()

    def upload(self, content):
        body = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n' + content + b"\r\n--x--\r\n"
        return self.studio.ask("POST", "/api/uploads", body, {"Content-Type": "multipart/form-data; boundary=x"})

    def ask_until_refused(self):
        """Ids of the jobs that were taken before the database was full."""
        taken = []
        for _ in range(MOST_JOBS):
            status, _, text = self.studio.ask("POST", "/api/jobs", HEADS)
            if status == 201:
                taken.append(json.loads(text)["id"])
                continue
            self.assertEqual((status, json.loads(text)["error"]["kind"]), (507, "limit"), text)
            self.assertIn("the disk is full. Free some space", json.loads(text)["error"]["message"])
            return taken
        self.fail("the database was never full")

    def test_what_was_taken_is_done_when_there_is_room_again(self):
        item = self.studio.add(**HEADS)
        self.studio.finished(item)
        self.fill()
        taken = self.ask_until_refused()
        self.assertEqual(self.upload(b"text " * 100_000)[0], 507)
        self.assertEqual(self.studio.ask("GET", "/healthz")[0], 200)
        self.assertEqual(self.studio.json("GET", f"/api/library/{item}")["id"], item)
        self.studio.kill()
        self.studio.start()  # also on a disk that is full
        self.assertEqual([job["id"] for job in self.studio.jobs()], [*taken[::-1], item])
        self.make_room()
        for job in taken[:2] + taken[-1:]:
            self.assertEqual(self.studio.finished(job)["state"], "succeeded")
        self.assertEqual(self.upload(b"text")[0], 201)
        self.assertEqual(self.studio.ask("POST", "/api/jobs", HEADS)[0], 201)

    def test_deleting_works_and_makes_room(self):
        item = self.studio.add("data", "meshnet", "synth", options={"count": 4, "size": 64})
        self.studio.finished(item)
        self.fill()
        taken = self.ask_until_refused()
        self.assertEqual(self.studio.ask("DELETE", f"/api/library/{item}?confirm=yes")[0], 200)
        self.assertEqual(self.studio.json("GET", "/api/library")["items"], [])
        self.assertEqual(self.studio.ask("POST", "/api/jobs", HEADS)[0], 201)
        self.assertEqual(len(self.studio.jobs()), len(taken) + 2)

    def test_an_older_database_is_left_as_it_is_until_there_is_room_for_its_copy(self):
        job = self.studio.add(**HEADS)
        self.studio.finished(job)
        self.studio.stop()
        path = self.studio.data / "studio.db"
        database = sqlite3.connect(path)
        database.executescript("DROP TABLE settings; PRAGMA user_version = 1; PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()
        before = path.read_bytes()
        self.fill()
        with self.assertRaisesRegex(RuntimeError, r"ended with 3: (?s:.*)the disk is full"):
            self.studio.start()
        self.assertEqual(path.read_bytes(), before)
        self.make_room()
        self.studio.start()
        self.assertEqual(self.studio.json("GET", f"/api/jobs/{job}")["state"], "succeeded")
        self.assertTrue((self.studio.data / "studio.db.v1").exists())

    def test_jobs_wait_for_room_and_say_so(self):
        (self.disk / "filler").write_bytes(bytes(DISK - (40 << 20)))
        job = self.studio.add(**HEADS)
        told = self.studio.wait_for(lambda: (now := self.studio.json("GET", f"/api/jobs/{job}"))["waiting"] and now)
        self.assertEqual((told["state"], told["waiting"]), ("queued", "the disk is nearly full; 64.0 MiB must be free"))
        self.make_room()
        self.assertEqual(self.studio.finished(job)["state"], "succeeded")

    def test_a_job_that_meets_a_full_disk_fails_with_the_reason_and_leaves_nothing_half_made(self):
        job = self.studio.add("data", "meshnet", "synth", options={"count": 4000, "size": 32})
        out = self.studio.data / f"work/{job}-1/out"
        self.studio.wait_for(lambda: len(list(out.rglob("*.nii.gz"))) > 20)
        self.fill()
        told = self.studio.finished(job)
        self.assertEqual((told["state"], told["error"]["kind"]), ("failed", "input"))
        self.assertIn("the disk is full", told["error"]["message"])
        self.assertFalse(out.exists())
        self.make_room()
        after = self.studio.add(**HEADS)
        self.assertEqual(self.studio.finished(after)["state"], "succeeded")

    def test_a_training_on_a_full_disk_keeps_its_last_checkpoint_and_goes_on_from_it(self):
        data = self.studio.add("data", "meshnet", "synth", options={"count": 6, "size": 24})
        self.studio.finished(data)
        training = self.studio.add("train", "meshnet", options={
            "data": [f"library:{data}"], "size_bins": "quartiles", "channels": 3, "shape": "24,24,24", "spacing": 8, "epochs": 20,
            "threads": 1, "log_every": 1})
        checkpoint = self.studio.data / f"work/{training}-run/out/checkpoints/last/model.safetensors"
        self.studio.wait_for(checkpoint.exists)
        self.fill()
        self.studio.wait_for(lambda: not self.studio.worker_ids())
        self.assertTrue(checkpoint.exists())
        told = self.studio.wait_for(lambda: self.settled(training))
        self.make_room()
        if told["state"] == "running":
            told = self.studio.finished(training)
        self.assertEqual((told["state"], told["error"]["kind"]), ("failed", "input"))
        self.assertIn("disk is full", told["error"]["message"])
        self.studio.json("POST", f"/api/jobs/{training}/retry")
        self.assertEqual(self.studio.finished(training, 300)["state"], "succeeded")
        rows = self.studio.ask("GET", f"/api/library/{training}/files/metrics.jsonl")[2].splitlines()
        steps = [row["step"] for row in map(json.loads, rows) if row.get("kind") == "step"]
        self.assertEqual(steps, list(range(steps[0], steps[0] + len(steps))))

    def settled(self, job):
        """Its end is registered, or waits for room to be registered."""
        now = self.studio.json("GET", f"/api/jobs/{job}")
        waits = now["progress"] and now["progress"]["stage"].startswith("waiting for room on the disk")
        return now if now["state"] == "failed" or waits else None


if __name__ == "__main__":
    unittest.main()

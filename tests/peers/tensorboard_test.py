"""TensorBoard itself reads the event files of a run that was killed and resumed: every step once,
with the value that the resumed run gave it, as metrics.jsonl has them."""

import json
import os
import subprocess
import tempfile
import unittest

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

TESTS = os.path.join(os.path.dirname(os.environ["UBIQUE"]), "test_engine")
CASE = "run folder: a killed and resumed run for TensorBoard"


class TensorBoardReadsOurRuns(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.run_folder = os.path.join(cls.scratch.name, "run")
        subprocess.run([TESTS, f"--test-case={CASE}"], check=True, capture_output=True,
                       env={**os.environ, "UBIQUE_TEST_EVENTS": cls.run_folder})
        cls.events = EventAccumulator(cls.run_folder).Reload()
        with open(os.path.join(cls.run_folder, "metrics.jsonl"), encoding="utf-8") as file:
            cls.lines = [json.loads(line) for line in file]

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def scalars(self, tag):
        return [(event.step, event.value) for event in self.events.Scalars(tag)]

    def expected(self, kind, value):
        return [(line["step"], value(line)) for line in self.lines if line["kind"] == kind]

    def assert_same(self, tag, kind, value):
        found, expected = self.scalars(tag), self.expected(kind, value)
        self.assertEqual([step for step, _ in found], [step for step, _ in expected])
        for (_, got), (_, wanted) in zip(found, expected):
            self.assertAlmostEqual(got, wanted, delta=1e-6 * abs(wanted))

    def test_every_tag_is_there(self):
        self.assertEqual(set(self.events.Tags()["scalars"]), {
            "train/loss", "train/lr", "train/grad_norm", "train/scale", "train/samples_per_second",
            "train/dice", "memory/now", "memory/peak", "epoch/train_loss", "epoch/seconds",
            "validation/dice", "validation/avd"})

    def test_each_step_once_with_the_resumed_values(self):
        losses = self.scalars("train/loss")
        self.assertEqual([step for step, _ in losses], list(range(1, 21)))
        self.assertEqual(losses[7], (8, 10.0))
        self.assertAlmostEqual(losses[8][1], 1 / 9, places=6)

    def test_scalars_are_those_of_the_metrics_file(self):
        for key in ("loss", "lr", "grad_norm", "scale", "samples_per_second"):
            self.assert_same(f"train/{key}", "step", lambda line, key=key: line[key])
        self.assert_same("train/dice", "step", lambda line: line["metrics"]["dice"])
        self.assert_same("memory/peak", "step", lambda line: line["memory_peak"])
        self.assert_same("epoch/train_loss", "epoch", lambda line: line["train_loss"])
        self.assert_same("validation/avd", "epoch", lambda line: line["scores"]["avd"])

    def test_times_do_not_go_backwards(self):
        times = [event.wall_time for event in self.events.Scalars("train/loss")]
        self.assertEqual(times, sorted(times))
        self.assertGreater(times[0], 1.7e9)


if __name__ == "__main__":
    unittest.main()

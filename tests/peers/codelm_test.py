# SPDX-License-Identifier: Apache-2.0
"""Tiny models of every architecture, made and saved by transformers: `ubique` completes them with the same tokens and
has the same loss; adapters of peft and what `ubique convert` writes open in transformers, peft and mlx-lm with the same logits."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import mlx.core
import numpy as np
import torch
import transformers
from mlx_lm.tuner.utils import load_adapters
from mlx_lm.utils import load_model
from peft import LoraConfig, PeftModel, get_peft_model
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

transformers.utils.logging.disable_progress_bar()
UBIQUE = os.environ["UBIQUE"]
TEXT = "def add(first, second):\n    return first + second\n\n\nclass Point:\n    def __init__(self, x, y):\n        self.x, self.y = x, y\n"
PROMPT = "def add(first"
SIZES = dict(vocab_size=300, hidden_size=64, intermediate_size=160, num_hidden_layers=3, num_attention_heads=4,
             num_key_value_heads=2, max_position_embeddings=256, bos_token_id=0, eos_token_id=0, pad_token_id=None)


def configurations():
    t = transformers
    phi = dict(SIZES, num_key_value_heads=4)
    return {
        "gpt_bigcode": t.GPTBigCodeConfig(vocab_size=300, n_embd=64, n_layer=3, n_head=4, n_inner=160, n_positions=256, bos_token_id=0,
                                          eos_token_id=0),
        "starcoder2": t.Starcoder2Config(**SIZES, sliding_window=24),
        "phi": t.PhiConfig(**phi),
        "phi, less rotation": t.PhiConfig(**phi, partial_rotary_factor=0.25),
        "llama": t.LlamaConfig(**SIZES),
        "llama, tied and biased": t.LlamaConfig(**SIZES, tie_word_embeddings=True, attention_bias=True, mlp_bias=True),
        "llama 3": t.LlamaConfig(**SIZES, rope_parameters={"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0,
                                                           "high_freq_factor": 4.0, "original_max_position_embeddings": 64}),
        "qwen2": t.Qwen2Config(**SIZES),
        "qwen2, yarn": t.Qwen2Config(**SIZES, rope_parameters={"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0,
                                                               "original_max_position_embeddings": 64}),
        "qwen2 with a window": t.Qwen2Config(**SIZES, use_sliding_window=True, sliding_window=16, max_window_layers=1),
        "qwen3": t.Qwen3Config(**SIZES, head_dim=32),
    }


def save_tokenizer(folder):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=["<|endoftext|>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
                                  show_progress=False)
    tokenizer.train_from_iterator([TEXT], trainer)
    tokenizer.save(str(folder / "tokenizer.json"))
    return tokenizer


def make_model(config, folder):
    torch.manual_seed(7)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    with torch.no_grad():  # nothing is 0 or 1, and logits are far apart
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.08)
    model.save_pretrained(folder)
    return model, save_tokenizer(folder)


def ubique(*arguments):
    done = subprocess.run([UBIQUE, *map(str, arguments), "--json", "-q"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def loss_of(model, tokenizer):
    ids = torch.tensor([tokenizer.encode(TEXT).ids + [0]])
    with torch.no_grad():
        return model(input_ids=ids, labels=ids).loss.item()


class Codelm(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        (self.folder / "text.jsonl").write_text(json.dumps({"text": TEXT}) + "\n")

    def tearDown(self):
        self.temporary.cleanup()

    def our_loss(self, path, *more):
        return ubique("evaluate", "codelm", "--model", path, "-d", self.folder / "text.jsonl", "--device", "cpu", "--dtype", "f32", *more)["loss"]

    def train_adapter(self, model, run):
        done = subprocess.run([UBIQUE, "train", "codelm", "--model", str(model), "--lora", "--lora-rank", "4", "--sequences",
                               str(self.folder / "text.jsonl"), "--sequence-length", "64", "-e", "4", "--lr", "1e-2", "-o", str(run),
                               "--device", "cpu", "-q"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_every_architecture_completes_and_scores_as_transformers_does(self):
        for name, config in configurations().items():
            with self.subTest(name):
                folder = self.folder / name.replace(" ", "-").replace(",", "")
                model, tokenizer = make_model(config, folder)
                ids = torch.tensor([tokenizer.encode(PROMPT).ids])
                with torch.no_grad():
                    wanted = model.generate(ids, max_new_tokens=48, do_sample=False, eos_token_id=None, pad_token_id=0)[0, ids.shape[1]:]
                made = ubique("run", "codelm", "--model", folder, "--prompt", PROMPT, "--temperature", 0, "--max-new-tokens", 48,
                              "--device", "cpu", "--dtype", "f32")["tokens"]
                wanted = wanted.tolist()
                wanted = wanted[:wanted.index(0)] if 0 in wanted else wanted  # ubique ends at the end-of-text token
                self.assertEqual(made, wanted)
                self.assertAlmostEqual(self.our_loss(folder), loss_of(model, tokenizer), delta=1e-5)

    def test_a_folder_written_here_opens_in_transformers(self):
        for name, config in configurations().items():
            with self.subTest(name):
                folder = self.folder / name.replace(" ", "-").replace(",", "")
                model, tokenizer = make_model(config, folder)
                ubique("convert", "codelm", folder, "-o", folder / "again", "--format", "huggingface")
                again = transformers.AutoModelForCausalLM.from_pretrained(folder / "again").eval()
                self.assertEqual(loss_of(again, tokenizer), loss_of(model, tokenizer))

    def test_an_adapter_for_mlx_computes_in_mlx_lm_what_peft_computes(self):
        for name, allowed in (("llama", 1e-5), ("qwen3", 1e-5), ("gpt_bigcode", 1e-3)):  # mlx-lm's GPT-BigCode has another GELU
            with self.subTest(name):
                folder = self.folder / name
                model, tokenizer = make_model(configurations()[name], folder)
                self.train_adapter(folder, folder / "run")
                for form in ("peft", "mlx"):
                    ubique("convert", "codelm", folder / "run", "-o", folder / form, "--format", form)
                ids = tokenizer.encode(TEXT).ids
                with torch.no_grad():
                    base = model(input_ids=torch.tensor([ids])).logits[0].numpy()
                    wanted = PeftModel.from_pretrained(model, folder / "peft").eval()(input_ids=torch.tensor([ids])).logits[0].numpy()
                made = np.array(load_adapters(load_model(folder)[0], str(folder / "mlx")).eval()(mlx.core.array([ids]))[0])
                self.assertLess(np.abs(made - wanted).max() / np.abs(wanted).max(), allowed)
                self.assertGreater(np.abs(base - wanted).max() / np.abs(wanted).max(), 10 * allowed)

    def test_an_adapter_goes_both_ways(self):
        model, tokenizer = make_model(configurations()["llama"], self.folder / "llama")
        adapted = get_peft_model(model, LoraConfig(r=4, lora_alpha=8, target_modules=["q_proj", "down_proj"]))
        with torch.no_grad():
            for name, parameter in adapted.named_parameters():
                if "lora_B" in name:
                    parameter.normal_(0, 0.1)
        adapted.save_pretrained(self.folder / "adapter")
        wanted = loss_of(adapted.eval(), tokenizer)
        self.assertAlmostEqual(self.our_loss(self.folder / "llama", "--adapter", self.folder / "adapter"), wanted, delta=1e-5)
        self.train_adapter(self.folder / "llama", self.folder / "run")
        ubique("convert", "codelm", self.folder / "run", "-o", self.folder / "ours", "--format", "peft")
        base = transformers.AutoModelForCausalLM.from_pretrained(self.folder / "llama").eval()
        before = loss_of(base, tokenizer)
        ours = PeftModel.from_pretrained(base, self.folder / "ours").eval()
        self.assertLess(loss_of(ours, tokenizer), before)
        self.assertAlmostEqual(self.our_loss(self.folder / "run"), loss_of(ours, tokenizer), delta=1e-5)


if __name__ == "__main__":
    unittest.main()

"""A network that was trained here, as a file that torch.load opens, called by PyTorch on the same puzzles: it
wishes to halt as much and gives the same answers as `ubique run`. Written out from the shapes of the weights."""

import json
import os
import subprocess
import tempfile
import unittest

import numpy as np
import torch
from torch.nn.functional import scaled_dot_product_attention, silu

UBIQUE = os.environ["UBIQUE"]
CYCLES, STEPS, PREFIX, HEADS = 2, 2, 2, 2
SETTINGS = ["arch.hidden_size=32", f"arch.num_heads={HEADS}", f"arch.puzzle_emb_len={PREFIX}", f"arch.H_cycles={CYCLES}",
            f"arch.L_cycles={CYCLES}", f"arch.halt_max_steps={STEPS}", "global_batch_size=8", "epochs=6", "eval_interval=6",
            "lr=1e-3", "lr_warmup_steps=2", "puzzle_emb_lr=1e-2"]


def norm(x, dim=-1):
    return x * torch.rsqrt(x.square().mean(dim, keepdim=True) + 1e-5)


def turned(x):  # (B, L, heads, size)
    size = x.shape[-1]
    angles = torch.outer(torch.arange(x.shape[1]).float(), 10000 ** (-torch.arange(0, size, 2) / size)).repeat(1, 2)
    first, second = x.chunk(2, -1)
    return x * angles.cos()[:, None] + torch.cat((-second, first), -1) * angles.sin()[:, None]


class Network:
    def __init__(self, path):
        state = torch.load(path)
        self.weights = {name.removeprefix("model.inner."): value.float() for name, value in state.items()}

    def gated(self, x, name):
        gate, up = (x @ self.weights[name + ".gate_up_proj.weight"].T).chunk(2, -1)
        return (silu(gate) * up) @ self.weights[name + ".down_proj.weight"].T

    def attention(self, x, name):
        q, k, v = (x @ self.weights[name + ".qkv_proj.weight"].T).view(*x.shape[:2], 3, HEADS, -1).unbind(2)
        mixed = scaled_dot_product_attention(*(t.transpose(1, 2) for t in (turned(q), turned(k), v)))
        return mixed.transpose(1, 2).reshape(x.shape) @ self.weights[name + ".o_proj.weight"].T

    def call(self, x):
        for layer in ("L_level.layers.0.", "L_level.layers.1."):
            if layer + "mlp_t.down_proj.weight" in self.weights:
                x = norm(x + self.gated(x.transpose(1, 2), layer + "mlp_t").transpose(1, 2), 1)
            else:
                x = norm(x + self.attention(x, layer + "self_attn"))
            x = norm(x + self.gated(x, layer + "mlp"))
        return x

    def solve(self, tokens):
        w = self.weights
        x = w["embed_tokens.embedding_weight"][tokens]  # (B, S, H)
        prefix = torch.zeros(len(x), PREFIX, x.shape[2])
        prefix[:, 0] = w["puzzle_emb.weights"][0]
        x = torch.cat((prefix, x), 1) * x.shape[2] ** 0.5
        high, low = (w[name].expand(x.shape) for name in ("H_init", "L_init"))
        for _ in range(STEPS * CYCLES):
            for _ in range(CYCLES):
                low = self.call(low + high + x)
            high = self.call(high + low)
        return (high[:, PREFIX:] @ w["lm_head.weight"].T).argmax(-1), high[:, 0] @ w["q_head.weight"][0] + w["q_head.bias"][0]


class TrmFilesOpenInPyTorch(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def ubique(self, *arguments):
        done = subprocess.run([UBIQUE, *arguments, "-q"], capture_output=True, text=True, cwd=self.folder.name)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_answers_are_the_same(self):
        self.ubique("data", "trm", "sudoku", "--size", "4", "--train", "64", "--test", "40", "-o", "puzzles")
        inputs = np.load(os.path.join(self.folder.name, "puzzles", "test", "all__inputs.npy"))
        for name, more in {"attention": [], "mixing": ["arch.mlp_t=true", "arch.pos_encodings=none"]}.items():
            with self.subTest(name):
                self.ubique("train", "trm", "-d", "puzzles", "-o", name, "--device", "cpu", "--dtype", "f32", *SETTINGS, *more)
                model = f"{name}/checkpoints/last"
                self.ubique("convert", "trm", model, "--format", "pt", "-o", f"files/{name}/step_1")
                ours = json.loads(self.ubique("run", "trm", "puzzles", "--model", model, "--device", "cpu", "--dtype", "f32",
                                              "--fixed", "--json"))["puzzles"]
                with torch.no_grad():
                    answers, wishes = Network(os.path.join(self.folder.name, "files", name, "step_1")).solve(
                        torch.from_numpy(inputs).long())
                self.assertEqual(len(ours), 40)
                same = [(puzzle["solution"] == "".join("?.1234"[t] for t in answer)) for puzzle, answer in zip(ours, answers)]
                self.assertGreaterEqual(sum(same), 39)  # two tokens may be as likely but for rounding
                for puzzle, wish in zip(ours, wishes):
                    self.assertAlmostEqual(puzzle["q"], wish.item(), delta=2e-3)
                self.assertGreater(len({puzzle["solution"] for puzzle in ours}), 20)


if __name__ == "__main__":
    unittest.main()

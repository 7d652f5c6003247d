#!/usr/bin/env python3
"""Hugging Face transformers (with peft for adapters) training beside bench_codelm: the same shape, random weights and tokens,
f32 weights under bf16 autocast (a frozen base in bf16), fused AdamW, gradients clipped.
  codelm_train.py cuda train|lora tiny|1b LENGTH BATCH [ROUNDS]
One JSON line for each way: eager and compiled. COMPILE=0: eager alone."""
import json
import os
import sys
import time

import torch

from codelm import make_model

WARM_UP = 3


class Training:
    """Updates of a whole model, or of adapters of rank 16 on every linear layer of its blocks."""

    def __init__(self, mode, shape, device, length, batch):
        self.device = device
        model = make_model(shape, device, torch.float32 if mode == "train" else torch.bfloat16)
        if mode == "lora":
            from peft import LoraConfig, get_peft_model

            targets = ["c_attn", "attn.c_proj", "c_fc", "mlp.c_proj"]
            model = get_peft_model(model, LoraConfig(r=16, lora_alpha=32, target_modules=targets))
        self.model = model.train()
        self.parameters = [each for each in model.parameters() if each.requires_grad]
        self.optimizer = torch.optim.AdamW(self.parameters, lr=1e-5, fused=True)
        self.ids = torch.randint(49152, (batch, length), device=device)

    def loss(self):
        with torch.autocast(self.device, torch.bfloat16):
            return self.model(self.ids, labels=self.ids, use_cache=False).loss

    def update(self):
        self.loss().backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, 1.0, foreach=True)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def milliseconds(self):
        torch.cuda.synchronize()
        start = time.perf_counter()
        self.update()
        torch.cuda.synchronize()
        return 1000 * (time.perf_counter() - start)


def report(way, training, rounds):
    for _ in range(WARM_UP):
        training.update()
    torch.cuda.reset_peak_memory_stats()
    times = sorted(training.milliseconds() for _ in range(rounds))
    median = times[len(times) // 2]
    print(json.dumps({"peer": f"transformers {way}", "median_ms": median, "best_ms": times[0],
                      "tokens_per_s": 1000 * training.ids.numel() / median,
                      "peak_bytes": torch.cuda.max_memory_allocated()}), flush=True)


def main():
    device, mode, shape, length, batch, *rest = sys.argv[1:]
    assert mode in ("train", "lora"), mode
    training = Training(mode, shape, device, int(length), int(batch))
    rounds = int(rest[0]) if rest else 5
    report("eager", training, rounds)
    if os.environ.get("COMPILE", "1") == "1":
        training.model = torch.compile(training.model)
        report("compiled", training, rounds)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Hugging Face transformers decoding greedily beside bench_codelm: the same shape, random weights, a static cache.
  codelm.py DEVICE decode tiny|1b PROMPT NEW [ROUNDS] [DTYPE] [BATCH]
One JSON line for each way: eager and compiled."""
import json
import os
import sys
import time

import torch
from transformers import GPTBigCodeConfig, GPTBigCodeForCausalLM, StaticCache

from finite import check_finite

SHAPES = {
    "tiny": dict(n_embd=768, n_layer=20, n_head=12, n_inner=3072),
    "1b": dict(n_embd=2048, n_layer=24, n_head=16, n_inner=8192),
}


def make_model(shape, device, dtype):
    torch.manual_seed(1)
    config = GPTBigCodeConfig(n_positions=8192, vocab_size=49152, multi_query=True, attn_implementation="sdpa",
                              **SHAPES[shape])
    model = GPTBigCodeForCausalLM(config).to(device=device, dtype=dtype).eval()
    check_finite(model)
    return model


class Decoding:
    """A prompt and greedy steps through a cache of fixed size."""

    def __init__(self, model, prompt, new, batch):
        self.model, self.new, self.device = model, new, model.device
        generator = torch.Generator().manual_seed(3)
        self.prompt = torch.randint(49152, (batch, prompt), generator=generator).to(self.device)
        self.cache = StaticCache(config=model.config, max_cache_len=prompt + new + 1)
        self.step = self.plain_step

    def plain_step(self, ids, position):
        output = self.model(ids, past_key_values=self.cache, cache_position=position, position_ids=position[None],
                            use_cache=True)
        return output.logits[:, -1].argmax(-1, keepdim=True)

    def wait(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    @torch.inference_mode()
    def tokens_per_second(self):
        self.cache.reset()
        length = self.prompt.shape[1]
        ids = self.plain_step(self.prompt, torch.arange(length, device=self.device))
        position = torch.tensor([length], device=self.device)
        self.wait()
        start = time.perf_counter()
        for _ in range(self.new):
            ids = self.step(ids, position).clone()
            position += 1
        self.wait()
        return self.prompt.shape[0] * self.new / (time.perf_counter() - start)


def report(way, decoding, rounds):
    decoding.tokens_per_second()  # warms up, compiles
    speeds = sorted(decoding.tokens_per_second() for _ in range(rounds))
    print(json.dumps({"peer": f"transformers {way}", "median_tokens_per_s": speeds[len(speeds) // 2],
                      "best_tokens_per_s": speeds[-1], "threads": torch.get_num_threads()}), flush=True)


def main():
    device, mode, shape, prompt, new, *rest = sys.argv[1:]
    assert mode == "decode", mode
    rounds, dtype, batch = (rest + ["3", "float32", "1"][len(rest):])[:3]
    model = make_model(shape, device, getattr(torch, dtype))
    decoding = Decoding(model, int(prompt), int(new), int(batch))
    report("eager", decoding, int(rounds))
    if os.environ.get("COMPILE", "1") == "1":
        decoding.step = torch.compile(decoding.plain_step, mode="max-autotune" if device == "cuda" else "default")
        report("compiled", decoding, int(rounds))


if __name__ == "__main__":
    main()

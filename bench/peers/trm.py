#!/usr/bin/env python3
"""A Tiny Recursive Model in plain PyTorch, eager and compiled, beside bench_trm: the same sizes, dtype and work.
  trm.py DEVICE train|run sudoku_mlp|sudoku_att|maze_att BATCH [ROUNDS] [PIECES]
Weights are f32 and cast to bf16 where they are used, as the original has it. One JSON line per way."""
import json
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

from finite import check_finite

SIZES = {  # tokens, vocabulary, calls that better the latent state, token mixing
    "sudoku_mlp": (81, 11, 6, True),
    "sudoku_att": (81, 11, 6, False),
    "maze_att": (900, 6, 4, False),
}
HIDDEN, HEADS, PREFIX, ROUNDS_OF_CALLS, LAYERS, STEPS = 512, 8, 16, 3, 2, 16


def rms_norm(x):
    wide = x.float()
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-5)).to(x.dtype)


class Cast(nn.Linear):
    def forward(self, x):
        return F.linear(x, self.weight.to(x.dtype), None if self.bias is None else self.bias.to(x.dtype))


class SwiGLU(nn.Module):
    def __init__(self, width):
        super().__init__()
        inner = -(-round(4 * width * 2 / 3) // 256) * 256
        self.gate_up = Cast(width, 2 * inner, bias=False)
        self.down = Cast(inner, width, bias=False)

    def forward(self, x):
        gate, up = self.gate_up(x).chunk(2, dim=-1)
        return self.down(F.silu(gate) * up)


class Attention(nn.Module):
    def __init__(self, length):
        super().__init__()
        self.qkv = Cast(HIDDEN, 3 * HIDDEN, bias=False)
        self.out = Cast(HIDDEN, HIDDEN, bias=False)
        size = HIDDEN // HEADS
        angles = torch.outer(torch.arange(length).float(), 10000 ** (-torch.arange(0, size, 2).float() / size))
        both = torch.cat((angles, angles), -1)
        self.register_buffer("cos", both.cos()[:, None])
        self.register_buffer("sin", both.sin()[:, None])

    def rotate(self, x):
        wide = x.float()
        a, b = wide.chunk(2, -1)
        return (wide * self.cos + torch.cat((-b, a), -1) * self.sin).to(x.dtype)

    def forward(self, x):
        q, k, v = self.qkv(x).view(*x.shape[:2], 3, HEADS, -1).unbind(2)
        q, k = self.rotate(q), self.rotate(k)
        mixed = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2))
        return self.out(mixed.transpose(1, 2).reshape(x.shape))


class Block(nn.Module):
    def __init__(self, length, tokens):
        super().__init__()
        self.tokens = tokens
        self.mix = SwiGLU(length) if tokens else Attention(length)
        self.mlp = SwiGLU(HIDDEN)

    def forward(self, x):
        if self.tokens:
            turned = x.transpose(1, 2)
            x = rms_norm(turned + self.mix(turned)).transpose(1, 2)
        else:
            x = rms_norm(x + self.mix(x))
        return rms_norm(x + self.mlp(x))


class Trm(nn.Module):
    def __init__(self, seq, vocab, cycles, tokens):
        super().__init__()
        self.cycles = cycles
        self.embedding = nn.Embedding(vocab, HIDDEN)
        self.blocks = nn.ModuleList(Block(seq + PREFIX, tokens) for _ in range(LAYERS))
        self.head = Cast(HIDDEN, vocab, bias=False)
        self.halt = Cast(HIDDEN, 2)

    def call(self, h, injected):
        h = h + injected
        for block in self.blocks:
            h = block(h)
        return h

    def one_round(self, x, high, low):
        for _ in range(self.cycles):
            low = self.call(low, high + x)
        return self.call(high, low), low

    def forward(self, inputs, high, low):
        x = F.pad(F.embedding(inputs, self.embedding.weight.bfloat16()), (0, 0, PREFIX, 0)) * HIDDEN**0.5
        with torch.no_grad():
            for _ in range(ROUNDS_OF_CALLS - 1):
                high, low = self.one_round(x, high, low)
        high, low = self.one_round(x, high, low)
        return self.head(high[:, PREFIX:]), self.halt(high[:, 0]).float(), high.detach(), low.detach()


def stablemax_loss(logits, labels):
    x = logits.double()
    s = torch.where(x < 0, 1 / (1 - x + 1e-30), x + 1)  # a logit of 1 must not divide by zero: its gradient is NaN then
    logs = torch.log(s / s.sum(-1, keepdim=True))
    return -logs.gather(-1, labels[..., None]).squeeze(-1)


def training_loss(model, inputs, labels, high, low):
    logits, halt, high, low = model(inputs, high, low)
    right = (logits.argmax(-1) == labels).all(-1).float()
    tokens = stablemax_loss(logits, labels).mean(-1).sum()
    halting = F.binary_cross_entropy_with_logits(halt[:, 0], right, reduction="sum")
    return (tokens + 0.5 * halting) / inputs.shape[0], high, low


def work_of(mode, model, compiled, batch, seq, vocab, device):
    inputs = torch.randint(0, vocab, (batch, seq), device=device)
    labels = torch.randint(0, vocab, (batch, seq), device=device)
    start = torch.randn(2, batch, seq + PREFIX, HIDDEN, device=device, dtype=torch.bfloat16)
    if mode == "run":
        step = torch.compile(model) if compiled else model

        @torch.no_grad()
        def solve():
            high, low = start
            for _ in range(STEPS):
                logits, _, high, low = step(inputs, high, low)
            return logits.argmax(-1)

        return solve
    loss_of = torch.compile(training_loss) if compiled else training_loss
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=1.0, fused=True)
    averages = [parameter.detach().clone() for parameter in model.parameters()]
    carry = list(start)

    def update():
        loss, carry[0], carry[1] = loss_of(model, inputs, labels, carry[0], carry[1])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        torch._foreach_lerp_(averages, [p.detach() for p in model.parameters()], 0.001)

    return update


def main():
    device, mode, name, batch = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    rounds = int(sys.argv[5]) if len(sys.argv) > 5 else 5
    pieces = int(sys.argv[6]) if len(sys.argv) > 6 else 1
    seq, vocab, cycles, tokens = SIZES[name]
    wait = torch.cuda.synchronize if device == "cuda" else (lambda: None)
    for way in ("eager", "compiled"):
        torch.manual_seed(1)
        if device == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        model = Trm(seq, vocab, cycles, tokens).to(device)
        work = work_of(mode, model, way == "compiled", batch, seq, vocab, device)
        for _ in range(3):
            work()
        times = []
        for _ in range(rounds):
            wait()
            begin = time.perf_counter()
            for _ in range(pieces):
                work()
            wait()
            times.append((time.perf_counter() - begin) * 1000 / pieces)
        check_finite(model)
        peak = torch.cuda.max_memory_allocated() if device == "cuda" else 0
        print(json.dumps({"program": f"PyTorch {torch.__version__} {way}", "mode": mode, "model": name, "batch": batch,
                          "best_ms": min(times), "median_ms": sorted(times)[len(times) // 2], "measured_bytes": peak}))


if __name__ == "__main__":
    main()

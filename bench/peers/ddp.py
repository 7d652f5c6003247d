"""What bench_dist times, in PyTorch's DistributedDataParallel over Gloo: f32, one thread for each process, the
same sizes, losses, AdamW and averaged weights for TRM. Its gradients are reduced while backward runs.
  ddp.py meshnet|trm [ROUNDS] [PIECES]     started with torchrun's variables; rank 0 prints one JSON line"""

import json
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel

sys.path.insert(0, str(Path(__file__).parent))
import trm as peer_trm  # noqa: E402

DILATIONS = [1, 2, 4, 8, 16, 16, 8, 4, 2]
SCAN, PUZZLES, CHANNELS = 64, 8, 5


def meshnet_step():
    layers, width = [], 1
    for d in DILATIONS:
        layers += [nn.Conv3d(width, CHANNELS, 3, padding=d, dilation=d), nn.BatchNorm3d(CHANNELS), nn.ReLU(inplace=True)]
        width = CHANNELS
    model = nn.Sequential(*layers, nn.Conv3d(width, 2, 1))
    image = torch.rand(1, 1, SCAN, SCAN, SCAN)
    mask = torch.zeros(1, SCAN, SCAN, SCAN, dtype=torch.long)
    mask[:, : SCAN // 4] = 1
    weight = torch.tensor([0.5, 1.0])
    parallel = wrap(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)

    def step():
        F.cross_entropy(parallel(image), mask, weight=weight, label_smoothing=0.01).backward()
        update(optimizer)

    return step


def trm_step():
    peer_trm.HIDDEN, peer_trm.HEADS = 128, 2
    model = peer_trm.Trm(81, 11, 6, True)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(0.5)
    model.forward = forward_f32.__get__(model)
    inputs, labels = torch.randint(0, 11, (PUZZLES, 81)), torch.randint(0, 11, (PUZZLES, 81))
    state = list(torch.randn(2, PUZZLES, 81 + peer_trm.PREFIX, 128))
    parallel = wrap(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, betas=(0.9, 0.95), weight_decay=1.0, fused=True)
    averages = [parameter.detach().clone() for parameter in model.parameters()]

    def step():
        loss, state[0], state[1] = peer_trm.training_loss(parallel, inputs, labels, *state)
        loss.backward()
        update(optimizer)
        torch._foreach_lerp_(averages, [p.detach() for p in model.parameters()], 0.001)

    return step


def forward_f32(self, inputs, high, low):
    x = F.pad(F.embedding(inputs, self.embedding.weight), (0, 0, peer_trm.PREFIX, 0)) * peer_trm.HIDDEN**0.5
    with torch.no_grad():
        for _ in range(peer_trm.ROUNDS_OF_CALLS - 1):
            high, low = self.one_round(x, high, low)
    high, low = self.one_round(x, high, low)
    return self.head(high[:, peer_trm.PREFIX:]), self.halt(high[:, 0]), high.detach(), low.detach()


def wrap(model):
    return DistributedDataParallel(model) if dist.get_world_size() > 1 else model


def update(optimizer):
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else "meshnet"
    rounds, pieces = (int(sys.argv[i]) if len(sys.argv) > i else usual for i, usual in ((2, 5), (3, 1)))
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo")
    step = trm_step() if name == "trm" else meshnet_step()
    for _ in range(3):
        step()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(pieces):
            step()
        times.append((time.perf_counter() - start) * 1000 / pieces)
    if dist.get_rank() == 0:
        print(json.dumps({"program": "PyTorch DDP", "model": name, "processes": dist.get_world_size(),
                          "ms": round(sorted(times)[len(times) // 2], 1)}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

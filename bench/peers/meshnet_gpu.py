"""MeshNet in PyTorch on a GPU, the ways a careful user would try: eager and compiled, both layouts,
plain and with batch norms folded and channels padded. One JSON line per case, like bench_meshnet.
  meshnet_gpu.py train|run CHANNELS SIZE [REPEATS]"""

import json
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

from finite import check_finite

DILATIONS = [1, 2, 4, 8, 16, 16, 8, 4, 2]
torch.backends.cudnn.benchmark = True


class Plain(nn.Module):
    def __init__(self, channels):
        super().__init__()
        layers, width = [], 1
        for d in DILATIONS:
            layers += [nn.Conv3d(width, channels, 3, padding=d, dilation=d), nn.BatchNorm3d(channels), nn.ReLU(inplace=True)]
            width = channels
        self.network = nn.Sequential(*layers, nn.Conv3d(channels, 2, 1))

    def forward(self, x):
        return self.network(x)


class Folded(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.convs = nn.ModuleList(
            nn.Conv3d(1 if i == 0 else channels, channels, 3, padding=d, dilation=d, bias=False)
            for i, d in enumerate(DILATIONS))
        self.biases = nn.ParameterList(nn.Parameter(torch.zeros(1, channels, 1, 1, 1)) for _ in DILATIONS)
        self.out = nn.Conv3d(channels, 2, 1)

    def forward(self, x):
        for conv, bias in zip(self.convs, self.biases):
            x = F.relu_(conv(x).add_(bias))
        return self.out(x)


def median_ms(work, repeats):
    for _ in range(3):
        work()
    torch.cuda.synchronize()
    times = []
    for _ in range(repeats):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        work()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return sorted(times)[len(times) // 2]


def report(name, channels, size, mode, work, repeats):
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    try:
        ms = median_ms(work, repeats)
    except Exception as error:  # a way that does not work is a finding
        ms = None
        name += f" failed: {str(error)[:80]}"
    print(json.dumps({"program": "PyTorch " + name, "mode": mode, "channels": channels, "size": size,
                      "median_ms": ms, "measured_bytes": torch.cuda.max_memory_allocated()}), flush=True)


def inference(channels, size, repeats):
    padded = (channels + 7) // 8 * 8
    for layout in (torch.contiguous_format, torch.channels_last_3d):
        x = torch.randn(1, 1, size, size, size, device="cuda", dtype=torch.half).to(memory_format=layout)
        for label, model in (("plain", Plain(channels)), ("folded, padded", Folded(padded))):
            if label != "plain" and layout is torch.contiguous_format:
                continue
            model = model.cuda().half().to(memory_format=layout).eval()
            short = "channels_last" if layout is torch.channels_last_3d else "contiguous"
            with torch.inference_mode():
                report(f"eager {label} {short}", channels, size, "run", lambda: model(x), repeats)
                if layout is torch.channels_last_3d and label != "plain":
                    torch._dynamo.reset()
                    compiled = torch.compile(model)
                    report(f"compiled {label} {short}", channels, size, "run", lambda: compiled(x), repeats)


def training(channels, size, repeats):
    for layout in (torch.contiguous_format, torch.channels_last_3d):
        model = Plain(channels).cuda().to(memory_format=layout).train()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, eps=1e-4, fused=True)
        scaler = torch.amp.GradScaler("cuda")
        x = torch.randn(1, 1, size, size, size, device="cuda").to(memory_format=layout)
        y = torch.randint(0, 2, (1, size, size, size), device="cuda")
        weight = torch.tensor([0.5, 1.0], device="cuda")

        def step():
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast("cuda", torch.float16):
                loss = F.cross_entropy(model(x).float(), y, weight=weight, label_smoothing=0.01)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()

        short = "channels_last" if layout is torch.channels_last_3d else "contiguous"
        step()
        check_finite(model)
        report(f"eager AMP {short}", channels, size, "train", step, repeats)
        del model, optimizer, x, y


if __name__ == "__main__":
    mode, channels, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    repeats = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    (training if mode == "train" else inference)(channels, size, repeats)

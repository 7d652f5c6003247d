"""MSI-Net in PyTorch and ONNX Runtime, the ways a careful user would try. One JSON line per case,
like bench_msinet.  msinet.py DEVICE run|train BATCH [ROUNDS] [PIECES]"""

import json
import sys
import tempfile
import time
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F

from finite import check_finite

torch.backends.cudnn.benchmark = True
HEIGHT, WIDTH = 240, 320


def doubled_by_slices(x):
    """TensorFlow 1's bilinear resize to twice the size, as sums of shifted tensors."""
    for axis in (2, 3):
        count = x.size(axis)
        after = torch.cat([x.narrow(axis, 1, count - 1), x.narrow(axis, count - 1, 1)], axis)
        shape = list(x.shape)
        shape[axis] *= 2
        x = torch.stack([x, (x + after) / 2], axis + 1).reshape(shape)
    return x


def doubled_by_resize(x):
    """The same through torch's own kernel: one more row and column, corners aligned, cut off."""
    height, width = 2 * x.size(2), 2 * x.size(3)
    x = F.pad(x, (0, 1, 0, 1), mode="replicate")
    x = F.interpolate(x, size=(height + 1, width + 1), mode="bilinear", align_corners=True)
    return x[:, :, :height, :width]


class MsiNet(nn.Module):
    def __init__(self, doubled):
        super().__init__()
        self.doubled = doubled
        wide, self.encoder = 3, nn.ModuleList()
        for stage, widths in enumerate([[64] * 2, [128] * 2, [256] * 3, [512] * 3, [512] * 3]):
            far = 2 if stage == 4 else 1
            layers = nn.ModuleList()
            for out in widths:
                layers.append(nn.Conv2d(wide, out, 3, padding=far, dilation=far))
                wide = out
            self.encoder.append(layers)
        self.branches = nn.ModuleList(
            [nn.Conv2d(1280, 256, 1)]
            + [nn.Conv2d(1280, 256, 3, padding=d, dilation=d) for d in (4, 8, 12)]
            + [nn.Conv2d(1280, 256, 1)])
        self.mixture = nn.Conv2d(1280, 256, 1)
        self.decoder = nn.ModuleList(
            nn.Conv2d(a, b, 3, padding=1) for a, b in ((256, 128), (128, 64), (64, 32), (32, 1)))

    def forward(self, x):
        seen = []
        for stage, layers in enumerate(self.encoder):
            for layer in layers:
                x = F.relu(layer(x))
            x = F.max_pool2d(x, 2) if stage < 3 else F.max_pool2d(F.pad(x, (0, 1, 0, 1)), 2, 1)
            if stage >= 2:
                seen.append(x)
        x = torch.cat(seen, 1)
        parts = [F.relu(branch(x)) for branch in self.branches[:4]]
        mean = F.relu(self.branches[4](x.mean((2, 3), keepdim=True)))
        x = F.relu(self.mixture(torch.cat(parts + [mean.expand_as(parts[0])], 1)))
        for layer in self.decoder[:3]:
            x = F.relu(layer(self.doubled(x)))
        x = self.decoder[3](x).float()
        x = x - x.amin((1, 2, 3), keepdim=True)
        return x / (1e-7 + x.amax((1, 2, 3), keepdim=True))


def times_of(work, device, rounds, pieces):
    def wait():
        if device == "cuda":
            torch.cuda.synchronize()

    for _ in range(3):
        work()
    times = []
    for _ in range(rounds):
        wait()
        start = time.perf_counter()
        for _ in range(pieces):
            work()
        wait()
        times.append((time.perf_counter() - start) / pieces * 1e3)
    return sorted(times)


def report(program, mode, batch, work, device, rounds, pieces):
    try:
        times = times_of(work, device, rounds, pieces)
    except Exception as error:  # a way that does not work is a finding
        print(json.dumps({"program": program, "failed": str(error)[:120]}), flush=True)
        return
    print(json.dumps({"program": program, "mode": mode, "batch": batch, "best_ms": times[0],
                      "median_ms": times[len(times) // 2]}), flush=True)


LAYOUTS = {"contiguous": torch.contiguous_format, "channels_last": torch.channels_last}


def run_cuda(batch, rounds, pieces):
    pixels = torch.rand(batch, 3, HEIGHT, WIDTH, device="cuda") * 255
    x = pixels.bfloat16().to(memory_format=torch.channels_last)
    for doubled in (doubled_by_resize, doubled_by_slices):
        model = MsiNet(doubled).cuda().bfloat16().to(memory_format=torch.channels_last).eval()
        name = doubled.__name__
        with torch.no_grad():
            report(f"PyTorch eager, {name}", "run", batch, lambda: model(x), "cuda", rounds, pieces)
            torch._dynamo.reset()
            compiled = torch.compile(model, mode="reduce-overhead")  # with CUDA graphs
            report(f"torch.compile, CUDA graphs, {name}", "run", batch, lambda: compiled(x), "cuda",
                   rounds, pieces)


def train_cuda(batch, rounds, pieces):
    x = (torch.rand(batch, 3, HEIGHT, WIDTH, device="cuda") * 255).to(memory_format=torch.channels_last)
    target = torch.rand(batch, 1, HEIGHT, WIDTH, device="cuda")
    for doubled in (doubled_by_resize, doubled_by_slices):
        model = MsiNet(doubled).cuda().to(memory_format=torch.channels_last)
        for way in ("eager", "torch.compile"):
            torch._dynamo.reset()
            network = model if way == "eager" else torch.compile(model)
            optimizer = torch.optim.Adam(model.parameters(), lr=1e-5, fused=True)

            def step():
                with torch.autocast("cuda", dtype=torch.bfloat16):
                    y = network(x)
                t = target / (1e-7 + target.sum((1, 2, 3), keepdim=True))
                p = y / (1e-7 + y.sum((1, 2, 3), keepdim=True))
                loss = (t * torch.log(1e-7 + t / (1e-7 + p))).sum((1, 2, 3)).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

            step()
            check_finite(model)
            report(f"{way}, {doubled.__name__}", "train", batch, step, "cuda", rounds, pieces)


def run_cpu(batch, rounds, pieces):
    import onnxruntime

    torch.set_num_threads(2)
    x = torch.rand(batch, 3, HEIGHT, WIDTH) * 255
    for doubled in (doubled_by_resize, doubled_by_slices):
        for name, layout in LAYOUTS.items():
            model = MsiNet(doubled).to(memory_format=layout).eval()
            picture = x.to(memory_format=layout)
            with torch.no_grad():
                report(f"PyTorch f32 {name}, {doubled.__name__}", "run", batch,
                       lambda: model(picture), "cpu", rounds, pieces)
    path = Path(tempfile.mkdtemp()) / "net.onnx"
    torch.onnx.export(MsiNet(doubled_by_slices).eval(), (x,), path, dynamo=False, opset_version=17)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(path, options)
    feed = {session.get_inputs()[0].name: x.numpy()}
    report("ONNX Runtime f32", "run", batch, lambda: session.run(None, feed), "cpu", rounds, pieces)


if __name__ == "__main__":
    device, mode, batch = sys.argv[1], sys.argv[2], int(sys.argv[3])
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    pieces = int(sys.argv[5]) if len(sys.argv) > 5 else 1
    work = {"cuda run": run_cuda, "cuda train": train_cuda, "cpu run": run_cpu}[f"{device} {mode}"]
    work(batch, rounds, pieces)

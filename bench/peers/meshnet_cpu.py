"""MeshNet on the CPU in f32 as PyTorch does it in both layouts (batch norms folded for inference),
and as ONNX Runtime does where it is installed. One JSON line per run, like bench_meshnet_cpu.
  meshnet_cpu.py run|train CHANNELS SIZE [REPEATS] [THREADS]"""

import json
import resource
import sys
import time

DILATIONS = [1, 2, 4, 8, 16, 16, 8, 4, 2]


def report(program, case, work):
    for _ in range(case["repeats"]):
        start = time.perf_counter()
        work()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)
        print(json.dumps({"program": program, "mode": case["mode"], "channels": case["channels"],
                          "size": case["size"], "seconds": round(time.perf_counter() - start, 3),
                          "peak_gib": round(peak, 2)}), flush=True)


def pytorch(case):
    import torch
    import torch.nn as nn
    import torch.nn.functional as F

    torch.set_num_threads(case["threads"])
    train, size = case["mode"] == "train", case["size"]
    layers, width = [], 1
    for d in DILATIONS:
        layers.append(nn.Conv3d(width, case["channels"], 3, padding=d, dilation=d))
        layers += [nn.BatchNorm3d(case["channels"])] if train else []
        layers.append(nn.ReLU(inplace=True))
        width = case["channels"]
    model = nn.Sequential(*layers, nn.Conv3d(width, 2, 1)).train(train)
    image = torch.rand(1, 1, size, size, size)
    mask, weight = torch.zeros(1, size, size, size, dtype=torch.long), torch.tensor([0.5, 1.0])

    def inference():
        with torch.inference_mode():
            model(image).argmax(1)

    def step():
        model.zero_grad()
        F.cross_entropy(model(image), mask, weight=weight, label_smoothing=0.01).backward()

    for name, layout in (("channels last", torch.channels_last_3d), ("contiguous", torch.contiguous_format)):
        model, image = model.to(memory_format=layout), image.to(memory_format=layout)
        report(f"PyTorch {name}", case, step if train else inference)


def onnx_runtime(case):
    try:
        import numpy
        import onnxruntime
        from onnx import TensorProto, helper, numpy_helper
    except ImportError:
        return
    nodes, weights, width, before = [], [], 1, "input"
    for i, d in enumerate(DILATIONS + [1]):
        last = i == len(DILATIONS)
        out, kernel = (2, 1) if last else (case["channels"], 3)
        shape = (out, width, kernel, kernel, kernel)
        weights.append(numpy_helper.from_array(numpy.random.randn(*shape).astype("f4") * 0.1, f"w{i}"))
        weights.append(numpy_helper.from_array(numpy.zeros(out, "f4"), f"b{i}"))
        pads = [d * (kernel // 2)] * 6
        nodes.append(helper.make_node("Conv", [before, f"w{i}", f"b{i}"], [f"c{i}"], dilations=[d] * 3, pads=pads))
        before, width = f"c{i}", out
        if not last:
            nodes.append(helper.make_node("Relu", [before], [f"r{i}"]))
            before = f"r{i}"
    nodes.append(helper.make_node("ArgMax", [before], ["labels"], axis=1, keepdims=0))
    size = case["size"]
    graph = helper.make_graph(nodes, "meshnet", [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 1, size, size, size])],
                              [helper.make_tensor_value_info("labels", TensorProto.INT64, [1, size, size, size])], weights)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = case["threads"]
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    image = numpy.random.rand(1, 1, size, size, size).astype("f4")
    report("ONNX Runtime", case, lambda: session.run(None, {"input": image}))


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[2:]] + [1, 2][len(sys.argv) - 4:]
    asked = dict(zip(("channels", "size", "repeats", "threads"), numbers), mode=sys.argv[1])
    try:
        pytorch(asked)
    except ImportError:
        pass
    if asked["mode"] == "run":
        onnx_runtime(asked)

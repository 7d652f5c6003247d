# SPDX-License-Identifier: Apache-2.0
"""A code model with random weights as transformers saves it, made with Python's standard library alone: for tests and benchmarks
in which only the shape matters. Its end token is never the likeliest, so that greedy texts have the length that was asked for."""

import itertools
import json
import random
import string
import struct
from pathlib import Path

SHAPES = {  # those of tiny_starcoder_py (164 M parameters), and one that loads in no time
    "164m": dict(hidden=768, layers=20, heads=12, inner=3072, vocabulary=49152, context=8192),
    "small": dict(hidden=64, layers=2, heads=4, inner=128, vocabulary=512, context=4096),
}
END = "<|endoftext|>"


def byte_letters():
    """The letters that stand for bytes in such tokenizers."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = (chr(256 + place) for place in range(256))
    return [chr(byte) if byte in plain else next(others) for byte in range(256)]


def tokenizer(vocabulary):
    """The end, all bytes, then words that no text is cut into."""
    words = (a + b + c + d for a, b, c, d in itertools.product(string.ascii_lowercase, repeat=4))
    tokens = list(itertools.islice(itertools.chain([END], byte_letters(), words), vocabulary))
    bytes_of_text = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {"version": "1.0",
            "added_tokens": [{"id": 0, "content": END, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}],
            "pre_tokenizer": bytes_of_text, "decoder": bytes_of_text,
            "model": {"type": "BPE", "vocab": {token: place for place, token in enumerate(tokens)}, "merges": []}}


def tensors(hidden, layers, heads, inner, vocabulary, context):
    """Names and shapes, in the order of the file."""
    yield "transformer.wte.weight", (vocabulary, hidden)
    yield "transformer.wpe.weight", (context, hidden)
    parts = {"ln_1": (hidden,), "attn.c_attn": (hidden + 2 * hidden // heads, hidden), "attn.c_proj": (hidden, hidden),
             "ln_2": (hidden,), "mlp.c_fc": (inner, hidden), "mlp.c_proj": (hidden, inner)}
    names = [(f"transformer.h.{layer}.{part}", shape) for layer in range(layers) for part, shape in parts.items()]
    for name, shape in [*names, ("transformer.ln_f", (hidden,))]:
        yield name + ".weight", shape
        yield name + ".bias", shape[:1]


def noise(count, chance):
    """bf16 numbers of 0.004 to 0.03 with either sign: the second byte has the sign and most of the exponent."""
    signs = bytes((0x3B, 0x3C, 0xBB, 0xBC)[value % 4] for value in range(256))
    numbers = bytearray(chance.randbytes(2 * count))
    numbers[1::2] = numbers[1::2].translate(signs)
    return numbers


def values(name, shape, chance):
    count = shape[0] * (shape[1] if len(shape) > 1 else 1)
    if ".ln_" in name and name.endswith("weight"):
        return b"\x80\x3f" * count  # 1
    numbers = noise(count, chance)
    if name == "transformer.wte.weight":
        numbers[:2 * shape[1]] = bytes(2 * shape[1])  # the end token
    return numbers


def write_random_code_model(folder, shape="small", seed=1):
    """Writes config.json, tokenizer.json and model.safetensors; returns the folder."""
    sizes, folder, chance = SHAPES[shape], Path(folder), random.Random(seed)
    folder.mkdir(parents=True)
    config = {"model_type": "gpt_bigcode", "architectures": ["GPTBigCodeForCausalLM"], "n_embd": sizes["hidden"], "n_layer": sizes["layers"],
              "n_head": sizes["heads"], "n_inner": sizes["inner"], "n_positions": sizes["context"], "vocab_size": sizes["vocabulary"],
              "multi_query": True, "activation_function": "gelu_pytorch_tanh", "layer_norm_epsilon": 1e-5, "tie_word_embeddings": True,
              "bos_token_id": 0, "eos_token_id": 0, "torch_dtype": "bfloat16"}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer(sizes["vocabulary"]), ensure_ascii=False), encoding="utf-8")
    header, end = {"__metadata__": {"format": "pt"}}, 0
    for name, extent in tensors(**sizes):
        begin, end = end, end + 2 * extent[0] * (extent[1] if len(extent) > 1 else 1)
        header[name] = {"dtype": "BF16", "shape": extent, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name, extent in tensors(**sizes):
            file.write(values(name, extent, chance))
    return folder

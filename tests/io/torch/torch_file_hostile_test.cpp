// SPDX-License-Identifier: Apache-2.0
// Checkpoints that are inconsistent, contain code or are another format: each gives an Input error
// that says what to do.
#include <doctest/doctest.h>

#include "pickle_samples.h"
#include "tests/base/scratch.h"
#include "tests/io/samples.h"
#include "ubique/io/torch/torch_file.h"

using namespace ubique;
namespace pickled = test::pickled;
using pickled::text;

namespace {

std::string error_for_torch(const std::string& file) {
  return test::error_of([&] { io::parse_torch_file(test::bytes_of(file), "bad.pt"); });
}

void check_refused(const std::string& file, const std::string& message) {
  CAPTURE(message);
  const auto error = error_for_torch(file);
  CHECK(error.starts_with("input: ["));
  CHECK(test::contains(error, "bad.pt"));
  CHECK_MESSAGE(test::contains(error, message), error);
}

std::string storage(std::int64_t elements = 6) {
  return pickled::storage("FloatStorage", "0", elements);
}

/// A checkpoint of one tensor 't' with a storage of 24 bytes.
std::string one(const std::string& tensor) {
  return pickled::archive(pickled::dict({{text("t"), tensor}}), {std::string(24, 'v')});
}

std::string view(std::int64_t offset, const std::vector<std::int64_t>& shape,
                 const std::vector<std::int64_t>& strides) {
  return one(pickled::tensor(storage(), offset, shape, strides));
}

constexpr auto kHuge = std::int64_t{1} << 62U;

}  // namespace

TEST_CASE("torch_file: a checkpoint with code in it is refused by the code's name") {
  const auto code = pickled::call(pickled::global("os", "system"), {text("rm -rf /")});
  check_refused(one(code), "[io.pickle] bad.pt asks to import os.system; expected tensors");
  check_refused(one(pickled::global("builtins", "eval")), "asks to import builtins.eval");
  check_refused(one(pickled::call(pickled::global("torch._utils", "_rebuild_sparse_tensor"), {})),
                "asks to import torch._utils._rebuild_sparse_tensor");
  check_refused(one(pickled::global("models.meshnet", "MeshNet")), "import models.meshnet.MeshNet");
}

TEST_CASE("torch_file: views that leave their storage are refused") {
  for (const auto& file :
       {view(0, {7}, {1}), view(1, {6}, {1}), view(6, {1}, {1}), view(7, {}, {}),
        view(0, {2, 3}, {4, 1}), view(0, {2}, {kHuge}), view(kHuge, {2}, {kHuge}),
        view(0, {kHuge, kHuge}, {0, 0}), view(0, {kHuge, 0, 8}, {1, 1, 1})}) {
    check_refused(file, "tensor 't' reaches past its storage; got sizes");
  }
  check_refused(view(0, {2}, {1, 1}), "reaches past its storage");
  check_refused(view(-1, {2}, {1}), "a size is not a number from 0");
  check_refused(view(0, {2}, {-1}), "a size is not a number from 0");
  check_refused(view(0, std::vector<std::int64_t>(65, 1), {}), "at most 64 numbers");
  check_refused(view(0, {1, kHuge / 4}, {0, 0}), "repeats its storage too often");
  CHECK(error_for_torch(view(0, {100}, {0})) == "no error");
}

TEST_CASE("torch_file: inconsistent storages are refused") {
  const auto with = [](const std::string& storage) {
    return one(pickled::tensor(storage, 0, {1}, {1}));
  };
  check_refused(with(storage(7)), "wrong size; got 24 bytes, expected 28");
  check_refused(with(storage(kHuge)), "larger than 2^63 bytes");
  check_refused(with(storage(-1)), "a size is not a number from 0");
  check_refused(with(pickled::storage("FloatStorage", "9", 6)), "has no storage '9'");
  check_refused(with(pickled::storage("FloatStorage", "../0", 6)), "has no storage '../0'");
  check_refused(with("N"), "its storage is missing");
  check_refused(with("NQ"), "something else than five values");
  check_refused(with(pickled::tuple({"N", "N", "N", "N", "N"}) + "Q"), "no type or key");
  check_refused(with(pickled::tuple({text("storage"), pickled::global("torch", "float32"),
                                     text("0"), text("cpu"), "K\x06"}) +
                     "Q"),
                "its storage has an unknown type");
  check_refused(one(storage()), "'t' is not a tensor or a plain value; got a bare storage");
}

TEST_CASE("torch_file: descriptions that torch.save does not write are refused") {
  const auto rebuild = [](const std::string& name, const std::vector<std::string>& arguments) {
    return one(pickled::call(pickled::global("torch._utils", name), arguments));
  };
  check_refused(rebuild("_rebuild_tensor_v2", {}), "arguments are missing");
  check_refused(rebuild("_rebuild_tensor_v2", {storage(), "K\x01", "K\x01"}), "sizes are no tuple");
  check_refused(rebuild("_rebuild_parameter", {"N"}), "a tensor is missing");
  check_refused(rebuild("_rebuild_tensor_v2",
                        {storage(), pickled::integer(0), pickled::counts({6}), pickled::counts({1}),
                         "\x89", "N", pickled::dict({{text("conj"), "\x88"}})}),
                "lazy conjugate");
  check_refused(rebuild("_rebuild_tensor_v3",
                        {storage(), pickled::integer(0), pickled::counts({6}), pickled::counts({1}),
                         "\x89", "N", pickled::global("torch", "Size")}),
                "its dtype is unknown");
  // A parameter that contains itself.
  check_refused(one(pickled::global("torch._utils", "_rebuild_parameter") + "(](Nq\x01" + "eRt"),
                "cannot be read");
}

TEST_CASE("torch_file: trees that hold themselves or grow by sharing are refused") {
  check_refused(pickled::archive("]q\x01h\x01"
                                 "a"),
                "nested too deeply, or a value holds itself");
  std::string laughs =
      "](K\x01"
      "eq\x01";
  for (int i = 0; i < 40; ++i)
    laughs +=
        "](h\x01h\x01"
        "eq\x01";
  // Each list holds the one before it twice; only the last stays on the stack.
  std::string body = "(" + laughs + "1h\x01";
  check_refused(pickled::archive(body), "holds too many values beside its tensors");
  const auto twice = pickled::dict({{text("a"), "N"}, {text("a"), "N"}});
  check_refused(pickled::archive(twice), "has the key 'a' twice");
  const auto collide = pickled::dict({{"K\x01", "N"}, {text("1"), "N"}});
  check_refused(pickled::archive(collide), "has the key '1' twice");
  const auto pretend = pickled::dict({{text("$tensor"), text("x")}});
  check_refused(pickled::archive(pretend), "the key '$tensor'");
  check_refused(pickled::archive(pickled::dict({{")", "N"}})), "neither text nor number");
  const auto tensor = pickled::tensor(storage(), 0, {6}, {1});
  const auto same =
      pickled::dict({{text("a"), pickled::dict({{text("b"), tensor}})}, {text("a/b"), tensor}});
  check_refused(pickled::archive(same, {std::string(24, 'v')}), "two tensors named 'a/b'");
}

TEST_CASE("torch_file: other files are refused with what to do") {
  std::string tar(600, '\0');
  tar.replace(257, 5, "ustar");
  check_refused(tar,
                "is a tar archive, as the first versions of PyTorch wrote; expected a zip. "
                "Re-save it with torch.save");
  check_refused(test::small_file(), "is a safetensors file, whatever its name says");
  check_refused("\x80\x02}q", "this looks like a Python pickle");
  check_refused("\x89HDF\r\n\x1a\n", "this looks like an HDF5 file");
  check_refused("hello", "got other bytes at its start");
  check_refused("", "got other bytes at its start");
  check_refused(test::zip_of({{"a.npy", "x"}}), "got NumPy arrays, as .npz files hold");
  check_refused(test::zip_of({{"word/document.xml", "x"}}), "got 'word/document.xml'");
  check_refused(test::zip_of({}), "got no entries");
  check_refused(pickled::archive("N", {}, {{"archive/constants.pkl", "x"}}),
                "is a TorchScript archive (torch.jit.save), a program");
  check_refused(pickled::archive("N", {}, {{"archive/code/a.py", "x"}}), "TorchScript archive");
  check_refused(pickled::archive("N", {}, {{"other/data.pkl", "x"}}), "more than one checkpoint");
  check_refused(test::zip_of({{"a/data.pkl", pickled::whole("N")}, {"a/byteorder", "odd"}}),
                "unknown byte order; got 'odd'");
}

TEST_CASE("torch_file: cut or changed anywhere, a checkpoint is read in bounds or refused") {
  const auto whole = view(1, {2, 2}, {2, 1});
  CHECK(error_for_torch(whole) == "no error");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CHECK(error_for_torch(whole.substr(0, length)).starts_with("input: "));
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      auto changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ static_cast<char>(1U << bit));
      const auto error = error_for_torch(changed);
      CHECK((error == "no error" || error.starts_with("input: ")));
    }
  }
}

TEST_CASE("torch_file: with any byte of its pickle changed, a checkpoint is read or refused") {
  // The checksum is right each time, so that the change reaches the pickle's reader.
  const auto body = pickled::dict({{text("t"), pickled::tensor(storage(), 1, {2, 2}, {2, 1})}});
  for (std::size_t i = 0; i < body.size(); ++i) {
    for (unsigned value = 0; value < 256; ++value) {
      auto changed = body;
      changed[i] = static_cast<char>(value);
      const auto error = error_for_torch(pickled::archive(changed, {std::string(24, 'v')}));
      CHECK((error == "no error" || error.starts_with("input: ")));
    }
  }
}

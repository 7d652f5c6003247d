// SPDX-License-Identifier: Apache-2.0
// The format of torch.save before PyTorch 1.6: values, byte order, and refused files.
#include <doctest/doctest.h>

#include "pickle_samples.h"
#include "tests/base/scratch.h"
#include "tests/io/samples.h"
#include "ubique/base/files/file.h"
#include "ubique/io/torch/torch_file.h"

using namespace ubique;
namespace pickled = test::pickled;
using pickled::text;

namespace {

io::TorchFile parsed(const std::string& file, const io::TensorFilter& wanted = {}) {
  return io::parse_torch_file(test::bytes_of(file), "old.pth", wanted);
}

std::string error_for_legacy(const std::string& file) {
  return test::error_of([&] { parsed(file); });
}

void check_refused_legacy(const std::string& file, const std::string& message) {
  CAPTURE(message);
  const auto error = error_for_legacy(file);
  CHECK(error.starts_with("input: ["));
  CHECK(test::contains(error, "old.pth"));
  CHECK_MESSAGE(test::contains(error, message), error);
}

std::vector<std::byte> bytes_copy(const std::string& text_bytes) {
  const auto bytes = test::bytes_of(text_bytes);
  return {bytes.begin(), bytes.end()};
}

std::string tensor(const std::string& key, std::int64_t elements, std::int64_t offset,
                   const std::vector<std::int64_t>& shape,
                   const std::vector<std::int64_t>& strides) {
  return pickled::tensor(pickled::legacy_storage("FloatStorage", key, elements), offset, shape,
                         strides);
}

/// A parameter of PyTorch 0.1: the class called with the tensor, and a state of three values.
std::string old_parameter(const std::string& inner) {
  const auto plain =
      pickled::call(pickled::global("torch._utils", "_rebuild_tensor"),
                    {inner, pickled::integer(0), pickled::counts({2, 1}), pickled::counts({1, 1})});
  return pickled::global("torch.nn.parameter", "Parameter") + pickled::tuple({plain}) + "\x81" +
         pickled::tuple({"\x88", "\x89", pickled::ordered_dict()}) + "b";
}

const std::vector<pickled::LegacyStorage> kTwo = {{6, pickled::floats({0, 1, 2, 3, 4, 5})},
                                                  {2, pickled::floats({7, 8})}};

std::string sample_legacy(const pickled::LegacyParts& parts = {}) {
  const auto state = pickled::ordered_dict(
      {{text("features.0.weight"), tensor("0", 6, 1, {2, 2}, {3, 1})},
       {text("features.0.bias"), old_parameter(pickled::legacy_storage("FloatStorage", "1", 2))}});
  return pickled::legacy(state, kTwo, parts);
}

}  // namespace

TEST_CASE("legacy torch_file: tensors, views and old parameters are read") {
  const auto file = parsed(sample_legacy());
  REQUIRE(file.tensors.size() == 2);
  CHECK(file.tensors[0].name == "features.0.weight");
  CHECK(file.tensors[0].shape == io::Shape{2, 2});
  CHECK((file.tensors[0].bytes == bytes_copy(pickled::floats({1, 2, 4, 5}))));
  CHECK(file.find("features.0.bias")->shape == io::Shape{2, 1});
  CHECK((file.find("features.0.bias")->bytes == bytes_copy(pickled::floats({7, 8}))));
  CHECK(io::looks_like_torch_file(test::bytes_of(sample_legacy())));
}

TEST_CASE("legacy torch_file: the other byte order is converted") {
  const auto other = pickled::dict({{text("little_endian"), "\x89"}});
  const auto state = pickled::dict({{text("t"), tensor("0", 1, 0, {1}, {1})}});
  const auto value = pickled::floats({1.5F});
  const auto file = parsed(pickled::legacy(state, {{1, {value.rbegin(), value.rend()}}},
                                           {.facts = pickled::whole(other)}));
  CHECK((file.tensors[0].bytes == bytes_copy(value)));
}

TEST_CASE("torch_file: values are read only of selected tensors") {
  const auto is_bias = [](const std::string& name) { return name.ends_with("bias"); };
  const auto file = parsed(sample_legacy(), is_bias);
  CHECK(file.tensors[0].bytes.empty());
  CHECK(file.tensors[0].shape == io::Shape{2, 2});
  CHECK(file.tensors[1].bytes.size() == 8);
  const test::ScratchFolder folder;
  write_file(folder / "a.pth", sample_legacy());
  const auto list = io::list_torch_file(folder / "a.pth");
  REQUIRE(list.size() == 2);
  CHECK(list[1].name == "features.0.bias");
  CHECK(list[1].shape == io::Shape{2, 1});
}

TEST_CASE("legacy torch_file: inconsistent storages are refused") {
  const auto state = [](const std::string& tensor_text) {
    return pickled::dict({{text("t"), tensor_text}});
  };
  const auto plain = state(tensor("0", 6, 0, {6}, {1}));
  check_refused_legacy(pickled::legacy(plain, {{5, pickled::floats({1, 2, 3, 4, 5})}}),
                       "wrong size; got 20 bytes, expected 24");
  check_refused_legacy(pickled::legacy(plain, {{7, pickled::floats({1, 2, 3, 4, 5, 6})}}),
                       "it ends within its storages");
  check_refused_legacy(pickled::legacy(plain, {{std::int64_t{1} << 61U, "abc"}}),
                       "larger than 2^63 bytes");
  check_refused_legacy(pickled::legacy(plain, {{-1, "abc"}}), "larger than 2^63 bytes");
  check_refused_legacy(pickled::legacy(plain, {}), "has no storage '0'");
  check_refused_legacy(pickled::legacy(plain, kTwo), "a storage that no tensor lies in");
  check_refused_legacy(pickled::legacy(plain, {kTwo[0]}) + "x", "behind its last storage");
  const auto twice = pickled::whole(pickled::list({text("0"), text("0")}));
  check_refused_legacy(pickled::legacy(plain, {kTwo[0], kTwo[0]}, {.keys = twice}),
                       "lists a storage twice");
  check_refused_legacy(pickled::legacy(plain, {kTwo[0]}, {.keys = pickled::whole("N")}),
                       "the list of its storages is missing");
  const auto part = pickled::tuple({text("1"), pickled::integer(0), pickled::integer(2)});
  const auto view = pickled::legacy_storage("FloatStorage", "0", 6, part);
  check_refused_legacy(pickled::legacy(state(pickled::tensor(view, 0, {6}, {1})), {kTwo[0]}),
                       "its storage is a part of another");
  const auto other = pickled::tensor(pickled::legacy_storage("LongStorage", "0", 6), 0, {6}, {1});
  const auto both = pickled::dict({{text("a"), tensor("0", 6, 0, {6}, {1})}, {text("b"), other}});
  check_refused_legacy(pickled::legacy(both, {kTwo[0]}), "a storage has two types");
}

TEST_CASE("legacy torch_file: another version, no byte order and code are refused") {
  check_refused_legacy(sample_legacy({.version = pickled::whole(pickled::integer(1000))}),
                       "its version is not 1001");
  check_refused_legacy(sample_legacy({.facts = pickled::whole("}")}),
                       "does not say its byte order");
  check_refused_legacy(
      sample_legacy({.facts = pickled::whole(pickled::dict({{text("little_endian"), "N"}}))}),
      "neither True nor False");
  const auto code = pickled::call(pickled::global("os", "system"), {text("rm -rf /")});
  check_refused_legacy(pickled::legacy(code, {}), "asks to import os.system");
  check_refused_legacy(sample_legacy({.facts = pickled::whole(code)}), "asks to import os.system");
  check_refused_legacy(sample_legacy({.keys = pickled::whole(code)}), "asks to import os.system");
}

TEST_CASE("legacy torch_file: cut or changed anywhere, it is read in bounds or refused") {
  const auto whole = sample_legacy();
  CHECK(error_for_legacy(whole) == "no error");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CHECK(error_for_legacy(whole.substr(0, length)).starts_with("input: "));
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      auto changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ static_cast<char>(1U << bit));
      const auto error = error_for_legacy(changed);
      CHECK((error == "no error" || error.starts_with("input: ")));
    }
  }
}

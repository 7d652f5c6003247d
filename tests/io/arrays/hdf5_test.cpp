// SPDX-License-Identifier: Apache-2.0
// HDF5 round trips; files of Keras, skipped where the golden files are missing; damaged and
// misleading files.
#include "ubique/io/arrays/hdf5.h"

#include <doctest/doctest.h>

#include <cstring>

#include "tests/base/scratch.h"
#include "tests/io/scans/nifti_samples.h"
#include "tests/shared.h"
#include "ubique/base/text/json.h"
#include "ubique/io/archive/byte_order.h"
#include "ubique/io/tensors/safetensors_reader.h"

using namespace ubique;
using io::Hdf5Attribute;
using io::HostTensor;

namespace {

HostTensor tensor(const std::string& name, DType dtype, const io::Shape& shape) {
  HostTensor out{name, dtype, shape, {}};
  const auto size = static_cast<std::size_t>(*io::byte_count(dtype, shape));
  for (std::size_t i = 0; i < size; ++i) out.bytes.push_back(static_cast<std::byte>(i * 37 % 251));
  return out;
}

std::vector<HostTensor> sample_tensors() {
  return {tensor("a/vars/0", DType::F32, {2, 3}), tensor("a/vars/1", DType::F32, {3}),
          tensor("b", DType::I64, {}), tensor("a/half", DType::F16, {5})};
}

std::vector<Hdf5Attribute> sample_attributes() {
  return {{"", "layer_names", {"a", "", "ein Gr\xc3\xb6\xc3\x9f"}, true},
          {"a/vars", "name", {"conv1_conv1_1"}, false},
          {"empty/group", "none", {}, true},
          {"b", "of a tensor", {"a"}, false}};
}

std::string hdf5_error(const std::string& file) {
  return test::error_of([&] { io::parse_hdf5(test::bytes_of(file), "x.h5"); });
}

bool is_refusal(const std::string& error) { return error.starts_with("input: [io.hdf5] x.h5"); }

/// The first place of `part` in the file, whose following bytes are replaced.
std::string with_bytes(std::string file, const std::string& part, std::size_t after,
                       const std::string& bytes) {
  const auto place = file.find(part);
  REQUIRE(place != std::string::npos);
  return file.replace(place + after, bytes.size(), bytes);
}

std::string little(std::uint64_t value, std::size_t width) {
  std::string out;
  io::append_little(out, value, width);
  return out;
}

std::string message(char kind, const std::string& body) {
  return kind + little(body.size(), 2) + '\0' + body;
}

std::string object_of(const std::string& messages) {
  return "OHDR\x02\x01" + little(messages.size(), 2) + messages;
}

/// An attribute of `count` texts, each of `length` bytes.
std::string texts_message(std::uint64_t count, std::uint64_t length) {
  const auto type = "\x13" + little(0, 3) + little(length, 4);
  const auto shape = "\x02\x01" + little(0x100, 2) + little(count, 8);  // simple, without maxima
  const auto head = "\x03" + little(0, 1) + little(1, 2) + little(type.size(), 2) +
                    little(shape.size(), 2) + little(0, 1);
  return message('\x0C', head + "a" + type + shape + std::string(count * length, 'x'));
}

/// Starts of files of version 2: the root follows at byte 48.
std::string hdf5_start() {
  return "\x89HDF\r\n\x1a\n\x02\x08\x08" + little(0, 1) + little(0, 8) + little(~0ULL, 8) +
         little(0, 8) + little(48, 8) + little(0, 4);
}

struct GoldenFile {
  const char* name;
  std::size_t datasets;
};
constexpr GoldenFile kGoldenFiles[] = {{"subclassed_keras3.weights.h5", 46},
                                       {"functional_keras3.weights.h5", 46},
                                       {"legacy_keras2_tfkeras.weights.h5", 46},
                                       {"legacy_keras2.h5", 46}};

}  // namespace

TEST_CASE("hdf5: tensors, groups and texts come back") {
  const test::ScratchFolder folder;
  const auto tensors = sample_tensors();
  io::write_hdf5(folder / "x.h5", tensors, sample_attributes());
  CHECK(folder.count() == 1);
  const io::Hdf5File file(folder / "x.h5");
  CHECK(file.groups() == std::vector<std::string>{"a", "a/vars", "empty", "empty/group"});
  REQUIRE(file.tensors().size() == tensors.size());
  for (const auto& want : tensors) {
    CAPTURE(want.name);
    const auto* found = file.find(want.name);
    REQUIRE(found != nullptr);
    const auto got = file.read(*found);
    CHECK(got.dtype == want.dtype);
    CHECK(got.shape == want.shape);
    CHECK(got.bytes == want.bytes);
  }
  CHECK(file.find("c") == nullptr);
  CHECK(file.attributes().size() == 4);
  CHECK(file.texts("", "layer_names") ==
        std::vector<std::string>{"a", "", "ein Gr\xc3\xb6\xc3\x9f"});
  CHECK(file.texts("a/vars", "name") == std::vector<std::string>{"conv1_conv1_1"});
  CHECK(file.texts("b", "of a tensor") == std::vector<std::string>{"a"});
  CHECK(file.texts("a", "name").empty());
}

TEST_CASE("hdf5: every type that it has comes back, and an empty file and tensor too") {
  for (const auto dtype : {DType::U8, DType::I8, DType::U16, DType::I16, DType::U32, DType::I32,
                           DType::U64, DType::I64, DType::F16, DType::F32, DType::F64}) {
    const std::vector tensors = {tensor("x", dtype, {4, 0, 2}), tensor("y", dtype, {3})};
    const auto file = io::hdf5_bytes(tensors);
    const auto content = io::parse_hdf5(test::bytes_of(file), "x");
    REQUIRE(content.tensors.size() == 2);
    CHECK(content.tensors[0].shape == io::Shape{4, 0, 2});
    CHECK(content.tensors[1].dtype == dtype);
    CHECK(test::text_of(
              test::bytes_of(file).subspan(content.tensors[1].begin, content.tensors[1].size())) ==
          test::text_of(tensors[1].bytes));
  }
  const auto none = io::hdf5_bytes({});
  CHECK(io::parse_hdf5(test::bytes_of(none), "x").tensors.empty());
}

TEST_CASE("hdf5: a group of many members is read") {
  std::vector<HostTensor> tensors;
  for (int i = 0; i < 300; ++i) tensors.push_back(tensor(fmt::format("g/{}", i), DType::F32, {1}));
  const auto file = io::hdf5_bytes(tensors);
  CHECK(io::parse_hdf5(test::bytes_of(file), "x").tensors.size() == 300);
}

TEST_CASE("hdf5: lists that Keras cut into pieces are put together") {
  const test::ScratchFolder folder;
  const std::vector<Hdf5Attribute> pieces = {{"", "weight_names0", {"a", "b"}, true},
                                             {"", "weight_names1", {"c"}, true}};
  io::write_hdf5(folder / "x.h5", {}, pieces);
  CHECK(io::Hdf5File(folder / "x.h5").texts("", "weight_names") ==
        std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("hdf5: what cannot be written is refused") {
  const auto refused = [](const std::vector<HostTensor>& tensors,
                          const std::vector<Hdf5Attribute>& attributes = {}) {
    return test::error_of([&] { io::hdf5_bytes(tensors, attributes); });
  };
  const auto x = tensor("x", DType::F32, {1});
  CHECK(refused({x, x}).starts_with("internal: [io.hdf5]"));
  CHECK(refused({x, tensor("x/y", DType::F32, {1})}).starts_with("internal: [io.hdf5]"));
  CHECK(refused({tensor("x/y", DType::F32, {1}), x}).starts_with("internal: [io.hdf5]"));
  CHECK(refused({tensor("", DType::F32, {1})}).starts_with("internal: [io.hdf5]"));
  CHECK(refused({tensor("a/../b", DType::F32, {1})}).starts_with("internal: [io.hdf5]"));
  CHECK(refused({tensor("x", DType::BF16, {1})}).starts_with("internal: [io.hdf5]"));
  const std::vector<std::string> many(5000, "abc");
  CHECK(refused({}, {{"", "names", many, true}}).starts_with("input: [io.hdf5] attribute 'names'"));
}

TEST_CASE("hdf5: weights that Keras wrote have the expected values and names") {
  const auto folder = test::shared_folder("golden/msinet/keras");
  if (folder.empty()) return;
  const auto facts = parse_json(read_file(folder / "keras.json"), "keras.json");
  for (const auto& [name, count] : kGoldenFiles) {
    CAPTURE(name);
    const io::Hdf5File file(folder / name);
    const auto& datasets = facts["files"][name]["datasets"];
    REQUIRE(datasets.size() == count);
    CHECK(file.tensors().size() == count);
    for (const auto& dataset : datasets) {
      const auto* found = file.find(dataset[0].get<std::string>());
      REQUIRE(found != nullptr);
      CHECK(found->shape == dataset[1].get<io::Shape>());
      CHECK(found->dtype == DType::F32);
    }
  }
}

TEST_CASE("hdf5: the values of Keras files are those of the layers they are named after") {
  const auto folder = test::shared_folder("golden/msinet/keras");
  if (folder.empty()) return;
  const io::SafetensorsFile expected(folder / "expected.safetensors");
  const auto same = [&](const io::Hdf5File& file, const std::string& path,
                        const std::string& name) {
    const auto *got = file.find(path), *want = expected.find(name);
    REQUIRE((got != nullptr && want != nullptr));
    return test::text_of(file.read(*got).bytes) == test::text_of(expected.bytes(*want));
  };
  const io::Hdf5File plain(folder / "subclassed_keras3.weights.h5");
  CHECK(same(plain, "aspp_conv1_5/vars/0", "aspp_conv1_5/kernel"));
  CHECK(same(plain, "decoder_conv4/vars/1", "decoder_conv4/bias"));
  const io::Hdf5File numbered(folder / "functional_keras3.weights.h5");
  int named = 0;
  for (const auto& group : numbered.groups()) {
    const auto layer = numbered.texts(group, "name");
    if (!group.ends_with("/vars") || layer.empty() || numbered.find(group + "/0") == nullptr) {
      continue;
    }
    CHECK(same(numbered, group + "/0", layer[0] + "/kernel"));
    CHECK(same(numbered, group + "/1", layer[0] + "/bias"));
    ++named;
  }
  CHECK(named == 23);
  const io::Hdf5File old(folder / "legacy_keras2.h5");
  int layers = 0;
  for (const auto& layer : old.texts("", "layer_names")) {
    const auto weights = old.texts(layer, "weight_names");
    if (weights.empty()) continue;
    CHECK(same(old, layer + "/" + weights[0], layer + "/kernel"));
    CHECK(same(old, layer + "/" + weights[1], layer + "/bias"));
    ++layers;
  }
  CHECK(layers == 23);
}

TEST_CASE("hdf5: cut at any length, a file is refused") {
  const auto whole = io::hdf5_bytes(sample_tensors(), sample_attributes());
  for (std::size_t length = 0; length + 8 < whole.size(); ++length) {
    CAPTURE(length);
    CHECK(is_refusal(hdf5_error(whole.substr(0, length))));
  }
  CHECK(hdf5_error(whole) == "no error");
}

TEST_CASE("hdf5: with any byte changed, a file is read or refused") {
  const auto whole = io::hdf5_bytes(sample_tensors(), sample_attributes());
  int refused = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const unsigned change : {1U, 64U, 255U}) {
      auto changed = whole;
      changed[i] = static_cast<char>(static_cast<unsigned char>(changed[i]) ^ change);
      const auto error = hdf5_error(changed);
      if (error != "no error" && !is_refusal(error)) FAIL_CHECK(error);
      refused += error == "no error" ? 0 : 1;
    }
  }
  CHECK(refused > 100);
}

TEST_CASE("hdf5: what is not HDF5 is refused by name") {
  CHECK(hdf5_error("") ==
        "input: [io.hdf5] x.h5 is not an HDF5 file; it looks like an empty file.");
  CHECK(test::contains(hdf5_error("PK\x03\x04"), "a zip archive"));
  CHECK(test::contains(hdf5_error("\x89HDF\r\n\x1a\n\x09"), "unknown version 9"));
}

TEST_CASE("hdf5: values beyond the file, groups in a circle and absurd shapes are refused") {
  const auto file = io::hdf5_bytes(std::vector{tensor("g/x", DType::F32, {2, 3})});
  const auto number = [](std::uint64_t value) { return test::number_bytes(value, false); };
  const auto shape = number(2) + number(3);
  CHECK(is_refusal(hdf5_error(with_bytes(file, shape, 0, number(1U << 30U)))));
  CHECK(is_refusal(hdf5_error(with_bytes(file, shape, 0, number(~0ULL) + number(~0ULL)))));
  // The one name of the root leads back to the root.
  const auto root = file.substr(64, 8);
  const auto node = file.rfind("SNOD");
  auto circle = file;
  circle.replace(node + 16, 8, root);
  CHECK(test::contains(hdf5_error(circle), "links form a cycle"));
}

TEST_CASE("hdf5: small files whose attributes would fill the memory are refused") {
  std::string lengthless;
  for (int i = 0; i < 100; ++i) lengthless += texts_message(65'536, 0);
  CHECK(
      test::contains(hdf5_error(hdf5_start() + object_of(lengthless)), "65536 texts of no length"));

  constexpr std::uint64_t kLinks = 800, kLinkBytes = 4 + 3 + 3 + 8, kRootHead = 8;
  const auto shared = 48 + kRootHead + kLinks * kLinkBytes;
  std::string links;
  for (std::uint64_t i = 0; i < kLinks; ++i) {
    links += message('\x06',
                     "\x01" + little(0, 1) + "\x03" + std::to_string(100 + i) + little(shared, 8));
  }
  const auto scalar = message('\x01', "\x02" + little(0, 3)) +
                      message('\x03', "\x10" + little(0, 3) + little(1, 4)) +
                      message('\x08', "\x03" + little(0, 1) + little(1, 2) + "v");
  const auto file = [&](std::uint64_t texts) {
    return hdf5_start() + object_of(links) + object_of(scalar + texts_message(texts, 1));
  };
  const auto small = file(3);
  CHECK(io::parse_hdf5(test::bytes_of(small), "x.h5").attributes.size() == kLinks);
  CHECK(test::contains(hdf5_error(file(3000)), "attributes are longer than 64 MiB"));
}

TEST_CASE("hdf5: tensors in pieces are refused with what to do") {
  const auto file = io::hdf5_bytes(std::vector{tensor("g/x", DType::F32, {2, 3})});
  const auto layout = std::string("\x08\x00\x18\x00\x00\x00\x00\x00\x03", 9);
  const auto error = hdf5_error(with_bytes(file, layout, 9, "\x02"));
  CHECK(test::contains(error, "'g/x' is stored in pieces"));
  CHECK(test::contains(error, "h5repack -l CONTI -f NONE"));
}

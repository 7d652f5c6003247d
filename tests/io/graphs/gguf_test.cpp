// SPDX-License-Identifier: Apache-2.0
// GGUF files: round trips of every value and tensor type, and refused files.
#include "ubique/io/graphs/gguf.h"

#include <doctest/doctest.h>

#include <limits>

#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"
#include "ubique/io/archive/byte_order.h"

using namespace ubique;
using test::contains;
using test::refusal_of;

namespace {

io::GgufMetadata gguf_values() {
  return {{"a.u8", std::uint8_t{200}},
          {"a.i8", std::int8_t{-100}},
          {"a.u16", std::uint16_t{60000}},
          {"a.i16", std::int16_t{-30000}},
          {"a.u32", std::uint32_t{4000000000U}},
          {"a.i32", std::int32_t{-2000000000}},
          {"a.f32", 0.1F},
          {"a.bool", true},
          {"a.text", std::string("caf\xC3\xA9 \0 x", 9)},
          {"a.u64", std::numeric_limits<std::uint64_t>::max()},
          {"a.i64", std::numeric_limits<std::int64_t>::min()},
          {"a.f64", 0.1},
          {"b.u8", std::vector<std::uint8_t>{1, 255}},
          {"b.i8", std::vector<std::int8_t>{-128, 127}},
          {"b.u16", std::vector<std::uint16_t>{65535}},
          {"b.i16", std::vector<std::int16_t>{-32768}},
          {"b.u32", std::vector<std::uint32_t>{}},
          {"b.i32", std::vector<std::int32_t>{1, -1, 0}},
          {"b.f32", std::vector<float>{1.5F, -0.0F}},
          {"b.bool", std::vector<bool>{true, false, true}},
          {"b.text", std::vector<std::string>{"", "ab", "\n"}},
          {"b.u64", std::vector<std::uint64_t>{1}},
          {"b.i64", std::vector<std::int64_t>{-1}},
          {"b.f64", std::vector<double>{1e300}}};
}

std::vector<std::byte> counted_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 + 1);
  return bytes;
}

std::span<const std::byte> gguf_view(const std::string& text) {
  return std::as_bytes(std::span(text));
}

/// A header by hand: `values` and `tensors` are the encoded entries, `data` follows the padding.
struct HandMade {
  std::uint32_t magic = 0x46554747, version = 3;
  std::uint64_t tensor_count = 0, value_count = 0;
  std::string values, tensors, data;

  std::string bytes() const {
    std::string out;
    io::append_little(out, magic, 4);
    io::append_little(out, version, 4);
    io::append_little(out, tensor_count, 8);
    io::append_little(out, value_count, 8);
    out += values + tensors;
    out.resize((out.size() + 31) / 32 * 32, '\0');
    return out + data;
  }
};

std::string hand_text(const std::string& text) {
  std::string out;
  io::append_little(out, text.size(), 8);
  return out + text;
}

std::string hand_tensor(const std::string& name, const std::vector<std::uint64_t>& extents,
                        std::uint32_t type, std::uint64_t offset) {
  auto out = hand_text(name);
  io::append_little(out, extents.size(), 4);
  for (const auto extent : extents) io::append_little(out, extent, 8);
  io::append_little(out, type, 4);
  io::append_little(out, offset, 8);
  return out;
}

std::string gguf_refusal(const HandMade& file) {
  const auto bytes = file.bytes();
  return refusal_of(ErrorKind::Input,
                    [&] { io::GgufFile::from_memory(gguf_view(bytes), "x.gguf"); });
}

HandMade with_tensors(std::initializer_list<std::string> tensors, std::size_t data) {
  HandMade file;
  file.tensor_count = tensors.size();
  for (const auto& tensor : tensors) file.tensors += tensor;
  file.data.assign(data, 'x');
  return file;
}

HandMade with_value(const std::string& encoded) {
  HandMade file;
  file.value_count = 1;
  file.values = encoded;
  return file;
}

std::string typed_value(const std::string& key, std::uint32_t type, const std::string& value) {
  auto out = hand_text(key);
  io::append_little(out, type, 4);
  return out + value;
}

}  // namespace

TEST_CASE("gguf: metadata of every type and tensors of every type come back as they were written") {
  const test::ScratchFolder folder;
  const auto single = counted_bytes(2 * 3 * 4), half = counted_bytes(10), brain = counted_bytes(6);
  const auto eight = counted_bytes(2 * 2 * 34), four = counted_bytes(3 * 18);
  const std::vector<io::GgufTensorData> tensors = {
      {"single", io::GgufType::F32, {2, 3}, single},
      {"half", io::GgufType::F16, {5}, half},
      {"brain", io::GgufType::BF16, {1, 1, 3, 1}, brain},
      {"eight", io::GgufType::Q8_0, {2, 64}, eight},
      {"four", io::GgufType::Q4_0, {3, 32}, {}, [&](const io::ByteSink& sink) {
         sink(std::span(four).first(7));
         sink(std::span(four).subspan(7));
       }}};
  io::write_gguf(folder / "m.gguf", gguf_values(), tensors);
  const io::GgufFile file(folder / "m.gguf");
  CHECK((file.metadata() == gguf_values()));
  REQUIRE(file.tensors().size() == 5);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto& read = file.tensors()[i];
    CHECK(read.name == tensors[i].name);
    CHECK(read.type == tensors[i].type);
    CHECK(read.shape == tensors[i].shape);
    CHECK(read.begin % 32 == 0);
    CHECK(file.find(read.name) == &read);
    const auto bytes = file.bytes(read);
    const auto& expected = i == 4 ? std::span<const std::byte>(four) : tensors[i].bytes;
    CHECK(std::equal(bytes.begin(), bytes.end(), expected.begin(), expected.end()));
  }
  CHECK(file.find("other") == nullptr);
  CHECK(io::gguf_bytes(gguf_values(), tensors) == read_file(folder / "m.gguf"));
}

TEST_CASE("gguf: the bytes are those of the format") {
  const auto values = counted_bytes(4);
  const std::vector<io::GgufTensorData> tensors = {{"t", io::GgufType::F16, {1, 2}, values}};
  HandMade expected;
  expected.tensor_count = expected.value_count = 1;
  expected.values = typed_value("k", 9, std::string("\x04\0\0\0\x01\0\0\0\0\0\0\0\x2A\0\0\0", 16));
  expected.tensors = hand_tensor("t", {2, 1}, 1, 0);
  expected.data = std::string("\x01\x08\x0F\x16", 4) + std::string(28, '\0');
  CHECK(io::gguf_bytes({{"k", std::vector<std::uint32_t>{42}}}, tensors) == expected.bytes());
}

TEST_CASE("gguf: what cannot be written is refused before a file appears") {
  const test::ScratchFolder folder;
  const auto bytes = counted_bytes(34);
  const auto refusal = [&](const io::GgufMetadata& metadata,
                           const std::vector<io::GgufTensorData>& tensors) {
    return refusal_of(ErrorKind::Internal,
                      [&] { io::write_gguf(folder / "m.gguf", metadata, tensors); });
  };
  CHECK(contains(refusal({{"k", true}, {"k", true}}, {}), "given twice; got 'k'"));
  CHECK(contains(refusal({}, {{std::string(64, 'n'), io::GgufType::Q8_0, {32}, bytes}}),
                 "expected 1 to 63"));
  CHECK(contains(refusal({}, {{"t", io::GgufType::Q8_0, {2, 16}, bytes}}), "Q8_0 cannot hold"));
  CHECK(
      contains(refusal({}, {{"t", io::GgufType::F32, {32}, bytes}}), "expected 128 for F32 [32]"));
  CHECK(
      contains(refusal({}, {{"t",
                             io::GgufType::Q8_0,
                             {32},
                             {},
                             [&](const io::ByteSink& sink) { sink(std::span(bytes).first(30)); }}}),
               "streamed the wrong size; got 30 bytes, expected 34"));
  CHECK(contains(refusal({{"general.alignment", std::uint32_t{64}}}, {}), "the writer's own"));
  CHECK(folder.count() == 0);
}

TEST_CASE("gguf: lying counts and lengths are refused before memory is taken for them") {
  HandMade file;
  file.tensor_count = 1ULL << 40U;
  CHECK(contains(gguf_refusal(file), "the number of tensors is impossible"));
  file = {};
  file.value_count = 1ULL << 60U;
  CHECK(contains(gguf_refusal(file), "the number of metadata values is impossible"));
  std::string huge;
  io::append_little(huge, ~0ULL, 8);
  CHECK(contains(gguf_refusal(with_value(huge + std::string(32, 'x'))),
                 "the length of a metadata key is impossible"));
  CHECK(contains(gguf_refusal(with_value(typed_value("k", 8, huge))), "the length of a text"));
  std::string array;
  io::append_little(array, 4, 4);
  CHECK(contains(gguf_refusal(with_value(typed_value("k", 9, array + huge))),
                 "the length of an array is impossible"));
}

TEST_CASE("gguf: unknown types, wrong values and keys given twice are refused") {
  CHECK(contains(gguf_refusal(with_value(typed_value("k", 13, "abcdefgh"))),
                 "'k' has a type that is not read; got number 13"));
  std::string nested;
  io::append_little(nested, 9, 4);
  CHECK(contains(gguf_refusal(with_value(typed_value("k", 9, nested + "abcdefghabcdefgh"))),
                 "got number 9"));
  CHECK(contains(gguf_refusal(with_value(typed_value("k", 7, "\x02"))), "neither 0 nor 1"));
  auto twice = with_value(typed_value("k", 0, "a") + typed_value("k", 0, "a"));
  twice.value_count = 2;
  CHECK(contains(gguf_refusal(twice), "a metadata key is given twice"));
  for (const std::uint32_t alignment : {0U, 24U, 1U << 30U}) {
    std::string number;
    io::append_little(number, alignment, 4);
    CHECK(contains(gguf_refusal(with_value(typed_value("general.alignment", 4, number))),
                   "expected a power of two"));
  }
}

TEST_CASE("gguf: tensors that overlap, leave the file or do not fit their type are refused") {
  const auto first = hand_tensor("a", {16}, 0, 0);  // 64 bytes
  CHECK(contains(gguf_refusal(with_tensors({first, hand_tensor("b", {8}, 0, 32)}, 96)),
                 "tensor 'b' overlaps another one"));
  CHECK(contains(gguf_refusal(with_tensors({first, hand_tensor("b", {8}, 0, 64)}, 80)),
                 "too short for tensor 'b'; got 80 bytes of data, expected 96"));
  CHECK(contains(gguf_refusal(with_tensors({first, hand_tensor("a", {8}, 0, 64)}, 96)),
                 "a tensor name is given twice"));
  CHECK(
      contains(gguf_refusal(with_tensors({hand_tensor("a", {8}, 0, 4)}, 96)), "a multiple of 32"));
  CHECK(contains(gguf_refusal(with_tensors({hand_tensor("a", {8}, 0, ~0ULL / 32 * 32)}, 96)),
                 "tensor 'a' is impossible"));
  CHECK(contains(gguf_refusal(with_tensors({hand_tensor("a", {33}, 8, 0)}, 96)), "got Q8_0 [33]"));
  CHECK(
      contains(gguf_refusal(with_tensors({hand_tensor("a", {1ULL << 40U, 1ULL << 40U}, 0, 0)}, 96)),
               "tensor 'a' is impossible"));
  CHECK(contains(gguf_refusal(with_tensors({hand_tensor("a", {~0ULL}, 0, 0)}, 96)),
                 "tensor 'a' is impossible"));
  CHECK(
      contains(gguf_refusal(with_tensors({hand_tensor("a", {256}, 12, 0)}, 144)), "got number 12"));
  CHECK(contains(gguf_refusal(with_tensors({hand_tensor("a", {1, 1, 1, 1, 1}, 0, 0)}, 96)),
                 "too many dimensions"));
  CHECK(contains(gguf_refusal(with_tensors({hand_tensor(std::string(80, 'n'), {8}, 0, 0)}, 96)),
                 "the length of a tensor name is impossible"));
}

TEST_CASE("gguf: what is something else, of another version or cut off is refused") {
  HandMade file;
  file.magic = 0x12345678;
  CHECK(contains(gguf_refusal(file), "is no GGUF file"));
  file = {};
  file.version = 1;
  CHECK(contains(gguf_refusal(file), "got 1, expected 2 or 3"));
  file.version = 3U << 24U;
  CHECK(contains(gguf_refusal(file), "big-endian"));
  const auto bytes = counted_bytes(68);
  const std::vector<io::GgufTensorData> tensors = {{"t", io::GgufType::Q8_0, {2, 32}, bytes}};
  const auto whole = io::gguf_bytes(gguf_values(), tensors);
  for (std::size_t length = 0; length < whole.size() - 28; ++length) {  // 28 bytes of padding
    const auto part = gguf_view(whole).first(length);
    CHECK(contains(test::error_of([&] { io::GgufFile::from_memory(part, "x.gguf"); }), "x.gguf"));
  }
}

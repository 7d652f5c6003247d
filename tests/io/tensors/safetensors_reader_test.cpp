// SPDX-License-Identifier: Apache-2.0
// Valid files: tensors, dtypes, metadata, memory map and read().
#include "ubique/io/tensors/safetensors_reader.h"

#include <doctest/doctest.h>

#include <numeric>

#include "tests/base/scratch.h"
#include "tests/io/samples.h"

using namespace ubique;
using io::SafetensorsFile;

TEST_CASE("safetensors: tensors, shapes, bytes and metadata are read") {
  const auto text = test::small_file();
  const auto file = SafetensorsFile::from_memory(test::bytes_of(text), "small");
  REQUIRE(file.tensors().size() == 3);
  CHECK(file.tensors()[0].name == "b");
  CHECK(file.tensors()[0].shape == io::Shape{2, 1});
  CHECK(test::text_of(file.bytes(file.tensors()[0])) == "01234567");
  const auto* scalar = file.find("a");
  REQUIRE(scalar != nullptr);
  CHECK(scalar->dtype == DType::BF16);
  CHECK(scalar->shape.empty());
  CHECK(test::text_of(file.bytes(*scalar)) == "ab");
  const auto* none = file.find("none");
  REQUIRE(none != nullptr);
  CHECK(file.bytes(*none).empty());
  CHECK(file.find("c") == nullptr);
  CHECK(file.metadata() == io::Metadata{{"format", "pt"}, {"note", "two words"}});
  CHECK(file.size() == text.size());
}

TEST_CASE("safetensors: every dtype has its name and size") {
  const std::pair<const char*, DType> rows[] = {
      {"F64", DType::F64},        {"F32", DType::F32}, {"F16", DType::F16},
      {"BF16", DType::BF16},      {"I64", DType::I64}, {"I32", DType::I32},
      {"I16", DType::I16},        {"I8", DType::I8},   {"U8", DType::U8},
      {"U16", DType::U16},        {"U32", DType::U32}, {"U64", DType::U64},
      {"BOOL", DType::Bool},      {"C64", DType::C64}, {"F8_E4M3", DType::F8E4M3},
      {"F8_E5M2", DType::F8E5M2},
  };
  for (const auto& [name, dtype] : rows) {
    CAPTURE(name);
    const auto size = 3 * size_of(dtype);
    const auto text = test::file_of(
        R"({"x":)" + test::entry(name, "[3]", "[0," + std::to_string(size) + "]") + "}",
        std::string(size, 'x'));
    const auto file = SafetensorsFile::from_memory(test::bytes_of(text), "one");
    CHECK(file.tensors().at(0).dtype == dtype);
  }
}

TEST_CASE("safetensors: the order is that of the bytes, whatever the header's order") {
  const auto text = test::file_of(R"({"late":)" + test::entry("U8", "[2]", "[1,3]") +
                                      R"(,"early":)" + test::entry("U8", "[1]", "[0,1]") + "}",
                                  "abc");
  const auto file = SafetensorsFile::from_memory(test::bytes_of(text), "order");
  CHECK(file.tensors().at(0).name == "early");
  CHECK(file.tensors().at(1).name == "late");
  CHECK(test::text_of(file.bytes(*file.find("late"))) == "bc");
}

TEST_CASE("safetensors: a file without tensors is fine") {
  const auto text = test::file_of("{}", "");
  CHECK(SafetensorsFile::from_memory(test::bytes_of(text), "none").tensors().empty());
}

TEST_CASE("safetensors: names keep their letters, escaped or not") {
  const auto text =
      test::file_of("{\"gr\\u00f6\\u00dfe\\n\":" + test::entry("U8", "[1]", "[0,1]") + "}", "x");
  const auto file = SafetensorsFile::from_memory(test::bytes_of(text), "names");
  CHECK(file.find("größe\n") != nullptr);
}

TEST_CASE("safetensors: a file on disk is mapped, and survives being moved") {
  const test::ScratchFolder folder;
  write_file(folder / "x.safetensors", test::small_file());
  SafetensorsFile opened(folder / "x.safetensors");
  const auto file = std::move(opened);
  CHECK(test::text_of(file.bytes(*file.find("a"))) == "ab");
  std::string out(8, ' ');
  file.read(*file.find("b"), std::as_writable_bytes(std::span(out)));
  CHECK(out == "01234567");
}

TEST_CASE("safetensors: a large tensor is read whole") {
  constexpr std::size_t kCount = (20U << 20U) + 12345;
  std::string data(kCount, '\0');
  for (std::size_t i = 0; i < kCount; ++i) data[i] = static_cast<char>(i * 2654435761U >> 13U);
  const auto size = std::to_string(kCount);
  const test::ScratchFolder folder;
  write_file(folder / "x",
             test::file_of(
                 R"({"x":)" + test::entry("U8", "[" + size + "]", "[0," + size + "]") + "}", data));
  const SafetensorsFile file(folder / "x");
  std::string out(kCount, '\0');
  file.read(file.tensors()[0], std::as_writable_bytes(std::span(out)));
  CHECK(out == data);
}

TEST_CASE("safetensors: a file that shrinks while it is open is an error of read()") {
  const test::ScratchFolder folder;
  write_file(folder / "x", test::small_file());
  const SafetensorsFile file(folder / "x");
  std::filesystem::resize_file(folder / "x", 20);
  std::string out(8, ' ');
  const auto error =
      test::error_of([&] { file.read(*file.find("b"), std::as_writable_bytes(std::span(out))); });
  CHECK(test::contains(error, "input: [io.read]"));
  CHECK(test::contains(error, "became shorter"));
}

TEST_CASE("safetensors: a destination of the wrong size and a foreign tensor are refused") {
  const auto text = test::small_file();
  const auto file = SafetensorsFile::from_memory(test::bytes_of(text), "small");
  std::string out(7, ' ');
  CHECK(test::contains(
      test::error_of([&] { file.read(*file.find("b"), std::as_writable_bytes(std::span(out))); }),
      "internal"));
  io::TensorInfo foreign = *file.find("b");
  foreign.end = 1000;
  CHECK(test::contains(test::error_of([&] { file.bytes(foreign); }), "internal"));
}

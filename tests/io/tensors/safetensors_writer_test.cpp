// SPDX-License-Identifier: Apache-2.0
// Written files equal those of Python; wrong tensors are refused.
#include "ubique/io/tensors/safetensors_writer.h"

#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "tests/io/samples.h"
#include "ubique/base/files/file.h"
#include "ubique/io/tensors/safetensors_reader.h"

using namespace ubique;
using io::TensorData;

namespace {

const std::string kEight = "12345678";

TensorData tensor(const std::string& name, DType dtype, io::Shape shape,
                  std::string_view bytes = kEight) {
  return {name, dtype, std::move(shape), test::bytes_of(bytes)};
}

std::string error_of_writing(const test::ScratchFolder& folder,
                             const std::vector<TensorData>& tensors) {
  return test::error_of([&] { io::write_safetensors(folder / "x", tensors); });
}

}  // namespace

TEST_CASE("safetensors writer: the bytes are those of Python's serializer") {
  const test::ScratchFolder folder;
  const std::vector<TensorData> tensors = {
      tensor("é\n\"\x7f/", DType::F32, {0, 3}, ""),
      tensor("zz", DType::U8, {3}, "abc"),
      tensor("a", DType::F32, {}, "1234"),
  };
  io::write_safetensors(folder / "x", tensors);
  // Written by the Python package from the same tensors.
  const std::string header = R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},"é\n\")"
                             "\x7f"
                             R"(/":{"dtype":"F32","shape":[0,3],"data_offsets":[4,4]},)"
                             R"("zz":{"dtype":"U8","shape":[3],"data_offsets":[4,7]}})";
  const auto padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  CHECK(read_file(folder / "x") == test::file_of(padded, "1234abc"));
}

TEST_CASE("safetensors writer: tensors are sorted by alignment, then by name") {
  const DType order[] = {DType::U64,    DType::I64, DType::F64, DType::C64,
                         DType::F32,    DType::U32, DType::I32, DType::BF16,
                         DType::F16,    DType::U16, DType::I16, DType::F8E4M3,
                         DType::F8E5M2, DType::I8,  DType::U8,  DType::Bool};
  std::vector<TensorData> tensors;
  for (const auto dtype : order) {
    const auto count = static_cast<std::int64_t>(8 / size_of(dtype));
    tensors.insert(tensors.begin(), tensor(fmt::format("b{}", to_string(dtype)), dtype, {count}));
    tensors.insert(tensors.begin() + 1,
                   tensor(fmt::format("a{}", to_string(dtype)), dtype, {count}));
  }
  const test::ScratchFolder folder;
  io::write_safetensors(folder / "x", tensors);
  const io::SafetensorsFile file(folder / "x");
  REQUIRE(file.tensors().size() == 32);
  for (std::size_t i = 0; i < 16; ++i) {
    CHECK(file.tensors()[2 * i].name == fmt::format("a{}", to_string(order[i])));
    CHECK(file.tensors()[2 * i + 1].name == fmt::format("b{}", to_string(order[i])));
  }
}

TEST_CASE("safetensors writer: metadata and data come back, and the data starts at 8") {
  const test::ScratchFolder folder;
  const io::Metadata metadata = {{"config", R"({"a": "b"})"}, {"ö", "line\nline"}};
  const std::vector<TensorData> tensors = {tensor("x", DType::F32, {2})};
  for (int pad = 0; pad < 8; ++pad) {
    auto longer = metadata;
    longer["pad"] = std::string(static_cast<std::size_t>(pad), 'p');
    io::write_safetensors(folder / "x", tensors, longer);
    const io::SafetensorsFile file(folder / "x");
    CHECK(file.metadata() == longer);
    CHECK((file.size() - 8) % 8 == 0);
    CHECK(test::text_of(file.bytes(file.tensors()[0])) == kEight);
  }
}

TEST_CASE("safetensors writer: a stream gives its bytes in pieces of any size") {
  const test::ScratchFolder folder;
  TensorData streamed = tensor("s", DType::F32, {2}, "");
  streamed.stream = [](const io::ByteSink& sink) {
    for (const std::string piece : {"123", "", "45", "678"}) sink(test::bytes_of(piece));
  };
  io::write_safetensors(folder / "s", {&streamed, 1});
  const std::vector<TensorData> plain = {tensor("s", DType::F32, {2})};
  io::write_safetensors(folder / "p", plain);
  CHECK(read_file(folder / "s") == read_file(folder / "p"));
}

TEST_CASE("safetensors writer: wrong tensors are refused before anything is written") {
  const test::ScratchFolder folder;
  const std::pair<std::vector<TensorData>, const char*> rows[] = {
      {{tensor("x", DType::F32, {3})}, "got 8 bytes, expected 12 for f32 [3]"},
      {{tensor("x", DType::F32, {-1})}, "impossible shape; got [-1]"},
      {{tensor("x", DType::F32, {1LL << 62})}, "impossible shape"},
      {{tensor("", DType::F32, {2})}, "cannot be named ''"},
      {{tensor("__metadata__", DType::F32, {2})}, "cannot be named '__metadata__'"},
      {{tensor("\xff", DType::F32, {2})}, "not UTF-8"},
      {{tensor("x", DType::F32, {2}), tensor("y", DType::F32, {2}), tensor("x", DType::U8, {8})},
       "two tensors have the name 'x'"},
  };
  for (const auto& [tensors, message] : rows) {
    CAPTURE(message);
    const auto error = error_of_writing(folder, tensors);
    CAPTURE(error);
    CHECK(error.starts_with("internal: [io.safetensors]"));
    CHECK(test::contains(error, message));
    CHECK(folder.count() == 0);
  }
}

TEST_CASE("safetensors writer: a stream of the wrong length leaves the old file") {
  const test::ScratchFolder folder;
  write_file(folder / "x", "old");
  for (const std::size_t length : {0U, 7U, 9U}) {
    CAPTURE(length);
    TensorData streamed = tensor("s", DType::F32, {2}, "");
    streamed.stream = [&](const io::ByteSink& sink) {
      sink(test::bytes_of(std::string(length, 'x')));
    };
    CHECK(test::contains(error_of_writing(folder, {streamed}), "streamed the wrong size"));
    CHECK(read_file(folder / "x") == "old");
    CHECK(folder.count() == 1);
  }
}

TEST_CASE("safetensors writer: a folder that is not there is an Input error") {
  const test::ScratchFolder folder;
  const auto error = test::error_of([&] { io::write_safetensors(folder / "no/x", {}); });
  CHECK(error.starts_with("input: "));
}

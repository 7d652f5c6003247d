// SPDX-License-Identifier: Apache-2.0
// Inconsistent headers: each gives an Input error that names the fault, never a crash, an
// allocation of the claimed size, or a tensor outside the file.
#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "tests/io/samples.h"
#include "ubique/base/numbers/random.h"
#include "ubique/io/tensors/safetensors_reader.h"

using namespace ubique;
using io::SafetensorsFile;
using test::entry;
using test::file_of;

namespace {

struct HostileCase {
  std::string what;
  std::string file;
  std::string message;  // part of it
};

std::string error_for(const std::string& file) {
  return test::error_of([&] { SafetensorsFile::from_memory(test::bytes_of(file), "bad"); });
}

void check_all(const std::vector<HostileCase>& cases) {
  for (const auto& row : cases) {
    CAPTURE(row.what);
    const auto error = error_for(row.file);
    CAPTURE(error);
    CHECK(error.starts_with("input: [io.safetensors] bad"));
    CHECK(test::contains(error, row.message));
  }
}

/// A file with one tensor 'x' and this much data.
std::string one(const std::string& tensor, std::size_t data = 4) {
  return file_of(R"({"x":)" + tensor + "}", std::string(data, 'd'));
}

std::string with_metadata(const std::string& metadata) {
  return file_of(R"({"__metadata__":)" + metadata + "}", "");
}

}  // namespace

TEST_CASE("safetensors: a wrong length field is refused") {
  const auto largest = std::numeric_limits<std::uint64_t>::max();
  check_all({
      {"empty file", "", "got 0 bytes"},
      {"shorter than the length", "1234567", "got 7 bytes, expected at least 8"},
      {"header longer than the file", test::file_with_length(3, "{}", ""),
       "got a header length of 3 bytes, expected at most 2"},
      {"header far longer, within the limit", test::file_with_length(99'999'999, "{}", ""),
       "header is longer than the file"},
      {"above the limit", test::file_with_length(100'000'001, "{}", ""), "at most 100000000"},
      {"largest length", test::file_with_length(largest, "{}", ""), "18446744073709551615"},
      {"length that wraps", test::file_with_length(largest - 7, "{}", ""), "header length"},
      {"no header", test::file_with_length(0, "", "data"), "not JSON"},
  });
}

TEST_CASE("safetensors: a header that is not such a JSON text is refused") {
  const std::string deep(100'000, '[');
  check_all({
      {"not JSON", file_of("{nonsense}", ""), "not JSON; got something unreadable near byte 3"},
      {"cut JSON", file_of(R"({"x":{"dtype":"F32")", ""), "not JSON"},
      {"blank first", file_of(" {}", ""), "expected '{'"},
      {"a list", file_of("[]", ""), "expected '{'"},
      {"two values", file_of("{}{}", ""), "not JSON"},
      {"zero bytes as padding", file_of(std::string("{}\0\0", 4), ""), "zero byte"},
      {"hidden behind a zero", file_of(std::string("{}\0{", 4), ""), "zero byte"},
      {"deep lists", file_of(R"({"x":)" + deep, ""), "got a list"},
      {"deep shape", one(R"({"shape":)" + deep + "}"), "got a list"},
      {"deep objects", file_of(R"({"x":{"x":{"x":{)", ""), "unknown field"},
      {"broken UTF-8", file_of("{\"\xC3\x28\":1}", ""), "not JSON"},
      {"lone surrogate", file_of(R"({"\ud800":1})", ""), "not JSON"},
      {"empty name", file_of(R"({"":)" + entry("U8", "[0]", "[0,0]") + "}", ""), "empty name"},
  });
}

TEST_CASE("safetensors: a tensor's entry of the wrong form is refused") {
  std::string dimensions = "[1";
  for (int i = 0; i < 64; ++i) dimensions += ",1";
  check_all({
      {"number", one("5"), "expected an object with dtype, shape and data_offsets"},
      {"null", one("null"), "got null"},
      {"text", one(R"("F32")"), "got the text 'F32'"},
      {"list", one("[]"), "got a list"},
      {"boolean", one("true"), "got true or false"},
      {"empty object", one("{}"), "has no dtype"},
      {"no shape", one(R"({"dtype":"F32","data_offsets":[0,4]})"), "has no shape"},
      {"no offsets", one(R"({"dtype":"F32","shape":[1]})"), "has no data_offsets"},
      {"unknown field", one(R"({"dtype":"F32","strides":[1]})"), "got 'strides'"},
      {"dtype twice", one(R"({"dtype":"F32","dtype":"F32"})"), "gives dtype twice"},
      {"shape twice", one(R"({"shape":[1],"shape":[1]})"), "gives shape twice"},
      {"offsets twice", one(R"({"data_offsets":[0,4],"data_offsets":[0,4]})"),
       "gives data_offsets twice"},
      {"dtype a number", one(R"({"dtype":7})"), "got a number, expected a text"},
      {"unknown dtype", one(entry("F31", "[1]", "[0,4]")), "got 'F31', expected one of U64"},
      {"dtype in our spelling", one(entry("f32", "[1]", "[0,4]")), "unknown dtype; got 'f32'"},
      {"shape a text", one(R"({"shape":"[1]"})"), "expected a list of numbers for shape"},
      {"negative dimension", one(entry("F32", "[-1]", "[0,4]")), "got a negative number"},
      {"fraction", one(entry("F32", "[1.5]", "[0,4]")), "fraction"},
      {"exponent", one(entry("F32", "[1e0]", "[0,4]")), "fraction"},
      {"dimension beyond 64 bits", one(entry("F32", "[99999999999999999999]", "[0,4]")),
       "too large"},
      {"dimension beyond 63 bits", one(entry("F32", "[9223372036854775808]", "[0,4]")),
       "9223372036854775808, which is too large"},
      {"text in shape", one(entry("F32", R"(["1"])", "[0,4]")), "whole numbers from 0 in shape"},
      {"65 dimensions", one(entry("F32", dimensions + "]", "[0,4]")), "too many dimensions"},
      {"no offset", one(entry("F32", "[1]", "[]")), "has 0 data_offsets; expected 2"},
      {"one offset", one(entry("F32", "[1]", "[0]")), "has 1 data_offsets; expected 2"},
      {"three offsets", one(entry("F32", "[1]", "[0,4,8]")), "more than two numbers"},
      {"negative offset", one(entry("F32", "[1]", "[-4,0]")), "got a negative number"},
      {"nested offsets", one(entry("F32", "[1]", "[[0],4]")), "got a list"},
  });
}

TEST_CASE("safetensors: sizes and offsets that do not fit are refused") {
  const std::string huge = "9223372036854775807";
  check_all({
      {"ends before it begins", one(entry("F32", "[1]", "[4,0]")), "ends before it begins"},
      {"past the end", one(entry("F32", "[2]", "[0,8]")), "past the end of the file"},
      {"far past the end", one(entry("U8", "[" + huge + "]", "[0," + huge + "]")),
       "expected at most 4. Was the download cut short?"},
      {"too few bytes", one(entry("F32", "[2]", "[0,4]")),
       "got 4 bytes (data_offsets [0, 4]), expected 8 for f32 [2]"},
      {"too many bytes", one(entry("F16", "[1]", "[0,4]")), "expected 2 for f16 [1]"},
      {"bytes for none", one(entry("F32", "[0]", "[0,4]")), "expected 0 for f32 [0]"},
      {"product wraps to 0", one(entry("F32", "[4294967296,4294967296]", "[0,0]"), 0),
       "expected fewer than 2^63 bytes"},
      {"product wraps to 4", one(entry("F32", "[4611686018427387905]", "[0,4]")),
       "expected fewer than 2^63 bytes"},
      {"size wraps in bytes", one(entry("F64", "[1152921504606846976]", "[0,0]"), 0),
       "expected fewer than 2^63 bytes"},
      {"zero hides a product", one(entry("F32", "[0,4294967296,4294967296]", "[0,0]"), 0),
       "expected fewer than 2^63 bytes"},
  });
}

TEST_CASE("safetensors: tensors must tile the data") {
  const auto two = [](const std::string& a, const std::string& b, std::size_t data) {
    return file_of(R"({"a":)" + a + R"(,"b":)" + b + "}", std::string(data, 'd'));
  };
  const auto bytes = [](int begin, int end) {
    return entry("U8", "[" + std::to_string(end - begin) + "]",
                 "[" + std::to_string(begin) + "," + std::to_string(end) + "]");
  };
  check_all({
      {"overlap", two(bytes(0, 4), bytes(2, 6), 6), "'b' overlaps another; got a begin of 2"},
      {"the same place", two(bytes(0, 4), bytes(0, 4), 4), "overlaps another"},
      {"inside", two(bytes(0, 8), bytes(2, 4), 8), "'b' overlaps another"},
      {"hole at the start", one(bytes(2, 4)), "comes after a hole; got a begin of 2, expected 0"},
      {"hole between", two(bytes(0, 2), bytes(3, 4), 4), "expected 2, where 'a' ends"},
      {"rest at the end", one(bytes(0, 3)), "1 bytes at the end belong to no tensor"},
      {"data without tensors", file_of("{}", "d"), "1 bytes at the end"},
      {"empty one in the middle", two(bytes(0, 4), bytes(2, 2), 4), "overlaps another"},
      {"name twice", file_of(R"({"a":)" + bytes(0, 2) + R"(,"a":)" + bytes(2, 4) + "}", "dddd"),
       "two tensors have the name 'a'"},
      {"name twice, once escaped",
       file_of(R"({"a":)" + bytes(0, 2) + R"(,"\u0061":)" + bytes(2, 4) + "}", "dddd"),
       "two tensors have the name 'a'"},
  });
}

TEST_CASE("safetensors: metadata must be texts, each key once") {
  check_all({
      {"a text", with_metadata(R"("x")"), "__metadata__ is not written as the format asks"},
      {"null", with_metadata("null"), "got null, expected an object of texts"},
      {"a number", with_metadata(R"({"a":1})"), "metadata 'a'"},
      {"an object", with_metadata(R"({"a":{}})"), "got an object, expected a text"},
      {"a list", with_metadata(R"({"a":[]})"), "got a list"},
      {"a key twice", with_metadata(R"({"a":"1","a":"2"})"), "metadata 'a' is given twice"},
      {"itself twice", file_of(R"({"__metadata__":{},"__metadata__":{}})", ""),
       "__metadata__ is given twice"},
  });
}

TEST_CASE("safetensors: an error names what other kind of file it is") {
  const auto known = [](std::string start) { return start + std::string(400, 'x'); };
  std::string tar(512, 'x');
  tar.replace(257, 5, "ustar");
  check_all({
      {"zip", known("PK\x03\x04"), "a zip archive, as PyTorch's .pt"},
      {"pickle", known("\x80\x02}q"), "a Python pickle"},
      {"HDF5", known("\x89HDF\r\n\x1a\n"), "an HDF5 file"},
      {"gzip", known("\x1f\x8b\x08"), "a gzip file"},
      {"PNG", known("\x89PNG\r\n\x1a\n"), "a PNG picture"},
      {"npy", known("\x93NUMPY\x01"), "a NumPy .npy array"},
      {"LFS", known("version https://git-lfs.github.com/spec/v1\n"), "git lfs pull"},
      {"page", known("<!DOCTYPE html><html>"), "a web page"},
      {"JSON", known("{\"weight_map\": {}}"), "a JSON text"},
      {"tar", tar, "a tar archive"},
      {"a length like a pickle", test::file_with_length(0x280, "{}", ""), "cut short"},
  });
}

TEST_CASE("safetensors: an error shows no control characters and no endless names") {
  const auto error = error_for(file_of(
      "{\"\\u001b[2Jx\\u0085" + std::string(5000, 'y') + "\":" + entry("F32", "[1]", "[4,0]") + "}",
      "dddd"));
  CHECK(test::contains(error, "\\x1b[2Jx\\x85yyy"));
  CHECK(error.find('\x1b') == std::string::npos);
  CHECK(error.size() < 500);
}

TEST_CASE("safetensors: cut at any length, a file is refused") {
  const auto whole = test::small_file();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    CHECK(error_for(whole.substr(0, length)).starts_with("input: "));
  }
  CHECK(error_for(whole) == "no error");
}

TEST_CASE("safetensors: with any bits flipped, a file is read in bounds or refused") {
  const auto whole = test::small_file();
  const auto examine = [](const std::string& file) {
    const auto error = test::error_of([&] {
      const auto opened = SafetensorsFile::from_memory(test::bytes_of(file), "bad");
      std::uint64_t total = 0;
      for (const auto& tensor : opened.tensors()) total += opened.bytes(tensor).size();
      CHECK(total <= file.size());
    });
    CHECK((error == "no error" || error.starts_with("input: ")));
  };
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (unsigned value = 0; value < 256; ++value) {
      auto changed = whole;
      changed[i] = static_cast<char>(value);
      examine(changed);
    }
  }
  const Random random(11);
  for (std::uint64_t round = 0; round < 20'000; ++round) {
    auto changed = whole;
    const auto draw = random.fork(round);
    for (std::uint64_t k = 0; k < 1 + draw.below(0, 4); ++k) {
      changed[draw.below(10 + 2 * k, changed.size())] =
          static_cast<char>(draw.below(11 + 2 * k, 256));
    }
    examine(changed);
  }
}

TEST_CASE("safetensors: more tensors than any model has are refused") {
  std::string json = "{";
  for (std::size_t i = 0; i <= io::kMaxSafetensorsTensors; ++i) {
    if (i > 0) json += ',';
    json += "\"t" + std::to_string(i) + R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  }
  CHECK(test::contains(error_for(file_of(json + "}", "")), "has too many tensors; expected at"));
  json.resize(json.rfind(",\"t"));
  CHECK(error_for(file_of(json + "}", "")) == "no error");
}

// SPDX-License-Identifier: Apache-2.0
// NumPy's arrays: headers of every version, every numeric type, and refusal of the others.
#include <doctest/doctest.h>

#include <cstring>

#include "tests/base/scratch.h"
#include "tests/io/archive/zip_samples.h"
#include "tests/io/samples.h"
#include "ubique/io/arrays/npz.h"

using namespace ubique;
using test::bytes_of;
using test::contains;

namespace {

/// An array of any header and data; `version` decides how long the length is.
std::string array_of(const std::string& dict, const std::string& data, int version = 1) {
  return "\x93NUMPY" + std::string(1, static_cast<char>(version)) + std::string(1, '\0') +
         test::little(dict.size(), version == 1 ? 2 : 4) + dict + data;
}

std::string dict_of(const std::string& type, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }   \n";
}

io::HostTensor parse_npy_file(const std::string& file) {
  return io::parse_npy(bytes_of(file), "x.npy");
}

std::string refusal(const std::string& file) {
  return test::refusal_of(ErrorKind::Input, [&] { parse_npy_file(file); });
}

}  // namespace

TEST_CASE("npz: headers of versions 1 to 3, shapes of every form") {
  for (const int version : {1, 2, 3}) {
    const auto tensor = parse_npy_file(array_of(dict_of("<i2", "(2, 3)"), "aabbccddeeff", version));
    CHECK(tensor.dtype == DType::I16);
    CHECK(tensor.shape == io::Shape{2, 3});
    CHECK(test::text_of(tensor.bytes) == "aabbccddeeff");
  }
  CHECK(parse_npy_file(array_of(dict_of("|u1", "()"), "a")).shape.empty());
  CHECK(parse_npy_file(array_of(dict_of("|u1", "(2,)"), "ab")).shape == io::Shape{2});
  CHECK(parse_npy_file(array_of(dict_of("|u1", "(2L, 1L)"), "ab")).shape == io::Shape{2, 1});
  CHECK(parse_npy_file(array_of(dict_of("<f8", "(0, 3)"), "")).shape == io::Shape{0, 3});
  CHECK(
      parse_npy_file(array_of(R"({"shape":(1,),"fortran_order":False,"descr":"u1"})", "a")).dtype ==
      DType::U8);
}

TEST_CASE("npz: every type that is a number, in either byte order") {
  const auto type_of = [](const std::string& type, std::size_t bytes) {
    return parse_npy_file(array_of(dict_of(type, "(1,)"), std::string(bytes, 'x'))).dtype;
  };
  CHECK(type_of("|b1", 1) == DType::Bool);
  CHECK(type_of("|i1", 1) == DType::I8);
  CHECK(type_of("<u2", 2) == DType::U16);
  CHECK(type_of("<i4", 4) == DType::I32);
  CHECK(type_of("<u4", 4) == DType::U32);
  CHECK(type_of("<i8", 8) == DType::I64);
  CHECK(type_of("<u8", 8) == DType::U64);
  CHECK(type_of("<f2", 2) == DType::F16);
  CHECK(type_of("<f4", 4) == DType::F32);
  CHECK(type_of("<f8", 8) == DType::F64);
  CHECK(type_of("<c8", 8) == DType::C64);
  CHECK(type_of("=f4", 4) == DType::F32);
  const auto big = [](const std::string& type, const std::string& data) {
    return test::text_of(parse_npy_file(array_of(dict_of(type, "(1,)"), data)).bytes);
  };
  CHECK(big(">f4", "abcd") == "dcba");
  CHECK(big(">c8", "abcdefgh") == "dcbahgfe");
  CHECK(big("<f4", "abcd") == "abcd");
}

TEST_CASE("npz: Fortran order becomes row-major") {
  const auto tensor = parse_npy_file(array_of(dict_of("|u1", "(2, 3)", true), "adbecf"));
  CHECK(test::text_of(tensor.bytes) == "abcdef");
  const auto cube = parse_npy_file(array_of(dict_of(">i2", "(2, 1, 2)", true), "01234567"));
  CHECK(test::text_of(cube.bytes) == "10543276");
}

TEST_CASE("npz: other types are refused by their name") {
  const auto type = [](const std::string& descr) {
    return refusal(array_of(dict_of(descr, "(1,)"), std::string(64, 'x')));
  };
  CHECK(contains(type("|O"), "x.npy holds Python objects, which are pickles; got the type '|O'"));
  CHECK(contains(type("<U5"), "holds texts; got the type '<U5'"));
  CHECK(contains(type("|S5"), "holds byte strings"));
  CHECK(contains(type("<M8[ns]"), "holds dates"));
  CHECK(contains(type("<m8[s]"), "holds time spans"));
  CHECK(contains(type("|V2"), "holds records or raw bytes"));
  CHECK(contains(type("<f16"), "numbers of another width"));
  CHECK(contains(type("<c16"), "numbers of another width"));
  CHECK(contains(type(""), "numbers of another width"));
  CHECK(contains(
      refusal(array_of("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "abcd")),
      "records of several fields"));
}

TEST_CASE("npz: headers and lengths that lie are refused") {
  const auto good = dict_of("<f4", "(2,)");
  CHECK(contains(refusal(array_of(good, "1234567")), "wrong length; got 7 bytes of values"));
  CHECK(contains(refusal(array_of(good, "123456789")), "wrong length; got 9 bytes of values"));
  CHECK(contains(refusal(array_of(dict_of("<f4", "(4294967296, 4294967296, 4294967296)"), "")),
                 "wrong length"));
  CHECK(contains(refusal(array_of(good, "12345678", 4)), "unknown version; got 4"));
  CHECK(
      contains(refusal("\x89HDF\r\n\x1a\n...."), "is not an .npy array; this looks like an HDF5"));
  CHECK(contains(refusal(""), "is not an .npy array"));
  for (const std::string dict :
       {"", "{", "{}", "[]", "{'descr'", "{'descr': '<f4'}",
        "{'descr': '<f4', 'fortran_order': 1, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': True, 'shape': 1}",
        "{'descr': '<f4', 'fortran_order': True, 'shape': (1 2)}",
        "{'descr': '<f4', 'fortran_order': True, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': True, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': True, 'shape': (1,), 'x': 1}",
        "{'descr': '<f4', 'fortran_order': True, 'shape': (1,), 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': True, 'shape': (1,)} x"}) {
    CAPTURE(dict);
    CHECK(contains(refusal(array_of(dict, "1234")), "has an unreadable header"));
  }
  const auto whole = array_of(good, "12345678");
  CHECK(parse_npy_file(whole).shape == io::Shape{2});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CHECK(refusal(whole.substr(0, length)).starts_with("[io.npy] x.npy"));
  }
}

TEST_CASE("npz: an array's header is spelt as NumPy spells it") {
  const io::HostTensor tensor{"x", DType::F32, {3, 4}, std::vector<std::byte>(48)};
  const auto bytes = io::npy_bytes(tensor);
  CHECK(bytes.size() == 128 + 48);
  CHECK(bytes.substr(0, 10) == std::string("\x93NUMPY\x01\0v\0", 10));
  CHECK(bytes.substr(10, 58) == "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), ");
  CHECK(bytes[127] == '\n');
  const io::HostTensor half{"x", DType::BF16, {1}, std::vector<std::byte>(2)};
  CHECK(contains(test::refusal_of(ErrorKind::Input, [&] { io::npy_bytes(half); }),
                 "NumPy has no type for bf16"));
}

TEST_CASE("npz: arrays and archives are read back as written") {
  const test::ScratchFolder folder;
  std::vector<io::HostTensor> tensors;
  for (const auto dtype :
       {DType::Bool, DType::U8, DType::I8, DType::U16, DType::I16, DType::U32, DType::I32,
        DType::U64, DType::I64, DType::F16, DType::F32, DType::F64, DType::C64}) {
    tensors.push_back({"a/" + std::string(to_string(dtype)),
                       dtype,
                       {2, 3},
                       std::vector<std::byte>(6 * size_of(dtype), std::byte{1})});
  }
  tensors.push_back({"scalar", DType::F32, {}, std::vector<std::byte>(4, std::byte{2})});
  tensors.push_back({"none", DType::I64, {3, 0}, {}});
  for (const bool compress : {true, false}) {
    io::write_npz(folder / "x.npz", tensors, compress);
    const auto again = io::read_npz(folder / "x.npz");
    REQUIRE(again.size() == tensors.size());
    for (std::size_t i = 0; i < again.size(); ++i) {
      CHECK(again[i].name == tensors[i].name);
      CHECK(again[i].dtype == tensors[i].dtype);
      CHECK(again[i].shape == tensors[i].shape);
      CHECK(again[i].bytes == tensors[i].bytes);
    }
  }
  io::write_npy(folder / "scan.npy", tensors[10]);
  const auto one = io::read_npy(folder / "scan.npy");
  CHECK(one.name == "scan");
  CHECK(one.bytes == tensors[10].bytes);
}

TEST_CASE("npz: an archive of something else is refused") {
  const auto refused = [](const std::string& file) {
    return test::refusal_of(ErrorKind::Input, [&] { io::parse_npz(bytes_of(file), "x.npz"); });
  };
  CHECK(contains(refused(test::zip_of({{"archive/data.pkl", "x"}})), "got 'archive/data.pkl'"));
  CHECK(contains(refused(test::zip_of({{"a.npy", "x"}})), "x.npz: array 'a.npy' is not an .npy"));
  CHECK(contains(refused("\x93NUMPY\x01"), "is not a zip archive; this looks like a NumPy .npy"));
}

// SPDX-License-Identifier: Apache-2.0
// MATLAB files, built element by element: both byte orders, plain and compressed.
#include "ubique/io/arrays/mat.h"

#include <doctest/doctest.h>
#include <zlib.h>

#include "tests/base/scratch.h"
#include "tests/io/scans/nifti_samples.h"
#include "ubique/base/files/file.h"

using namespace ubique;
using io::MatValue;

namespace {

enum : std::uint32_t { kI8 = 1, kU8, kI16, kU16, kI32, kU32, kF32, kF64 = 9, kMatrix = 14, kZip };
enum : std::uint32_t { kCell = 1, kStruct = 2, kChar = 4, kSparse = 5, kDouble = 6, kByte = 9 };

/// Writes a file of one byte order.
struct MatMaker {
  bool big = false;

  template <typename T>
  std::string number(T value) const {
    return test::number_bytes(value, big);
  }
  template <typename T>
  std::string numbers(const std::vector<T>& values) const {
    return test::voxel_bytes(values, big);
  }
  std::string element(std::uint32_t type, std::string content) const {
    const auto size = static_cast<std::uint32_t>(content.size());
    if (type != kZip) content.resize((content.size() + 7) / 8 * 8);
    return number(type) + number(size) + content;
  }
  /// Four bytes and less may lie in the tag.
  std::string small(std::uint16_t type, std::string content) const {
    const auto size = static_cast<std::uint16_t>(content.size());
    content.resize(4);
    const auto word = static_cast<std::uint32_t>(size) << 16U | type;
    return number(word) + content;
  }
  std::string array(std::uint32_t kind, const std::vector<std::int32_t>& shape,
                    const std::string& name, const std::string& content) const {
    return element(kMatrix, element(kU32, number(kind) + number(0U)) +
                                element(kI32, numbers(shape)) + element(kI8, name) + content);
  }
  std::string doubles(const std::vector<std::int32_t>& shape, const std::string& name,
                      const std::vector<double>& values) const {
    return array(kDouble, shape, name, element(kF64, numbers(values)));
  }
  std::string file(const std::string& content) const {
    std::string header(124, ' ');
    header.replace(0, 10, "MATLAB 5.0");
    return header + number(std::uint16_t{0x0100}) + (big ? "MI" : "IM") + content;
  }
};

std::string zipped(const MatMaker& make, const std::string& content) {
  uLongf size = compressBound(content.size());
  std::string out(size, '\0');
  compress(reinterpret_cast<Bytef*>(out.data()), &size,
           reinterpret_cast<const Bytef*>(content.data()), content.size());
  out.resize(size);
  return make.element(kZip, out);
}

std::vector<io::MatVariable> parse_mat_file(const std::string& file) {
  return io::parse_mat(test::bytes_of(file), "x.mat");
}

std::string mat_error(const std::string& file) {
  return test::error_of([&] { parse_mat_file(file); });
}

/// As OSIE's fixations are: cells of structs with texts and cells.
std::string nested(const MatMaker& make) {
  const auto names = make.small(kI32, make.number(std::int32_t{4})) +
                     make.element(kI8, std::string("img\0xs\0\0", 8));
  const auto text =
      make.array(kChar, {1, 2}, "", make.element(kU16, make.numbers<std::uint16_t>({'a', 0xE4})));
  const auto one =
      make.array(kStruct, {1, 1}, "", names + text + make.doubles({1, 2}, "", {1.5, -2}));
  return make.array(kCell, {2, 1}, "fixations", one + make.element(kMatrix, ""));
}

}  // namespace

TEST_CASE("mat: numbers of every type and both byte orders are read") {
  for (const bool big : {false, true}) {
    const MatMaker make{big};
    const auto file = make.file(
        make.doubles({2, 3}, "s", {1, 2, 3, 4, 5, 6}) +
        make.array(kByte, {1, 3}, "b", make.small(kU8, {1, 2, static_cast<char>(255)})) +
        make.array(kDouble, {1, 1}, "i", make.small(kI16, make.number(std::int16_t{-7}))) +
        make.array(kDouble, {1, 1}, "f", make.element(kF32, make.number(0.25F))) +
        make.array(kDouble, {0, 3}, "none", make.element(kF64, "")));
    const auto variables = parse_mat_file(file);
    REQUIRE(variables.size() == 5);
    const auto& matrix = io::find_variable(variables, "s", "x.mat");
    CHECK(matrix.rows() == 2);
    CHECK(matrix.columns() == 3);
    CHECK(matrix.at(1, 0) == 2);
    CHECK(matrix.at(0, 2) == 5);
    CHECK(variables[1].value.numbers == std::vector<double>{1, 2, 255});
    CHECK(variables[2].value.at(0, 0) == -7);
    CHECK(variables[3].value.at(0, 0) == 0.25);
    CHECK(variables[4].value.numbers.empty());
    CHECK(test::error_of([&] { matrix.at(2, 0); }).starts_with("internal: [io.mat]"));
  }
}

TEST_CASE("mat: structs, cells and texts are read, compressed or not") {
  for (const bool big : {false, true}) {
    const MatMaker make{big};
    for (const auto& content : {nested(make), zipped(make, nested(make))}) {
      const auto variables = parse_mat_file(make.file(content));
      const auto& cell = io::find_variable(variables, "fixations", "x.mat");
      CHECK(cell.kind == MatValue::Kind::Cell);
      REQUIRE(cell.cells.size() == 2);
      const auto* text = cell.cells[0].field("img");
      REQUIRE(text != nullptr);
      CHECK(text->text == "a\xc3\xa4");
      REQUIRE(cell.cells[0].field("xs") != nullptr);
      CHECK(cell.cells[0].field("xs")->numbers == std::vector<double>{1.5, -2});
      CHECK(cell.cells[0].field("xs", 1) == nullptr);
      CHECK(cell.cells[0].field("ys") == nullptr);
      CHECK(cell.cells[1].shape == io::Shape{0, 0});
    }
  }
}

TEST_CASE("mat: texts of several rows are read row by row") {
  const MatMaker make;
  const auto content = make.array(kChar, {2, 2}, "t", make.small(kU8, "acbd"));
  CHECK(parse_mat_file(make.file(content))[0].value.text == "abcd");
}

TEST_CASE("mat: what is neither numbers nor text, struct or cell is passed over") {
  const MatMaker make;
  const auto variables = parse_mat_file(
      make.file(make.array(kSparse, {3, 3}, "sparse", "") + make.doubles({1, 1}, "x", {4})));
  REQUIRE(variables.size() == 2);
  CHECK(variables[0].value.kind == MatValue::Kind::Other);
  CHECK(variables[1].value.at(0, 0) == 4);
}

TEST_CASE("mat: other versions are refused with what to do") {
  CHECK(test::contains(mat_error("MATLAB 7.3 MAT-file, Platform: GLNXA64"), "save(NAME, '-v7')"));
  CHECK(test::contains(mat_error("\x89HDF\r\n\x1a\n"), "version 7.3"));
  CHECK(test::contains(mat_error(""), "it looks like an empty file"));
  CHECK(test::contains(mat_error(std::string(200, '\0')), "not a .mat file of version 5 to 7"));
}

TEST_CASE("mat: a missing variable is named beside those there are") {
  const MatMaker make;
  const auto variables = parse_mat_file(make.file(make.doubles({1, 1}, "points", {4})));
  const auto error = test::error_of([&] { io::find_variable(variables, "s", "x.mat"); });
  CHECK(error == "input: [io.mat] x.mat has no variable 's'; it has: points.");
}

TEST_CASE("mat: cut at any length, a file is refused or ends between two variables") {
  const MatMaker make;
  const auto first = make.doubles({2, 2}, "a", {1, 2, 3, 4});
  const auto whole = make.file(first + zipped(make, nested(make)));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    const bool between = length == 128 || length == 128 + first.size();
    const auto error = mat_error(whole.substr(0, length));
    CHECK((between ? error == "no error" : error.starts_with("input: [io.mat] x.mat")));
  }
}

TEST_CASE("mat: with any byte changed, a file is read or refused") {
  const MatMaker make{true};
  const auto whole = make.file(nested(make) + zipped(make, nested(make)));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const unsigned change : {1U, 64U, 255U}) {
      auto changed = whole;
      changed[i] = static_cast<char>(static_cast<unsigned char>(changed[i]) ^ change);
      const auto error = mat_error(changed);
      if (error != "no error" && !error.starts_with("input: [io.mat] x.mat")) FAIL_CHECK(error);
    }
  }
}

TEST_CASE("mat: absurd sizes and depths are refused before memory is taken") {
  const MatMaker make;
  const std::vector<std::int32_t> huge = {2'000'000'000, 2'000'000'000};
  CHECK(test::contains(mat_error(make.file(make.array(kCell, huge, "c", ""))), "damaged"));
  CHECK(test::contains(mat_error(make.file(make.array(kDouble, huge, "d", make.small(kU8, "a")))),
                       "has 1 parts"));
  CHECK(test::contains(mat_error(make.file(make.array(kChar, huge, "t", make.small(kU16, "ab")))),
                       "has 1 parts"));
  CHECK(test::contains(mat_error(make.file(make.array(kDouble, {-1, 2}, "d", ""))), "[-1, 2]"));
  auto deep = make.doubles({1, 1}, "", {1});
  for (int i = 0; i < 40; ++i) deep = make.array(kCell, {1, 1}, "c", deep);
  CHECK(test::contains(mat_error(make.file(deep)), "nested too deeply"));
}

TEST_CASE("mat: a small compressed variable that would fill memory is refused from its tag") {
  const MatMaker make;
  const auto tag_only = [&](std::uint32_t size) {
    return make.file(zipped(
        make, make.number<std::uint32_t>(kMatrix) + make.number(size) + std::string(1000, '\0')));
  };
  CHECK(test::contains(mat_error(tag_only(900'000'000)), "holds too much; got a variable of 9000"));
  CHECK(test::contains(mat_error(tag_only(2000)), "damaged or cut short"));
  // Each is allowed, all of them are not.
  const auto one = zipped(
      make, make.array(kByte, {1 << 25, 1}, "a", make.element(kU8, std::string(1U << 25U, '\0'))));
  CHECK(mat_error(make.file(one)) == "no error");
  CHECK(test::contains(mat_error(make.file(one + one)), "more than 33554432 numbers"));
}

TEST_CASE("mat: many field names, sizes or more inside a compressed part than its tag says") {
  const MatMaker make;
  const auto names =
      make.small(kI32, make.number(std::int32_t{1})) + make.element(kI8, std::string(100'000, 'x'));
  CHECK(test::contains(mat_error(make.file(make.array(kStruct, {1, 1}, "s", names))), "fields"));
  const std::vector<std::int32_t> sizes(100, 1);
  CHECK(test::contains(mat_error(make.file(make.array(kDouble, sizes, "d", ""))), "100 sizes"));
  const auto longer = make.doubles({1, 1}, "x", {4}) + std::string(100, '\0');
  CHECK(test::contains(mat_error(make.file(zipped(make, longer))), "damaged"));
}

TEST_CASE("mat: a file is read from disk, and a missing one is an input error") {
  const test::ScratchFolder folder;
  const MatMaker make;
  write_file(folder / "x.mat", make.file(make.doubles({1, 1}, "x", {4})));
  CHECK(io::read_mat(folder / "x.mat").size() == 1);
  CHECK(test::error_of([&] { io::read_mat(folder / "y.mat"); }).starts_with("input: "));
}

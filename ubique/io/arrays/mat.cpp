// SPDX-License-Identifier: Apache-2.0
// Builds variables from the elements of a .mat file.
#include "ubique/io/arrays/mat.h"

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/base/text/utf8.h"
#include "ubique/io/archive/file_type.h"
#include "ubique/io/arrays/mat_element.h"

namespace ubique::io {
namespace {

constexpr std::size_t kMatHeader = 128, kMatVersionAt = 124;
constexpr int kDeepestMat = 32;
constexpr std::size_t kMostMatValues = 1'000'000;  // OSIE's file has 50,000
constexpr std::size_t kMostMatFields = 4096;
// Files of fixations have some megabytes, and the numbers, which become doubles, some millions.
constexpr std::size_t kMostInflatedMat = 128U << 20U;
constexpr std::size_t kMostMatNumbers = 1U << 25U;

// Array classes.
constexpr std::int64_t kCellClass = 1, kStructClass = 2, kCharClass = 4, kFirstNumber = 6,
                       kLastNumber = 15;

/// Builds the values of one file.
class MatReader {
 public:
  MatVariable variable(MatCursor cursor) { return read(cursor, 0); }

 private:
  MatVariable read(MatCursor& cursor, int depth);
  void read_shape(MatCursor& cursor, MatValue& value);
  void read_numbers(MatCursor& cursor, MatValue& value);
  void read_text(MatCursor& cursor, MatValue& value);
  void read_cells(MatCursor& cursor, MatValue& value, int depth);
  void read_struct(MatCursor& cursor, MatValue& value, int depth);
  std::vector<std::string> field_names(MatCursor& cursor);
  MatValue child(MatCursor& cursor, int depth);
  void check_count(const MatCursor& cursor, const MatValue& value, std::size_t got) const;
  /// Elements of the shape, checked against the bytes left: each has `parts` parts of 8 bytes or
  /// more.
  std::size_t count_of(const MatCursor& cursor, const MatValue& value, std::size_t parts) const;

  /// Numbers of the file as doubles, limited in all.
  std::vector<double> limited_numbers(MatCursor& cursor, const MatElement& element);

  std::size_t values_ = 0, numbers_ = 0;
};

std::string mat_name(const MatElement& element) {
  return {reinterpret_cast<const char*>(element.bytes.data()), element.bytes.size()};
}

MatVariable MatReader::read(MatCursor& cursor, int depth) {
  if (depth > kDeepestMat) cursor.damaged("its values are nested too deeply");
  if (++values_ > kMostMatValues) cursor.damaged("it holds more than {} values", kMostMatValues);
  MatVariable out;
  if (cursor.at_end()) {  // [] inside a struct
    out.value.shape = {0, 0};
    return out;
  }
  const auto flags = cursor.integers(cursor.next());
  if (flags.empty()) cursor.damaged("an array has no class");
  const auto array_class = flags[0] & 0xFF;
  read_shape(cursor, out.value);
  out.name = mat_name(cursor.next());
  if (array_class == kCellClass) {
    read_cells(cursor, out.value, depth);
  } else if (array_class == kStructClass) {
    read_struct(cursor, out.value, depth);
  } else if (array_class == kCharClass) {
    read_text(cursor, out.value);
  } else if (array_class >= kFirstNumber && array_class <= kLastNumber) {
    read_numbers(cursor, out.value);
  } else {
    out.value.kind = MatValue::Kind::Other;
  }
  return out;
}

void MatReader::read_shape(MatCursor& cursor, MatValue& value) {
  value.shape = cursor.integers(cursor.next());
  const bool sensible = value.shape.size() >= 2 && value.shape.size() <= 32 &&
                        std::ranges::all_of(value.shape, [](auto side) { return side >= 0; });
  if (!sensible || !element_count(value.shape)) {
    cursor.damaged("an array has the shape {}", shape_text(value.shape));
  }
}

std::size_t MatReader::count_of(const MatCursor& cursor, const MatValue& value,
                                std::size_t parts) const {
  if (std::ranges::find(value.shape, 0) != value.shape.end()) return 0;
  const auto count = static_cast<std::uint64_t>(*element_count(value.shape));
  constexpr std::size_t kSmallestElement = 8;
  if (count > cursor.left() / kSmallestElement / std::max<std::size_t>(parts, 1)) {
    cursor.damaged("an array of {} has {} bytes", shape_text(value.shape), cursor.left());
  }
  return count;
}

std::vector<double> MatReader::limited_numbers(MatCursor& cursor, const MatElement& element) {
  numbers_ += cursor.number_count(element);
  if (numbers_ > kMostMatNumbers) {
    cursor.damaged("it holds more than {} numbers", kMostMatNumbers);
  }
  return cursor.numbers(element);
}

void MatReader::read_numbers(MatCursor& cursor, MatValue& value) {
  value.numbers = limited_numbers(cursor, cursor.next());
  check_count(cursor, value, value.numbers.size());
}

/// Input error unless `got` values fill the shape.
void MatReader::check_count(const MatCursor& cursor, const MatValue& value, std::size_t got) const {
  const bool empty = std::ranges::find(value.shape, 0) != value.shape.end();
  const auto count = empty ? 0 : static_cast<std::uint64_t>(*element_count(value.shape));
  if (got != count) cursor.damaged("an array of {} has {} parts", shape_text(value.shape), got);
}

void MatReader::read_text(MatCursor& cursor, MatValue& value) {
  value.kind = MatValue::Kind::Text;
  if (cursor.at_end()) return;
  const auto element = cursor.next();
  if (element.type == MatType::Utf8) {  // one row only: characters have several bytes
    value.text = mat_name(element);
    return;
  }
  const auto codes = limited_numbers(cursor, element);
  check_count(cursor, value, codes.size());
  if (codes.empty()) return;
  const auto rows = static_cast<std::size_t>(value.rows());
  const auto columns = codes.size() / rows;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      const double code = codes[column * rows + row];
      append_utf8(value.text, code >= 0 && code < 0x10000 ? static_cast<char32_t>(code) : U'?');
    }
  }
}

MatValue MatReader::child(MatCursor& cursor, int depth) {
  const auto element = cursor.next();
  if (element.type != MatType::Matrix) cursor.damaged("an array inside another one is missing");
  auto inside = cursor.inside(element);
  return read(inside, depth + 1).value;
}

void MatReader::read_cells(MatCursor& cursor, MatValue& value, int depth) {
  value.kind = MatValue::Kind::Cell;
  const auto count = count_of(cursor, value, 1);
  for (std::size_t i = 0; i < count; ++i) value.cells.push_back(child(cursor, depth));
}

/// Names of equal length, padded with zeros.
std::vector<std::string> MatReader::field_names(MatCursor& cursor) {
  const auto length = cursor.integers(cursor.next());
  const auto all = mat_name(cursor.next());
  if (length.size() != 1 || length[0] < 1) cursor.damaged("a struct has no names");
  const auto step = static_cast<std::size_t>(length[0]);
  if (all.size() / step > kMostMatFields) {
    cursor.damaged("a struct has more than {} fields", kMostMatFields);
  }
  std::vector<std::string> names;
  for (std::size_t at = 0; at + step <= all.size(); at += step) {
    names.emplace_back(all.substr(at, step).c_str());
  }
  return names;
}

void MatReader::read_struct(MatCursor& cursor, MatValue& value, int depth) {
  value.kind = MatValue::Kind::Struct;
  for (auto& name : field_names(cursor)) value.fields.push_back({std::move(name), {}});
  if (value.fields.empty()) return;
  const auto count = count_of(cursor, value, value.fields.size());
  for (std::size_t i = 0; i < count; ++i) {
    for (auto& field : value.fields) field.values.push_back(child(cursor, depth));
  }
}

/// Whether the file is big-endian. Input error for other versions and formats.
bool check_mat_header(std::span<const std::byte> file, const std::string& name) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()),
                              std::min(file.size(), kMatHeader));
  check(!text.starts_with("MATLAB 7.3") && !looks_like(file).starts_with("an HDF5 file"),
        ErrorKind::Input,
        "[io.mat] {} is a .mat file of version 7.3, which cannot be read here. Save it again in "
        "MATLAB with save(NAME, '-v7'), or with scipy.io.savemat.",
        name);
  const auto order = text.size() == kMatHeader ? text.substr(kMatVersionAt) : std::string_view{};
  const bool little = order == std::string_view("\x00\x01IM", 4);
  const bool big = order == std::string_view("\x01\x00MI", 4);
  check(little || big, ErrorKind::Input,
        "[io.mat] {} is not a .mat file of version 5 to 7; it looks like {}. Save older ones again "
        "in MATLAB.",
        name, looks_like_or_unknown(file));
  return big;
}

}  // namespace

double MatValue::at(std::int64_t row, std::int64_t column) const {
  check(kind == Kind::Numbers && shape.size() == 2 && row >= 0 && column >= 0 && row < rows() &&
            column < columns(),
        ErrorKind::Internal, "[io.mat] no number at ({}, {}) of {}.", row, column,
        shape_text(shape));
  return numbers[static_cast<std::size_t>(column * rows() + row)];
}

const MatValue* MatValue::field(std::string_view name, std::size_t index) const {
  const auto found = std::ranges::find(fields, name, &Field::name);
  return found == fields.end() || index >= found->values.size() ? nullptr : &found->values[index];
}

std::vector<MatVariable> parse_mat(std::span<const std::byte> file, const std::string& name) {
  const bool big = check_mat_header(file, name);
  MatCursor cursor(file.subspan(kMatHeader), big, name);
  MatReader reader;
  std::size_t most_inflated = kMostInflatedMat;
  std::vector<MatVariable> variables;
  while (!cursor.at_end()) {
    auto element = cursor.next();
    std::vector<std::byte> inflated;
    if (element.type == MatType::Compressed) {
      inflated = inflate_mat(element.bytes, big, most_inflated, name);
      most_inflated -= std::min(most_inflated, inflated.size());
      element = MatCursor(inflated, big, name).next();
    }
    if (element.type != MatType::Matrix) continue;  // unknown elements are skipped
    auto variable = reader.variable(cursor.inside(element));
    // Variables without a name hold MATLAB's internal data about class objects.
    if (!variable.name.empty()) variables.push_back(std::move(variable));
  }
  return variables;
}

std::vector<MatVariable> read_mat(const std::filesystem::path& path) {
  const MappedFile file(path);
  return parse_mat(file.bytes(), path.string());
}

const MatValue& find_variable(const std::vector<MatVariable>& variables, std::string_view name,
                              const std::string& file) {
  const auto found = std::ranges::find(variables, name, &MatVariable::name);
  if (found != variables.end()) return found->value;
  std::vector<std::string> names;
  for (const auto& variable : variables) names.push_back(printable(variable.name));
  fail(ErrorKind::Input, "[io.mat] {} has no variable '{}'; it has: {}.", file, name,
       names.empty() ? "none at all" : join(names, ", "));
}

}  // namespace ubique::io

// SPDX-License-Identifier: Apache-2.0
// MATLAB's .mat files of versions 5 to 7 (of either byte order, compressed or not), read: numbers,
// texts, structs and cells, as data sets of eye movements come in.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ubique/io/tensors/tensor_info.h"

namespace ubique::io {

struct MatValue {
  enum class Kind {
    Numbers,  ///< any numeric class and truth values; of complex ones the real part
    Text,
    Struct,
    Cell,
    Other,  ///< sparse, function handles, objects of classes: nothing but the shape is kept
  };
  struct Field;

  Kind kind = Kind::Numbers;
  Shape shape;                  ///< two dimensions or more; a number is [1, 1]
  std::vector<double> numbers;  ///< column by column, as MATLAB counts
  std::string text;             ///< row by row, UTF-8
  std::vector<MatValue> cells;
  std::vector<Field> fields;  ///< of a struct, or of an array of structs

  std::int64_t rows() const { return shape.empty() ? 0 : shape[0]; }
  std::int64_t columns() const { return shape.size() < 2 ? 0 : shape[1]; }
  /// Number at row and column of a matrix, counted from 0; Internal error outside.
  double at(std::int64_t row, std::int64_t column) const;
  /// Field of element number `index`; nullptr if there is none.
  const MatValue* field(std::string_view name, std::size_t index = 0) const;
};

struct MatValue::Field {
  std::string name;
  std::vector<MatValue> values;  ///< one per element of the array of structs
};

struct MatVariable {
  std::string name;
  MatValue value;
};

/// In the order of the file. Input error for other versions, which says how to save the file again,
/// and for files that are damaged, cut short or absurdly large.
std::vector<MatVariable> read_mat(const std::filesystem::path& path);
std::vector<MatVariable> parse_mat(std::span<const std::byte> file, const std::string& name);

/// Input error that names the variables there are, if there is none of that name.
const MatValue& find_variable(const std::vector<MatVariable>& variables, std::string_view name,
                              const std::string& file);

}  // namespace ubique::io

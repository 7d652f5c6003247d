// SPDX-License-Identifier: Apache-2.0
// Reads MATLAB's .mat files of versions 5 to 7 (either byte order, compressed or not): numbers,
// texts, structs and cells, as eye-movement data sets use them.
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
    Numbers,  ///< any numeric class and logical; of complex numbers the real part
    Text,
    Struct,
    Cell,
    Other,  ///< sparse, function handles, class objects: only the shape is kept
  };
  struct Field;

  Kind kind = Kind::Numbers;
  Shape shape;                  ///< two dimensions or more; a number is [1, 1]
  std::vector<double> numbers;  ///< column-major
  std::string text;             ///< UTF-8, rows joined
  std::vector<MatValue> cells;
  std::vector<Field> fields;  ///< of a struct or struct array

  std::int64_t rows() const { return shape.empty() ? 0 : shape[0]; }
  std::int64_t columns() const { return shape.size() < 2 ? 0 : shape[1]; }
  /// Element of a matrix, counted from 0; Internal error outside.
  double at(std::int64_t row, std::int64_t column) const;
  /// A field of element `index` of a struct array; nullptr if there is none.
  const MatValue* field(std::string_view name, std::size_t index = 0) const;
};

struct MatValue::Field {
  std::string name;
  std::vector<MatValue> values;  ///< one per element of the struct array
};

struct MatVariable {
  std::string name;
  MatValue value;
};

/// In file order. Input error for other versions, with how to save the file again, and for files
/// that are damaged, cut short or too large.
std::vector<MatVariable> read_mat(const std::filesystem::path& path);
std::vector<MatVariable> parse_mat(std::span<const std::byte> file, const std::string& name);

/// Input error that lists the variables if there is none of that name.
const MatValue& find_variable(const std::vector<MatVariable>& variables, std::string_view name,
                              const std::string& file);

}  // namespace ubique::io

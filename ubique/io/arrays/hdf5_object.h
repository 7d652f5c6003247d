// SPDX-License-Identifier: Apache-2.0
// The header messages of an HDF5 object (both versions of the header), its datatype and its shape.
#pragma once

#include <optional>
#include <vector>

#include "ubique/io/arrays/hdf5_bytes.h"
#include "ubique/io/tensors/tensor_info.h"

namespace ubique::io {

enum class Hdf5Message : std::uint64_t {
  Dataspace = 1,
  LinkInfo = 2,
  Datatype = 3,
  Link = 6,
  ExternalFiles = 7,
  Layout = 8,
  Filters = 11,
  Attribute = 12,
  Continuation = 16,
  SymbolTable = 17,
  AttributeInfo = 21,
};

/// One header message.
struct Hdf5Part {
  Hdf5Message kind;
  std::uint64_t flags;
  std::span<const std::byte> bytes;
};

/// All messages of the header at `address`, including its continuations.
std::vector<Hdf5Part> hdf5_object(const Hdf5Source& source, std::uint64_t address);

struct Hdf5Type {
  enum class Kind { Number, Text, LongText, Other } kind = Kind::Other;
  DType dtype = DType::F32;  ///< of numbers
  bool big = false;          ///< byte order of numbers
  std::uint64_t size = 0;    ///< bytes of an element
};

Hdf5Type hdf5_type(const Hdf5Source& source, std::span<const std::byte> message);
/// Nothing for a null dataspace, which holds no elements.
std::optional<Shape> hdf5_shape(const Hdf5Source& source, std::span<const std::byte> message);

}  // namespace ubique::io

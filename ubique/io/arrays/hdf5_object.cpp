// SPDX-License-Identifier: Apache-2.0
// Parses object headers, datatypes and dataspaces.
#include "ubique/io/arrays/hdf5_object.h"

#include "ubique/io/tensors/host_tensor.h"

namespace ubique::io {
namespace {

constexpr std::size_t kMostParts = 65'536;  // of one object

/// How messages are framed: version 1 of object headers, or version 2 with its variants.
struct Hdf5Framing {
  bool old = true;
  bool ordered = false;  // version 2: two bytes of creation order follow
};

struct Hdf5Block {
  std::uint64_t address, size;
};

void add_parts(const Hdf5Source& source, std::span<const std::byte> block, Hdf5Framing framing,
               std::vector<Hdf5Part>& parts, std::vector<Hdf5Block>& blocks) {
  const std::size_t frame = framing.old ? 8 : framing.ordered ? 6 : 4;
  Hdf5Cursor cursor(source, block);
  while (cursor.rest().size() >= frame) {
    const auto kind = static_cast<Hdf5Message>(cursor.number(framing.old ? 2 : 1));
    const auto size = cursor.number(2);
    const auto flags = cursor.number(1);
    cursor.take(framing.old ? 3 : framing.ordered ? 2 : 0);
    const auto bytes = cursor.take(size);
    if (kind == Hdf5Message::Continuation) {
      Hdf5Cursor target(source, bytes);
      const auto address = target.address();
      blocks.push_back({address, target.length()});
    } else {
      parts.push_back({kind, flags, bytes});
    }
    if (parts.size() + blocks.size() > kMostParts) source.damaged("an object has no end");
  }
}

/// The messages of a version 2 header, after its prefix.
std::span<const std::byte> new_block(const Hdf5Source& source, std::uint64_t address,
                                     Hdf5Framing& framing) {
  Hdf5Cursor cursor(source, source.from(address));
  cursor.expect("OHDR");
  const auto version = cursor.number(1), flags = cursor.number(1);
  if (version != 2) source.damaged("an object has the unknown version {}", version);
  framing = {false, (flags & 4U) != 0};
  if ((flags & 0x20U) != 0) cursor.take(16);  // times
  if ((flags & 0x10U) != 0) cursor.take(4);   // thresholds for dense attributes
  return cursor.take(cursor.number(std::size_t{1} << (flags & 3U)));
}

std::span<const std::byte> old_block(const Hdf5Source& source, std::uint64_t address) {
  Hdf5Cursor cursor(source, source.at(address, 16));
  const auto version = cursor.number(1);
  if (version != 1) source.damaged("an object has the unknown version {}", version);
  cursor.take(7);  // number of messages, reference count
  return source.at(address + 16, cursor.number(4));
}

std::span<const std::byte> continued_block(const Hdf5Source& source, Hdf5Block block, bool old) {
  const auto bytes = source.at(block.address, block.size);
  if (old) return bytes;
  Hdf5Cursor cursor(source, bytes);
  cursor.expect("OCHK");
  constexpr std::size_t kChecksum = 4;
  if (cursor.rest().size() < kChecksum) source.damaged("a part of an object is too short");
  return cursor.rest().first(cursor.rest().size() - kChecksum);
}

struct FloatRow {
  std::uint64_t size, exponent, mantissa;
  DType dtype;
};
constexpr FloatRow kHdf5Floats[] = {{2, 5, 10, DType::F16},
                                    {2, 8, 7, DType::BF16},
                                    {4, 8, 23, DType::F32},
                                    {8, 11, 52, DType::F64}};

void find_float(Hdf5Cursor& cursor, Hdf5Type& type) {
  cursor.take(5);  // bit offset, precision, position of the exponent
  const auto exponent = cursor.number(1);
  cursor.take(1);
  const auto mantissa = cursor.number(1);
  for (const auto& row : kHdf5Floats) {
    if (row.size != type.size || row.exponent != exponent || row.mantissa != mantissa) continue;
    type.kind = Hdf5Type::Kind::Number;
    type.dtype = row.dtype;
  }
}

void find_integer(bool has_sign, Hdf5Type& type) {
  type.kind = Hdf5Type::Kind::Number;
  switch (type.size) {
    case 1:
      type.dtype = has_sign ? DType::I8 : DType::U8;
      break;
    case 2:
      type.dtype = has_sign ? DType::I16 : DType::U16;
      break;
    case 4:
      type.dtype = has_sign ? DType::I32 : DType::U32;
      break;
    case 8:
      type.dtype = has_sign ? DType::I64 : DType::U64;
      break;
    default:
      type.kind = Hdf5Type::Kind::Other;
  }
}

}  // namespace

std::vector<Hdf5Part> hdf5_object(const Hdf5Source& source, std::uint64_t address) {
  Hdf5Framing framing;
  const bool old = source.at(address, 1)[0] == std::byte{1};
  const auto start = old ? old_block(source, address) : new_block(source, address, framing);
  std::vector<Hdf5Part> parts;
  std::vector<Hdf5Block> blocks;
  add_parts(source, start, framing, parts, blocks);
  std::uint64_t seen = 0;  // guards against continuations that form a cycle
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    seen += blocks[i].size;
    if (seen > source.file.size()) source.damaged("an object has no end");
    add_parts(source, continued_block(source, blocks[i], old), framing, parts, blocks);
  }
  return parts;
}

Hdf5Type hdf5_type(const Hdf5Source& source, std::span<const std::byte> message) {
  Hdf5Cursor cursor(source, message);
  const auto kind = cursor.number(1) & 0xFU;
  const auto bits = cursor.number(3);
  Hdf5Type type;
  type.size = cursor.number(4);
  type.big = (bits & 1U) != 0;
  constexpr std::uint64_t kInteger = 0, kFloat = 1, kText = 3, kEnum = 8, kLong = 9;
  if (kind == kInteger) find_integer((bits & 8U) != 0, type);
  if (kind == kFloat && (bits & 0x40U) == 0) find_float(cursor, type);
  if (kind == kText) type.kind = Hdf5Type::Kind::Text;
  if (kind == kLong && (bits & 0xFU) == 1) type.kind = Hdf5Type::Kind::LongText;
  if (kind == kEnum && type.size == 1) {  // how h5py stores bools
    type.kind = Hdf5Type::Kind::Number;
    type.dtype = DType::Bool;
  }
  return type;
}

std::optional<Shape> hdf5_shape(const Hdf5Source& source, std::span<const std::byte> message) {
  Hdf5Cursor cursor(source, message);
  const auto version = cursor.number(1), rank = cursor.number(1);
  cursor.take(1);
  if (version != 1 && version != 2) source.damaged("a shape has the unknown version {}", version);
  constexpr std::uint64_t kNull = 2;
  if (version == 2 && cursor.number(1) == kNull) return std::nullopt;
  if (version == 1) cursor.take(5);
  if (rank > kMaxTensorDimensions) source.damaged("a shape has {} dimensions", rank);
  Shape shape;
  for (std::uint64_t d = 0; d < rank; ++d) {
    const auto side = cursor.length();
    if (side > static_cast<std::uint64_t>(INT64_MAX)) source.damaged("a side is {} long", side);
    shape.push_back(static_cast<std::int64_t>(side));
  }
  return shape;
}

}  // namespace ubique::io

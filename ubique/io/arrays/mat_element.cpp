// SPDX-License-Identifier: Apache-2.0
// Parses elements; inflates compressed ones.
#include "ubique/io/arrays/mat_element.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <memory>

#include "ubique/io/archive/byte_order.h"

namespace ubique::io {
namespace {

constexpr std::size_t kMatTag = 8;
// What may follow an element: its padding to 8 bytes, and a byte by which zlib sees the end.
constexpr std::size_t kMatPadding = 16;

std::size_t mat_width(MatType type) {
  switch (type) {
    case MatType::I8:
    case MatType::U8:
    case MatType::Utf8:
      return 1;
    case MatType::I16:
    case MatType::U16:
    case MatType::Utf16:
      return 2;
    case MatType::I32:
    case MatType::U32:
    case MatType::F32:
    case MatType::Utf32:
      return 4;
    case MatType::F64:
    case MatType::I64:
    case MatType::U64:
      return 8;
    default:
      return 0;
  }
}

double mat_number(MatType type, std::uint64_t bits) {
  switch (type) {
    case MatType::I8:
      return static_cast<std::int8_t>(bits);
    case MatType::I16:
      return static_cast<std::int16_t>(bits);
    case MatType::I32:
      return static_cast<std::int32_t>(bits);
    case MatType::I64:
      return static_cast<double>(static_cast<std::int64_t>(bits));
    case MatType::F32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case MatType::F64:
      return std::bit_cast<double>(bits);
    default:
      return static_cast<double>(bits);
  }
}

/// Bytes of an element with its tag, from the tag.
std::size_t tagged_bytes(std::span<const std::byte> tag, bool big) {
  const auto load = [&](std::size_t at) {
    return big ? load_big(tag.subspan(at, 4)) : load_little(tag.subspan(at, 4));
  };
  const bool is_small = load(0) >> 16U != 0;  // the bytes are inside the tag
  return is_small ? kMatTag : kMatTag + load(4);
}

}  // namespace

std::uint64_t MatCursor::load(std::span<const std::byte> bytes) const {
  return big_ ? load_big(bytes) : load_little(bytes);
}

std::span<const std::byte> MatCursor::take(std::uint64_t count) {
  if (count > rest_.size()) damaged("a part needs {} bytes, and {} are left", count, rest_.size());
  const auto taken = rest_.first(count);
  rest_ = rest_.subspan(count);
  return taken;
}

MatElement MatCursor::next() {
  const auto first = load(take(4));
  constexpr std::uint64_t kSmall = 4;
  if (const auto size = first >> 16U;
      size != 0) {  // small element: type, size and up to four bytes in 8 bytes
    if (size > kSmall) damaged("a small part claims {} bytes", size);
    return {static_cast<MatType>(first & 0xFFFFU), take(kSmall).first(size)};
  }
  const auto type = static_cast<MatType>(first);
  const auto size = load(take(4));
  const auto bytes = take(size);
  const auto padding = type == MatType::Compressed ? 0 : (8 - size % 8) % 8;
  take(std::min<std::uint64_t>(padding, rest_.size()));
  return {type, bytes};
}

std::size_t MatCursor::number_count(const MatElement& element) const {
  const auto width = mat_width(element.type);
  if (width == 0 || element.bytes.size() % width != 0) {
    damaged("numbers have the type {} and {} bytes", static_cast<std::uint64_t>(element.type),
            element.bytes.size());
  }
  return element.bytes.size() / width;
}

std::vector<double> MatCursor::numbers(const MatElement& element) const {
  std::vector<double> values(number_count(element));
  const auto width = mat_width(element.type);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = mat_number(element.type, load(element.bytes.subspan(i * width, width)));
  }
  return values;
}

std::vector<std::int64_t> MatCursor::integers(const MatElement& element) const {
  if (element.type != MatType::I32 && element.type != MatType::U32) {
    damaged("sizes have the type {}", static_cast<std::uint64_t>(element.type));
  }
  constexpr std::size_t kMostSizes = 64;  // flags are 2, dimensions 32 at most
  if (number_count(element) > kMostSizes) damaged("an array has {} sizes", number_count(element));
  std::vector<std::int64_t> values;
  for (const double value : numbers(element)) values.push_back(static_cast<std::int64_t>(value));
  return values;
}

std::vector<std::byte> inflate_mat(std::span<const std::byte> compressed, bool big,
                                   std::size_t most, const std::string& name) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  // zlib only reads from next_in, but declares it without const.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(compressed.size());  // sizes in .mat files have 32 bits
  std::vector<std::byte> out;
  int result = Z_OK;
  const auto inflate_to = [&](std::size_t size) {
    const auto done = out.size();
    out.resize(size);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + done);
    stream.avail_out = static_cast<uInt>(size - done);
    while (result == Z_OK && stream.avail_out > 0) result = inflate(&stream, Z_NO_FLUSH);
    out.resize(size - stream.avail_out);
  };
  inflate_to(kMatTag);
  if (result == Z_OK) {
    const auto claimed = tagged_bytes(out, big);
    check(claimed <= most, ErrorKind::Input,
          "[io.mat] {} holds too much; got a variable of {} bytes, expected at most {} more in all "
          "compressed ones.",
          name, claimed, most);
    inflate_to(claimed + kMatPadding);
  }
  check(result == Z_STREAM_END, ErrorKind::Input,
        "[io.mat] {} is damaged or cut short; its compressed part ends in '{}' after {} bytes. "
        "Copy or download it again.",
        name, stream.msg != nullptr ? stream.msg : "no end", out.size());
  return out;
}

}  // namespace ubique::io

// SPDX-License-Identifier: Apache-2.0
#include "ubique/io/hdf5_attribute.h"

#include <algorithm>

namespace ubique::io {
namespace {

constexpr std::int64_t kMostTexts = 65'536;
constexpr std::uint64_t kMostTextBytes = 64U << 20U;  // of one attribute: a large configuration

std::string hdf5_text(std::span<const std::byte> bytes) {
  const auto end = std::find(bytes.begin(), bytes.end(), std::byte{0});
  return {reinterpret_cast<const char*>(bytes.data()),
          static_cast<std::size_t>(end - bytes.begin())};
}

/// Object `index` of the collection at `place`.
std::span<const std::byte> heap_object(const Hdf5Source& source, std::uint64_t place,
                                       std::uint64_t index) {
  Hdf5Cursor head(source, source.at(place, 8 + source.length_width));
  head.expect("GCOL");
  head.take(4);
  const auto size = head.length();
  Hdf5Cursor cursor(source, source.at(place, size));
  cursor.take(8 + source.length_width);
  constexpr std::uint64_t kUnit = 8;
  while (cursor.rest().size() >= kUnit + source.length_width) {
    const auto number = cursor.number(2);
    cursor.take(6);
    const auto length = cursor.length();
    if (number == 0) break;  // free space
    const auto object = cursor.take(length);
    if (number == index) return object;
    cursor.take(std::min<std::uint64_t>((kUnit - length % kUnit) % kUnit, cursor.rest().size()));
  }
  source.damaged("a text is missing from its heap");
}

std::string long_text(const Hdf5Source& source, Hdf5Cursor& values) {
  const auto length = values.number(4);
  const auto place = values.address();
  const auto index = values.number(4);
  if (length == 0) return {};
  const auto object = heap_object(source, place, index);
  return hdf5_text(object.first(std::min<std::uint64_t>(length, object.size())));
}

void read_texts(const Hdf5Source& source, const Hdf5Type& type, Hdf5Cursor values,
                std::int64_t count, std::vector<std::string>& texts) {
  if (count > kMostTexts) source.damaged("an attribute has {} texts", count);
  // Texts of no length cost the file nothing: a few bytes would claim any number of them.
  if (count > 0 && type.size == 0) source.damaged("an attribute has {} texts of no length", count);
  std::uint64_t bytes = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    texts.push_back(type.kind == Hdf5Type::Kind::Text ? hdf5_text(values.take(type.size))
                                                      : long_text(source, values));
    bytes += texts.back().size();
    if (bytes > kMostTextBytes) source.damaged("an attribute is longer than 64 MiB");
  }
}

}  // namespace

std::optional<Hdf5Attribute> hdf5_attribute(const Hdf5Source& source, const std::string& owner,
                                            std::span<const std::byte> message) {
  Hdf5Cursor cursor(source, message);
  const auto version = cursor.number(1), flags = cursor.number(1);
  if (version < 1 || version > 3) source.damaged("an attribute has version {}", version);
  const auto name_size = cursor.number(2), type_size = cursor.number(2),
             shape_size = cursor.number(2);
  if (version == 3) cursor.take(1);  // the name's alphabet
  const auto padded = [&](std::uint64_t size) {
    return cursor.take(version == 1 ? (size + 7) / 8 * 8 : size).first(size);
  };
  const auto name = hdf5_text(padded(name_size));
  const auto type_bytes = padded(type_size), shape_bytes = padded(shape_size);
  if (version > 1 && flags != 0) return std::nullopt;  // type or shape are kept elsewhere
  const auto type = hdf5_type(source, type_bytes);
  const auto shape = hdf5_shape(source, shape_bytes);
  const bool text = type.kind == Hdf5Type::Kind::Text || type.kind == Hdf5Type::Kind::LongText;
  if (!text || !shape) return std::nullopt;
  Hdf5Attribute attribute{owner, name, {}, !shape->empty()};
  const auto count = element_count(*shape);
  if (!count) source.damaged("an attribute has the shape {}", shape_text(*shape));
  const bool empty = std::ranges::find(*shape, 0) != shape->end();
  read_texts(source, type, cursor, empty ? 0 : *count, attribute.texts);
  return attribute;
}

}  // namespace ubique::io

// SPDX-License-Identifier: Apache-2.0
// Reads text attributes (heap included), symbol tables and link messages.
#include "ubique/io/arrays/hdf5_links.h"

#include <algorithm>

#include "ubique/base/text/printable.h"
#include "ubique/io/text/plain_name.h"

namespace ubique::io {
namespace {

constexpr std::int64_t kMostTexts = 65'536;
constexpr std::uint64_t kMostTextBytes = 64U << 20U;  // of one attribute: a large configuration

std::string hdf5_text(std::span<const std::byte> bytes) {
  const auto end = std::find(bytes.begin(), bytes.end(), std::byte{0});
  return {reinterpret_cast<const char*>(bytes.data()),
          static_cast<std::size_t>(end - bytes.begin())};
}

/// Object `index` of the global heap collection at `address`.
std::span<const std::byte> heap_object(const Hdf5Source& source, std::uint64_t address,
                                       std::uint64_t index) {
  Hdf5Cursor head(source, source.at(address, 8 + source.length_width));
  head.expect("GCOL");
  head.take(4);
  const auto size = head.length();
  Hdf5Cursor cursor(source, source.at(address, size));
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
  const auto address = values.address();
  const auto index = values.number(4);
  if (length == 0) return {};
  const auto object = heap_object(source, address, index);
  return hdf5_text(object.first(std::min<std::uint64_t>(length, object.size())));
}

void read_texts(const Hdf5Source& source, const Hdf5Type& type, Hdf5Cursor values,
                std::int64_t count, std::vector<std::string>& texts) {
  if (count > kMostTexts) source.damaged("an attribute has {} texts", count);
  // Texts of length 0 take no bytes, so a few bytes could claim any number of them.
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
  if (version == 3) cursor.take(1);  // character set of the name
  const auto padded = [&](std::uint64_t size) {
    return cursor.take(version == 1 ? (size + 7) / 8 * 8 : size).first(size);
  };
  const auto name = hdf5_text(padded(name_size));
  const auto type_bytes = padded(type_size), shape_bytes = padded(shape_size);
  if (version > 1 && flags != 0)
    return std::nullopt;  // type or shape is shared with another object
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

namespace {

constexpr std::uint64_t kDeepestTree = 64;
constexpr std::uint64_t kLongestHdf5Name = 1024;

/// A name in the local heap: from `offset` to the next zero byte.
std::string heap_name(const Hdf5Source& source, std::span<const std::byte> names,
                      std::uint64_t offset) {
  if (offset >= names.size()) source.damaged("a name lies outside its list");
  const auto rest = names.subspan(offset);
  const auto end = std::find(rest.begin(), rest.end(), std::byte{0});
  if (end == rest.end()) source.damaged("a name has no end");
  return {reinterpret_cast<const char*>(rest.data()), static_cast<std::size_t>(end - rest.begin())};
}

void refuse_dense_storage(const Hdf5Source& source, std::uint64_t heap) {
  check(heap == kHdf5Undefined, ErrorKind::Input,
        "[io.hdf5] {} keeps many names in a way that cannot be read here (dense storage of new "
        "HDF5 versions). Save it again with Keras, or with h5py without track_order and libver.",
        source.name);
}

}  // namespace

void Hdf5Links::enter(std::uint64_t address) {
  if (!entered_.insert(address).second) source_.damaged("its links form a cycle");
}

std::vector<Hdf5Link> Hdf5Links::of(const std::vector<Hdf5Part>& parts) {
  links_.clear();
  for (const auto& part : parts) {
    if (part.kind == Hdf5Message::SymbolTable) add_table(part.bytes);
    if (part.kind == Hdf5Message::Link) add_link(part.bytes);
    if (part.kind == Hdf5Message::LinkInfo) {
      Hdf5Cursor cursor(source_, part.bytes);
      cursor.take(1);
      if ((cursor.number(1) & 1U) != 0) cursor.take(8);
      refuse_dense_storage(source_, cursor.address());
    }
  }
  std::ranges::sort(links_);
  const auto twice = std::ranges::adjacent_find(links_, {}, &Hdf5Link::first);
  if (twice != links_.end()) source_.damaged("it has '{}' twice", printable(twice->first));
  return std::move(links_);
}

void Hdf5Links::add_table(std::span<const std::byte> message) {
  Hdf5Cursor cursor(source_, message);
  const auto tree = cursor.address(), heap = cursor.address();
  Hdf5Cursor head(source_, source_.at(heap, 8 + 2 * source_.length_width + source_.address_width));
  head.expect("HEAP");
  head.take(4);
  const auto size = head.length();
  head.length();  // where free space begins
  add_tree(tree, kDeepestTree, source_.at(head.address(), size));
}

void Hdf5Links::add_tree(std::uint64_t address, std::uint64_t above,
                         std::span<const std::byte> names) {
  enter(address);
  Hdf5Cursor cursor(source_, source_.at(address, 8 + 2 * source_.address_width));
  cursor.expect("TREE");
  const auto kind = cursor.number(1), level = cursor.number(1), count = cursor.number(2);
  if (kind != 0 || level >= above) source_.damaged("a tree of names is out of order");
  const auto entry = source_.length_width + source_.address_width;
  Hdf5Cursor children(source_, source_.at(address + 8 + 2 * source_.address_width, count * entry));
  for (std::uint64_t i = 0; i < count; ++i) {
    children.length();  // the key: not needed, all children are read
    const auto child = children.address();
    if (level > 0) {
      add_tree(child, level, names);
    } else {
      add_node(child, names);
    }
  }
}

void Hdf5Links::add_node(std::uint64_t address, std::span<const std::byte> names) {
  enter(address);
  Hdf5Cursor cursor(source_, source_.from(address));
  cursor.expect("SNOD");
  cursor.take(2);
  const auto count = cursor.number(2);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto name = cursor.address(), object = cursor.address();
    constexpr std::uint64_t kSoftLink = 2;
    const auto cached = cursor.number(4);
    cursor.take(4 + 16);
    if (cached != kSoftLink) add(heap_name(source_, names, name), object);
  }
}

void Hdf5Links::add_link(std::span<const std::byte> message) {
  Hdf5Cursor cursor(source_, message);
  cursor.take(1);
  const auto flags = cursor.number(1);
  const auto kind = (flags & 8U) != 0 ? cursor.number(1) : 0;
  if ((flags & 4U) != 0) cursor.take(8);     // creation order
  if ((flags & 0x10U) != 0) cursor.take(1);  // character set
  const auto length = cursor.number(std::size_t{1} << (flags & 3U));
  const auto name = cursor.take(length);
  if (kind != 0) return;
  add({reinterpret_cast<const char*>(name.data()), name.size()}, cursor.address());
}

void Hdf5Links::add(std::string name, std::uint64_t address) {
  if (!is_plain_name(name) || name.size() > kLongestHdf5Name) {
    source_.damaged("an object has the impossible name '{}'", printable(name));
  }
  links_.emplace_back(std::move(name), address);
}

}  // namespace ubique::io

// SPDX-License-Identifier: Apache-2.0
#include "ubique/io/hdf5_links.h"

#include <algorithm>

#include "ubique/io/plain_name.h"
#include "ubique/io/printable.h"

namespace ubique::io {
namespace {

constexpr std::uint64_t kDeepestTree = 64;
constexpr std::uint64_t kLongestName = 1024;

/// A name of the heap: from `offset` to the next zero byte.
std::string heap_name(const Hdf5Source& source, std::span<const std::byte> names,
                      std::uint64_t offset) {
  if (offset >= names.size()) source.damaged("a name lies outside its list");
  const auto rest = names.subspan(offset);
  const auto end = std::find(rest.begin(), rest.end(), std::byte{0});
  if (end == rest.end()) source.damaged("a name has no end");
  return {reinterpret_cast<const char*>(rest.data()), static_cast<std::size_t>(end - rest.begin())};
}

void refuse_if_elsewhere(const Hdf5Source& source, std::uint64_t heap) {
  check(heap == kHdf5Nowhere, ErrorKind::Input,
        "[io.hdf5] {} keeps many names in a way that cannot be read here (dense storage of new "
        "HDF5 versions). Save it again with Keras, or with h5py without track_order and libver.",
        source.name);
}

}  // namespace

void Hdf5Links::enter(std::uint64_t place) {
  if (!entered_.insert(place).second) source_.damaged("its parts lead in a circle");
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
      refuse_if_elsewhere(source_, cursor.address());
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

void Hdf5Links::add_tree(std::uint64_t place, std::uint64_t above,
                         std::span<const std::byte> names) {
  enter(place);
  Hdf5Cursor cursor(source_, source_.at(place, 8 + 2 * source_.address_width));
  cursor.expect("TREE");
  const auto kind = cursor.number(1), level = cursor.number(1), count = cursor.number(2);
  if (kind != 0 || level >= above) source_.damaged("a tree of names is out of order");
  const auto entry = source_.length_width + source_.address_width;
  Hdf5Cursor children(source_, source_.at(place + 8 + 2 * source_.address_width, count * entry));
  for (std::uint64_t i = 0; i < count; ++i) {
    children.length();  // the key: we read all of them
    const auto child = children.address();
    if (level > 0) {
      add_tree(child, level, names);
    } else {
      add_node(child, names);
    }
  }
}

void Hdf5Links::add_node(std::uint64_t place, std::span<const std::byte> names) {
  enter(place);
  Hdf5Cursor cursor(source_, source_.from(place));
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
  if ((flags & 4U) != 0) cursor.take(8);     // when it was made
  if ((flags & 0x10U) != 0) cursor.take(1);  // its alphabet
  const auto length = cursor.number(std::size_t{1} << (flags & 3U));
  const auto name = cursor.take(length);
  if (kind != 0) return;
  add({reinterpret_cast<const char*>(name.data()), name.size()}, cursor.address());
}

void Hdf5Links::add(std::string name, std::uint64_t place) {
  if (!is_plain_name(name) || name.size() > kLongestName) {
    source_.damaged("an object has the impossible name '{}'", printable(name));
  }
  links_.emplace_back(std::move(name), place);
}

}  // namespace ubique::io

// SPDX-License-Identifier: Apache-2.0
// Writes HDF5 bottom up, values first, so that every address is known when it is needed. Version 0
// of the format, as h5py writes by default; the node size in the superblock is chosen so that the
// names of each group fit into one node.
#include <algorithm>
#include <map>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/io/arrays/hdf5.h"
#include "ubique/io/arrays/hdf5_object.h"
#include "ubique/io/text/plain_name.h"

namespace ubique::io {
namespace {

constexpr std::size_t kLongestAttribute = 60U * 1024U;  // a message's size has 16 bits
constexpr std::size_t kFirstBlock = 96, kSymbolEntry = 40, kTreeKeys = 16;
constexpr std::size_t kSmallestHeap = 4096;

struct Hdf5Node {
  const HostTensor* tensor = nullptr;  // nullptr: a group
  std::vector<const Hdf5Attribute*> attributes;
  std::map<std::string, Hdf5Node> children;
};

std::string little(std::uint64_t value, std::size_t width) {
  std::string out;
  append_little(out, value, width);
  return out;
}

std::string padded8(std::string bytes) {
  bytes.resize((bytes.size() + 7) / 8 * 8);
  return bytes;
}

std::string message(Hdf5Message kind, const std::string& content) {
  const auto bytes = padded8(content);
  return little(static_cast<std::uint64_t>(kind), 2) + little(bytes.size(), 2) + little(0, 4) +
         bytes;
}

std::string shape_bytes(const Shape& shape) {
  auto out = little(1, 1) + little(shape.size(), 1) + little(0, 6);
  for (const auto side : shape) out += little(static_cast<std::uint64_t>(side), 8);
  return out;
}

/// Class and version, bit fields, size; then the positions of sign, exponent and mantissa.
std::string float_type(std::size_t size, std::uint64_t exponent, std::uint64_t mantissa) {
  const auto bits = size * 8;
  return little(0x11, 1) + little(0x20U | (bits - 1) << 8U, 3) + little(size, 4) + little(0, 2) +
         little(bits, 2) + little(mantissa, 1) + little(exponent, 1) + little(0, 1) +
         little(mantissa, 1) + little((std::uint64_t{1} << (exponent - 1)) - 1, 4);
}

std::string integer_type(std::size_t size, bool has_sign) {
  return little(0x10, 1) + little(has_sign ? 8 : 0, 3) + little(size, 4) + little(0, 2) +
         little(size * 8, 2);
}

std::string type_bytes(const HostTensor& tensor) {
  const auto size = size_of(tensor.dtype);
  switch (tensor.dtype) {
    case DType::F16:
      return float_type(size, 5, 10);
    case DType::F32:
      return float_type(size, 8, 23);
    case DType::F64:
      return float_type(size, 11, 52);
    case DType::U8:
    case DType::U16:
    case DType::U32:
    case DType::U64:
      return integer_type(size, false);
    case DType::I8:
    case DType::I16:
    case DType::I32:
    case DType::I64:
      return integer_type(size, true);
    default:
      fail(ErrorKind::Internal, "[io.hdf5] tensor '{}' is {}, which HDF5 files of Keras lack.",
           printable(tensor.name), to_string(tensor.dtype));
  }
}

/// Variable-length UTF-8 text, stored in the global heap.
std::string text_type() {
  return little(0x19, 1) + little(0x0101, 3) + little(16, 4) + integer_type(1, false);
}

class Hdf5Writer {
 public:
  std::string file(const Hdf5Node& root);

 private:
  std::uint64_t add(const std::string& bytes) {
    out_.resize((out_.size() + 7) / 8 * 8);
    const auto address = out_.size();
    out_ += bytes;
    return address;
  }
  void collect_texts(const Hdf5Node& node);
  void add_heap();
  std::string attribute(const Hdf5Attribute& attribute);
  std::uint64_t add_header(const std::vector<std::string>& messages);
  std::uint64_t add_object(const Hdf5Node& node);
  std::uint64_t add_tensor(const Hdf5Node& node);
  std::string add_names(const Hdf5Node& group);

  std::string out_ = std::string(kFirstBlock, '\0');
  std::string heap_objects_;
  std::map<std::string, std::uint64_t> text_numbers_;
  std::uint64_t heap_address_ = 0;
  std::size_t node_entries_ = 8;  // for the largest group; even
};

void Hdf5Writer::collect_texts(const Hdf5Node& node) {
  for (const auto* attribute : node.attributes) {
    for (const auto& text : attribute->texts) {
      const auto number = text_numbers_.size() + 1;
      if (text.empty() || !text_numbers_.emplace(text, number).second) continue;
      heap_objects_ += little(number, 2) + little(0, 6) + little(text.size(), 8) + padded8(text);
    }
  }
  node_entries_ = std::max(node_entries_, (node.children.size() + 1) / 2 * 2);
  for (const auto& [name, child] : node.children) collect_texts(child);
}

void Hdf5Writer::add_heap() {
  constexpr std::size_t kHead = 16;
  check(text_numbers_.size() < 0xFFFF, ErrorKind::Internal,
        "[io.hdf5] a file can have 65,534 texts; got {}.", text_numbers_.size());
  const auto size = std::max(kSmallestHeap, kHead + heap_objects_.size() + kHead);
  const auto free = size - kHead - heap_objects_.size();
  auto heap =
      "GCOL" + little(1, 4) + little(size, 8) + heap_objects_ + little(0, 8) + little(free, 8);
  heap.resize(size);
  heap_address_ = add(heap);
}

std::string Hdf5Writer::attribute(const Hdf5Attribute& attribute) {
  check(attribute.list || attribute.texts.size() == 1, ErrorKind::Internal,
        "[io.hdf5] attribute '{}' has {} texts; expected one, or a list.", attribute.name,
        attribute.texts.size());
  const auto type = text_type();
  const auto shape = shape_bytes(
      attribute.list ? Shape{static_cast<std::int64_t>(attribute.texts.size())} : Shape{});
  auto out = little(1, 2) + little(attribute.name.size() + 1, 2) + little(type.size(), 2) +
             little(shape.size(), 2) + padded8(attribute.name + '\0') + padded8(type) +
             padded8(shape);
  for (const auto& text : attribute.texts) {
    const auto number = text.empty() ? 0 : text_numbers_.at(text);
    out += little(text.size(), 4) + little(text.empty() ? 0 : heap_address_, 8) + little(number, 4);
  }
  check(out.size() <= kLongestAttribute, ErrorKind::Input,
        "[io.hdf5] attribute '{}' of '{}' is too long for HDF5; got {} bytes, expected at most {}.",
        printable(attribute.name), printable(attribute.owner), out.size(), kLongestAttribute);
  return message(Hdf5Message::Attribute, out);
}

std::uint64_t Hdf5Writer::add_header(const std::vector<std::string>& messages) {
  std::string all;
  for (const auto& one : messages) all += one;
  return add(little(1, 2) + little(messages.size(), 2) + little(1, 4) + little(all.size(), 8) +
             all);
}

std::uint64_t Hdf5Writer::add_tensor(const Hdf5Node& node) {
  const auto& tensor = *node.tensor;
  auto bytes = std::string(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  if constexpr (!kLittleMachine) {
    auto view = std::as_writable_bytes(std::span(bytes));
    swap_byte_order(view, size_of(tensor.dtype));
  }
  const auto address = bytes.empty() ? kHdf5Undefined : add(bytes);
  constexpr auto kFillValue = static_cast<Hdf5Message>(5);  // none: values are always written
  std::vector<std::string> messages = {
      message(Hdf5Message::Dataspace, shape_bytes(tensor.shape)),
      message(Hdf5Message::Datatype, type_bytes(tensor)),
      message(kFillValue, little(2, 1) + little(2, 1) + little(2, 1) + little(0, 1)),
      message(Hdf5Message::Layout,
              little(3, 1) + little(1, 1) + little(address, 8) + little(bytes.size(), 8))};
  for (const auto* one : node.attributes) messages.push_back(attribute(*one));
  return add_header(messages);
}

/// Writes the group's names and links; returns the symbol table message.
std::string Hdf5Writer::add_names(const Hdf5Node& group) {
  std::string names(8, '\0'), entries;
  std::size_t last = 0;
  for (const auto& [name, child] : group.children) {
    last = names.size();
    entries += little(last, 8) + little(add_object(child), 8) + std::string(24, '\0');
    names += padded8(name + '\0');
  }
  const auto names_address = add(names);
  constexpr std::uint64_t kNothingFree = 1;
  const auto heap = add("HEAP" + little(0, 4) + little(names.size(), 8) + little(kNothingFree, 8) +
                        little(names_address, 8));
  auto tree = "TREE" + little(0, 2) + little(entries.empty() ? 0 : 1, 2) +
              little(kHdf5Undefined, 8) + little(kHdf5Undefined, 8);
  if (!entries.empty()) {
    auto node = "SNOD" + little(1, 2) + little(group.children.size(), 2) + entries;
    node.resize(8 + node_entries_ * kSymbolEntry);
    tree += little(0, 8) + little(add(node), 8) + little(last, 8);
  }
  tree.resize(24 + 8 * (4 * kTreeKeys + 1));
  return little(add(tree), 8) + little(heap, 8);
}

std::uint64_t Hdf5Writer::add_object(const Hdf5Node& node) {
  if (node.tensor != nullptr) return add_tensor(node);
  std::vector<std::string> messages = {message(Hdf5Message::SymbolTable, add_names(node))};
  for (const auto* one : node.attributes) messages.push_back(attribute(*one));
  return add_header(messages);
}

std::string Hdf5Writer::file(const Hdf5Node& root) {
  collect_texts(root);
  check(node_entries_ / 2 <= 0xFFFF, ErrorKind::Internal,
        "[io.hdf5] a group has {} members; expected at most 131,070.", node_entries_);
  if (!heap_objects_.empty()) add_heap();
  const auto address = add_object(root);
  out_.resize((out_.size() + 7) / 8 * 8);
  const auto first = "\x89HDF\r\n\x1a\n" + little(0, 5) + little(8, 1) + little(8, 1) +
                     little(0, 1) + little(node_entries_ / 2, 2) + little(kTreeKeys, 2) +
                     little(0, 4) + little(0, 8) + little(kHdf5Undefined, 8) +
                     little(out_.size(), 8) + little(kHdf5Undefined, 8) + little(0, 8) +
                     little(address, 8) + std::string(24, '\0');
  out_.replace(0, kFirstBlock, first);
  return std::move(out_);
}

Hdf5Node& node_at(Hdf5Node& root, std::string_view path) {
  auto* node = &root;
  for (const auto& name : split(path, '/')) {
    check(node->tensor == nullptr && is_plain_name(name), ErrorKind::Internal,
          "[io.hdf5] '{}' cannot be a path; a part of it is a tensor's or no name.",
          printable(path));
    node = &node->children[name];
  }
  return *node;
}

}  // namespace

std::string hdf5_bytes(std::span<const HostTensor> tensors,
                       std::span<const Hdf5Attribute> attributes) {
  check_tensors(tensors, "io.hdf5");
  Hdf5Node root;
  for (const auto& tensor : tensors) {
    auto& node = node_at(root, tensor.name);
    check(&node != &root && node.children.empty() && node.tensor == nullptr, ErrorKind::Internal,
          "[io.hdf5] tensor '{}' has an empty path or the path of a group.",
          printable(tensor.name));
    node.tensor = &tensor;
  }
  for (const auto& attribute : attributes) {
    auto* node = attribute.owner.empty() ? &root : &node_at(root, attribute.owner);
    node->attributes.push_back(&attribute);
  }
  return Hdf5Writer().file(root);
}

void write_hdf5(const std::filesystem::path& path, std::span<const HostTensor> tensors,
                std::span<const Hdf5Attribute> attributes) {
  write_file(path, hdf5_bytes(tensors, attributes));
}

}  // namespace ubique::io

// SPDX-License-Identifier: Apache-2.0
// Reads the superblock, walks the groups, and locates the values of each dataset.
#include "ubique/io/arrays/hdf5.h"

#include <algorithm>
#include <cstring>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/io/archive/bulk_read.h"
#include "ubique/io/archive/file_type.h"
#include "ubique/io/arrays/hdf5_links.h"

namespace ubique::io {
namespace {

constexpr int kDeepestGroup = 64;
constexpr std::size_t kMostObjects = 1'000'000;
// Of all attributes together: an object may be linked, and its attributes read, many times.
constexpr std::size_t kMostAttributeBytes = 64U << 20U;

std::span<const std::byte> find_part(const std::vector<Hdf5Part>& parts, Hdf5Message kind) {
  const auto found = std::ranges::find(parts, kind, &Hdf5Part::kind);
  return found == parts.end() ? std::span<const std::byte>{} : found->bytes;
}

bool has_part(const std::vector<Hdf5Part>& parts, Hdf5Message kind) {
  return std::ranges::find(parts, kind, &Hdf5Part::kind) != parts.end();
}

class Hdf5Reader {
 public:
  explicit Hdf5Reader(Hdf5Source source) : source_(std::move(source)), links_(source_) {}

  Hdf5Content content() {
    add_group(root_address(), "", 0);
    return std::move(content_);
  }

 private:
  std::uint64_t root_address();
  void add_object(std::uint64_t address, const std::string& path, int depth);
  void add_group(std::uint64_t address, const std::string& path, int depth);
  void add_children(const std::vector<Hdf5Part>& parts, const std::string& path, int depth);
  void add_attributes(const std::vector<Hdf5Part>& parts, const std::string& path);
  void add_tensor(const std::vector<Hdf5Part>& parts, const std::string& path);
  void locate_tensor(std::span<const std::byte> layout, TensorInfo& tensor);
  [[noreturn]] void refuse(const std::string& path, std::string_view what) const;

  Hdf5Source source_;
  Hdf5Links links_;
  Hdf5Content content_;
  std::size_t objects_ = 0, attribute_bytes_ = 0;
};

std::uint64_t Hdf5Reader::root_address() {
  Hdf5Cursor cursor(source_, source_.file);
  cursor.take(8);  // the signature
  const auto version = cursor.number(1);
  if (version > 3) source_.damaged("its first block has the unknown version {}", version);
  if (version < 2) cursor.take(4);  // versions of other parts, all with one version only
  source_.address_width = cursor.number(1);
  source_.length_width = cursor.number(1);
  const auto sensible = [](std::size_t width) { return width == 2 || width == 4 || width == 8; };
  if (!sensible(source_.address_width) || !sensible(source_.length_width)) {
    source_.damaged("its numbers are {} and {} bytes wide", source_.address_width,
                    source_.length_width);
  }
  cursor.take(version == 0 ? 9 : version == 1 ? 13 : 1);
  check(cursor.address() == 0, ErrorKind::Input,
        "[io.hdf5] {} has a user block before its content, which cannot be read here. Save it "
        "again with h5py.",
        source_.name);
  cursor.address();
  cursor.address();
  if (version < 2) {
    cursor.address();
    cursor.address();
  }
  return cursor.address();
}

void Hdf5Reader::refuse(const std::string& path, std::string_view what) const {
  fail(ErrorKind::Input,
       "[io.hdf5] {}: '{}' {}, which cannot be read here. Save it plainly: h5repack -l CONTI -f "
       "NONE OLD NEW.",
       source_.name, printable(path), what);
}

void Hdf5Reader::add_object(std::uint64_t address, const std::string& path, int depth) {
  if (++objects_ > kMostObjects) source_.damaged("it has more than {} objects", kMostObjects);
  const auto parts = hdf5_object(source_, address);
  if (has_part(parts, Hdf5Message::Layout)) return add_tensor(parts, path);
  if (has_part(parts, Hdf5Message::SymbolTable) || has_part(parts, Hdf5Message::LinkInfo) ||
      has_part(parts, Hdf5Message::Link)) {
    links_.enter(address);
    add_children(parts, path, depth);
  }
}

void Hdf5Reader::add_group(std::uint64_t address, const std::string& path, int depth) {
  links_.enter(address);
  add_children(hdf5_object(source_, address), path, depth);
}

void Hdf5Reader::add_children(const std::vector<Hdf5Part>& parts, const std::string& path,
                              int depth) {
  if (depth > kDeepestGroup) source_.damaged("its groups are nested too deeply");
  if (!path.empty()) content_.groups.push_back(path);
  add_attributes(parts, path);
  for (const auto& [name, child] : links_.of(parts)) {
    add_object(child, path.empty() ? name : path + '/' + name, depth + 1);
  }
}

void Hdf5Reader::add_attributes(const std::vector<Hdf5Part>& parts, const std::string& path) {
  constexpr std::uint64_t kShared = 2;
  for (const auto& part : parts) {
    if (part.kind != Hdf5Message::Attribute || (part.flags & kShared) != 0) continue;
    auto attribute = hdf5_attribute(source_, path, part.bytes);
    if (!attribute) continue;
    for (const auto& text : attribute->texts) attribute_bytes_ += sizeof(text) + text.size();
    if (attribute_bytes_ > kMostAttributeBytes) {
      source_.damaged("its attributes are longer than {} MiB", kMostAttributeBytes >> 20U);
    }
    content_.attributes.push_back(std::move(*attribute));
  }
}

void Hdf5Reader::add_tensor(const std::vector<Hdf5Part>& parts, const std::string& path) {
  constexpr std::uint64_t kShared = 2;
  for (const auto& part : parts) {
    const bool needed = part.kind == Hdf5Message::Datatype || part.kind == Hdf5Message::Dataspace;
    if (needed && (part.flags & kShared) != 0) refuse(path, "has a type that is kept elsewhere");
  }
  const auto type = hdf5_type(source_, find_part(parts, Hdf5Message::Datatype));
  if (type.kind == Hdf5Type::Kind::Text || type.kind == Hdf5Type::Kind::LongText) return;
  if (type.kind == Hdf5Type::Kind::Other) refuse(path, "has elements that are no plain numbers");
  const auto shape = hdf5_shape(source_, find_part(parts, Hdf5Message::Dataspace));
  if (!shape) return;
  if (has_part(parts, Hdf5Message::Filters)) refuse(path, "is compressed");
  if (has_part(parts, Hdf5Message::ExternalFiles)) refuse(path, "lies in another file");
  TensorInfo tensor{path, type.dtype, *shape, 0, 0};
  locate_tensor(find_part(parts, Hdf5Message::Layout), tensor);
  content_.tensors.push_back(std::move(tensor));
  content_.swapped.push_back(type.big == kLittleMachine && size_of(type.dtype) > 1);
  add_attributes(parts, path);
}

void Hdf5Reader::locate_tensor(std::span<const std::byte> layout, TensorInfo& tensor) {
  const auto bytes = byte_count(tensor.dtype, tensor.shape);
  if (!bytes)
    source_.damaged("'{}' has the shape {}", printable(tensor.name), shape_text(tensor.shape));
  const bool empty = std::ranges::find(tensor.shape, 0) != tensor.shape.end();
  const auto wanted = empty ? 0 : static_cast<std::uint64_t>(*bytes);
  Hdf5Cursor cursor(source_, layout);
  const auto version = cursor.number(1), kind = cursor.number(1);
  constexpr std::uint64_t kCompact = 0, kContiguous = 1;
  if (version != 3 && version != 4) refuse(tensor.name, "is stored in an outdated layout");
  if (kind != kCompact && kind != kContiguous) refuse(tensor.name, "is stored in pieces");
  std::uint64_t stored = 0;
  if (kind == kCompact) {
    stored = cursor.number(2);
    const auto values = cursor.take(stored);
    tensor.begin = static_cast<std::uint64_t>(values.data() - source_.file.data());
  } else {
    tensor.begin = cursor.address();
    stored = cursor.length();
    if (tensor.begin == kHdf5Undefined && wanted == 0) tensor.begin = 0;
    if (tensor.begin == kHdf5Undefined) refuse(tensor.name, "was never given values");
  }
  if (stored < wanted && kind == kCompact) {
    source_.damaged("'{}' has {} bytes of {}", printable(tensor.name), stored, wanted);
  }
  source_.at(tensor.begin, wanted);
  tensor.end = tensor.begin + wanted;
}

}  // namespace

Hdf5Content parse_hdf5(std::span<const std::byte> file, const std::string& name) {
  check(looks_like(file).starts_with("an HDF5 file"), ErrorKind::Input,
        "[io.hdf5] {} is not an HDF5 file; it looks like {}.", name, looks_like_or_unknown(file));
  return Hdf5Reader({file, name}).content();
}

Hdf5File::Hdf5File(const std::filesystem::path& path)
    : file_(path), content_(parse_hdf5(file_.bytes(), path.string())) {}

const TensorInfo* Hdf5File::find(std::string_view path) const {
  const auto found = std::ranges::find(content_.tensors, path, &TensorInfo::name);
  return found == content_.tensors.end() ? nullptr : &*found;
}

std::vector<std::string> Hdf5File::texts(std::string_view owner, std::string_view name) const {
  const auto one = [&](std::string_view wanted) {
    const auto found = std::ranges::find_if(content_.attributes, [&](const auto& attribute) {
      return attribute.owner == owner && attribute.name == wanted;
    });
    return found == content_.attributes.end() ? nullptr : &found->texts;
  };
  if (const auto* whole = one(name)) return *whole;
  std::vector<std::string> texts;
  for (int piece = 0;; ++piece) {
    const auto* more = one(fmt::format("{}{}", name, piece));
    if (more == nullptr) return texts;
    texts.insert(texts.end(), more->begin(), more->end());
  }
}

HostTensor Hdf5File::read(const TensorInfo& tensor) const {
  HostTensor out{tensor.name, tensor.dtype, tensor.shape, {}};
  out.bytes.resize(tensor.size());
  if (!out.bytes.empty()) bulk_read(file_, tensor.begin, out.bytes);
  const auto* known = find(tensor.name);
  const bool swapped =
      known != nullptr && content_.swapped[static_cast<std::size_t>(known - tensors().data())];
  if (swapped) swap_byte_order(out);
  return out;
}

}  // namespace ubique::io

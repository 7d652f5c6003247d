// SPDX-License-Identifier: Apache-2.0
// Reads the pickles and storages of the legacy format in their order.
#include "ubique/io/torch/torch_file_legacy.h"

#include <map>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/io/archive/byte_order.h"
#include "ubique/io/torch/torch_file_names.h"
#include "ubique/io/torch/torch_file_tree.h"

namespace ubique::io {
namespace {

using std::string_view_literals::operator""sv;

// The pickled number 0x1950a86a20f9469cfc6c.
constexpr std::string_view kLegacyMagic =
    "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."sv;
constexpr std::int64_t kLegacyVersion = 1001;
constexpr std::size_t kCountBytes = 8;

/// Reads the parts in order; `rest_` is what is still unread.
class LegacyReader {
 public:
  LegacyReader(std::span<const std::byte> file, const std::string& name)
      : rest_(file.subspan(kLegacyMagic.size())), name_(name) {}

  TorchFile read(const TensorFilter& wanted) {
    read_version();
    TorchStorages storages{name_, is_swapped(), 0, {}};
    const auto object = parse_first_pickle(rest_, name_, torch_globals());
    locate_storages(object);
    for (const auto& [key, bytes] : storages_) storages.bytes += bytes.size();
    storages.read = [this](const std::string& key, std::vector<std::byte>&) { return find(key); };
    TorchTensors tensors(std::move(storages), wanted);
    return torch_tree(object, tensors, name_);
  }

 private:
  void require(bool condition, std::string_view what) const {
    check(condition, ErrorKind::Input,
          "[io.torch_file] {} cannot be read as PyTorch's legacy form; {}. Is it complete?", name_,
          what);
  }

  void read_version() {
    const auto version = parse_first_pickle(rest_, name_, {});
    const auto& node = version[version.root];
    require(node.kind == PickleKind::Int && node.integer == kLegacyVersion,
            "its version is not 1001");
  }

  /// {"protocol_version": 1001, "little_endian": True, "type_sizes": {...}}
  bool is_swapped() {
    const auto info = parse_first_pickle(rest_, name_, {});
    const auto& items = info[info.root].items;
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      if (info[items[i]].text != "little_endian") continue;
      const auto& value = info[items[i + 1]];
      require(value.kind == PickleKind::Bool, "its byte order is neither True nor False");
      return (value.integer != 0) != kLittleMachine;
    }
    require(false, "it does not say its byte order");
    return false;
  }

  /// The file states the element count of a storage; its dtype is only known from its tensors.
  std::map<std::string, DType> types_of(const Pickle& object) const {
    std::map<std::string, DType> types;
    const auto odd = [&](std::string_view what) {
      require(false, fmt::format("a tensor is not described as torch.save does: {}", what));
    };
    for (const auto& node : object.nodes) {
      if (node.kind != PickleKind::Persistent) continue;
      const auto reference = storage_reference(object, node, odd);
      const auto [known, added] = types.emplace(reference.key, reference.dtype);
      require(added || known->second == reference.dtype, "a storage has two types");
    }
    return types;
  }

  void locate_storages(const Pickle& object) {
    const auto types = types_of(object);
    const auto keys = parse_first_pickle(rest_, name_, {});
    const auto& list = keys[keys.root];
    require(list.kind == PickleKind::List, "the list of its storages is missing");
    for (const auto id : list.items) {
      const auto& key = keys[id];
      const auto type = types.find(key.text);
      require(key.kind == PickleKind::Text && type != types.end(),
              "it lists a storage that no tensor lies in");
      require(!storages_.contains(key.text), "it lists a storage twice");
      storages_[key.text] = take_storage(type->second);
    }
    require(rest_.empty(), "there is something behind its last storage");
  }

  std::span<const std::byte> take(std::uint64_t count) {
    require(count <= rest_.size(), "it ends within its storages");
    const auto taken = rest_.first(static_cast<std::size_t>(count));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }

  std::span<const std::byte> take_storage(DType dtype) {
    const auto count = load_little(take(kCountBytes));
    const auto bytes = byte_count(dtype, {static_cast<std::int64_t>(count & ~(1ULL << 63U))});
    require(count >> 63U == 0 && bytes.has_value(), "a storage is larger than 2^63 bytes");
    return take(static_cast<std::uint64_t>(*bytes));
  }

  std::span<const std::byte> find(const std::string& key) const {
    const auto found = storages_.find(key);
    check(found != storages_.end(), ErrorKind::Input,
          "[io.torch_file] {} has no storage '{}'; the file is incomplete.", name_,
          printable(key, 40));
    return found->second;
  }

  std::span<const std::byte> rest_;
  const std::string& name_;
  std::map<std::string, std::span<const std::byte>> storages_;
};

}  // namespace

bool starts_like_legacy_torch(std::span<const std::byte> file) {
  return std::string_view(reinterpret_cast<const char*>(file.data()), file.size())
      .starts_with(kLegacyMagic);
}

TorchFile parse_legacy_torch_file(std::span<const std::byte> file, const std::string& name,
                                  const TensorFilter& wanted) {
  return LegacyReader(file, name).read(wanted);
}

}  // namespace ubique::io

// SPDX-License-Identifier: Apache-2.0
// Parses the arguments of the rebuild functions and copies views out of their storages.
#include "ubique/io/torch/torch_file_tensor.h"

#include <limits>
#include <optional>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/io/torch/torch_file_names.h"

namespace ubique::io {
namespace {

constexpr std::string_view kRebuildV1 = "torch._utils._rebuild_tensor";
constexpr std::string_view kRebuildV2 = "torch._utils._rebuild_tensor_v2";
constexpr std::string_view kRebuildV3 = "torch._utils._rebuild_tensor_v3";
constexpr std::string_view kParameter = "torch._utils._rebuild_parameter";
constexpr std::string_view kParameterWithState = "torch._utils._rebuild_parameter_with_state";
// Before PyTorch 0.4: the class itself is called with the tensor, and has a state of three values.
constexpr std::string_view kParameterClass = "torch.nn.parameter.Parameter";
constexpr std::string_view kFromType = "torch._tensor._rebuild_from_type_v2";

// Views may share a storage, and a stride of 0 repeats it, so tensors can be larger than the file.
// Tied weights repeat a few times; more than this is an attack.
constexpr std::uint64_t kMostRepeats = 16;
constexpr std::uint64_t kFreeBytes = 64U << 20U;

/// The arguments of a rebuild function.
struct TensorDescription {
  DType dtype = DType::F32;
  StridedView view;
  std::string storage;             // key
  std::int64_t storage_bytes = 0;  // as the pickle states
};

/// Parses the arguments; `subject` begins its messages.
class DescriptionReader {
 public:
  DescriptionReader(const Pickle& pickle, std::string subject)
      : pickle_(pickle), subject_(std::move(subject)) {}

  TensorDescription read(const PickleNode& call) const;

 private:
  [[noreturn]] void odd(std::string_view what) const {
    fail(ErrorKind::Input,
         "[io.torch_file] {} is not described as torch.save does; {}. Save it again as a plain "
         "tensor: tensor.detach().clone().contiguous().",
         subject_, what);
  }
  void require(bool condition, std::string_view what) const {
    if (!condition) odd(what);
  }
  const PickleNode& argument(std::span<const PickleId> arguments, std::size_t i) const {
    require(i < arguments.size(), "arguments are missing");
    return pickle_[arguments[i]];
  }
  std::int64_t count(const PickleNode& node) const {
    require(node.kind == PickleKind::Int && node.integer >= 0, "a size is not a number from 0");
    return node.integer;
  }
  Shape counts(const PickleNode& node) const;
  void read_storage(const PickleNode& node, TensorDescription& parts) const;
  TensorDescription read_plain(std::string_view function,
                               std::span<const PickleId> arguments) const;

  const Pickle& pickle_;
  std::string subject_;
};

Shape DescriptionReader::counts(const PickleNode& node) const {
  // A torch.Size is a call with the tuple as its only argument.
  const auto* tuple = &node;
  if (node.kind == PickleKind::Call && node.text == "torch.Size") {
    tuple = &argument(pickle_[node.arguments].items, 0);
  }
  require(tuple->kind == PickleKind::Tuple && tuple->items.size() <= kMaxTensorDimensions,
          "its sizes are no tuple of at most 64 numbers");
  Shape result;
  for (const auto id : tuple->items) result.push_back(count(pickle_[id]));
  return result;
}

void DescriptionReader::read_storage(const PickleNode& node, TensorDescription& parts) const {
  auto reference = storage_reference(pickle_, node, [&](std::string_view what) { odd(what); });
  parts.dtype = reference.dtype;
  parts.storage = std::move(reference.key);
  const auto bytes = byte_count(parts.dtype, {reference.elements});
  require(bytes.has_value(), "its storage is larger than 2^63 bytes");
  parts.storage_bytes = *bytes;
}

TensorDescription DescriptionReader::read_plain(std::string_view function,
                                                std::span<const PickleId> arguments) const {
  TensorDescription parts;
  read_storage(argument(arguments, 0), parts);
  parts.view.first = count(argument(arguments, 1));
  parts.view.shape = counts(argument(arguments, 2));
  parts.view.strides = counts(argument(arguments, 3));
  const std::size_t metadata = function == kRebuildV3 ? 7 : 6;
  if (function == kRebuildV3) {
    const auto& dtype = argument(arguments, 6);
    const auto known = torch_dtype(dtype.text);
    require(dtype.kind == PickleKind::Global && known.has_value(), "its dtype is unknown");
    parts.dtype = *known;
  }
  if (arguments.size() > metadata) {  // lazy views: the stored values are not the tensor's yet
    const auto& node = argument(arguments, metadata);
    require(node.kind == PickleKind::None || node.items.empty(),
            "it is a lazy conjugate or negative (call resolve_conj() and resolve_neg() first)");
  }
  return parts;
}

TensorDescription DescriptionReader::read(const PickleNode& call) const {
  const auto* node = &call;
  constexpr int kMostWrappings = 8;
  for (int i = 0; i < kMostWrappings; ++i) {
    const auto& arguments = pickle_[node->arguments].items;
    require(node->kind == PickleKind::Call, "a tensor is missing");
    if (node->text == kParameter || node->text == kParameterWithState ||
        node->text == kParameterClass) {
      node = &argument(arguments, 0);
    } else if (node->text == kFromType) {
      const auto& function = argument(arguments, 0);
      require(
          function.text == kRebuildV1 || function.text == kRebuildV2 || function.text == kRebuildV3,
          "it is a tensor of a class of its own");
      return read_plain(function.text, argument(arguments, 2).items);
    } else {
      require(TorchTensors::describes_tensor(node->text), "a tensor is missing");
      return read_plain(node->text, arguments);
    }
  }
  odd("it is wrapped too often");
}

}  // namespace

// The device is ignored. A sixth value, of the legacy form, says which part of another storage this
// one is.
StorageReference storage_reference(const Pickle& pickle, const PickleNode& node,
                                   const std::function<void(std::string_view)>& odd) {
  const auto require = [&](bool condition, std::string_view what) {
    if (!condition) odd(what);
  };
  require(node.kind == PickleKind::Persistent, "its storage is missing");
  const auto& identity = pickle[node.items.front()];
  const auto count = identity.items.size();
  require(identity.kind == PickleKind::Tuple && (count == 5 || count == 6),
          "its storage is known by something else than five values");
  const auto field = [&](std::size_t i) -> const PickleNode& { return pickle[identity.items[i]]; };
  require(field(0).text == "storage" && field(1).kind == PickleKind::Global &&
              field(2).kind == PickleKind::Text,
          "its storage has no type or key");
  require(count == 5 || field(5).kind == PickleKind::None, "its storage is a part of another");
  const auto dtype = torch_storage_dtype(field(1).text);
  require(dtype || is_untyped_storage(field(1).text), "its storage has an unknown type");
  require(field(4).kind == PickleKind::Int && field(4).integer >= 0,
          "a size is not a number from 0");
  return {dtype.value_or(DType::U8), field(2).text, field(4).integer};
}

TorchTensors::TorchTensors(TorchStorages storages, TensorFilter wanted)
    : from_(std::move(storages)), wanted_(std::move(wanted)) {
  check(from_.bytes < std::numeric_limits<std::int64_t>::max() / (2 * kMostRepeats),
        ErrorKind::Input, "[io.torch_file] {} has impossibly large storages.", from_.file);
  bytes_left_ = from_.bytes * kMostRepeats + kFreeBytes;
}

bool TorchTensors::describes_tensor(std::string_view callee) {
  return callee == kRebuildV1 || callee == kRebuildV2 || callee == kRebuildV3 ||
         callee == kParameter || callee == kParameterWithState || callee == kParameterClass ||
         callee == kFromType;
}

const TorchTensors::Storage& TorchTensors::storage(const std::string& key) {
  const auto [found, added] = storages_.try_emplace(key);
  auto& storage = found->second;
  if (added) storage.bytes = from_.read(key, storage.buffer);
  return storage;
}

void TorchTensors::count_bytes(std::int64_t bytes, const std::string& name) {
  check(static_cast<std::uint64_t>(bytes) <= bytes_left_, ErrorKind::Input,
        "[io.torch_file] {}: tensor '{}' repeats its storage too often; expected tensors of at "
        "most {} times the storages in the file. Save it as tensor.contiguous().",
        from_.file, printable(name), kMostRepeats);
  bytes_left_ -= static_cast<std::uint64_t>(bytes);
}

HostTensor TorchTensors::make(const Pickle& pickle, const PickleNode& call,
                              const std::string& name) {
  const auto subject = fmt::format("{}: tensor '{}'", from_.file, printable(name));
  const auto parts = DescriptionReader(pickle, subject).read(call);
  if (wanted_ && !wanted_(name)) return {name, parts.dtype, parts.view.shape, {}};
  const auto& from = storage(parts.storage);
  check(from.bytes.size() == static_cast<std::uint64_t>(parts.storage_bytes), ErrorKind::Input,
        "[io.torch_file] {} has a storage of the wrong size; got {} bytes, expected {}.", subject,
        from.bytes.size(), parts.storage_bytes);
  const auto width = size_of(parts.dtype);
  const auto bytes = byte_count(parts.dtype, parts.view.shape);
  const auto elements = static_cast<std::int64_t>(from.bytes.size() / width);
  check(bytes && is_inside(parts.view, elements), ErrorKind::Input,
        "[io.torch_file] {} reaches past its storage; got sizes {}, strides {} and offset {}, "
        "expected them inside of {} elements.",
        subject, shape_text(parts.view.shape), shape_text(parts.view.strides), parts.view.first,
        elements);
  count_bytes(*bytes, name);
  HostTensor tensor{name, parts.dtype, parts.view.shape,
                    row_major_copy(from.bytes, width, parts.view)};
  if (from_.swapped) swap_byte_order(tensor);
  return tensor;
}

}  // namespace ubique::io

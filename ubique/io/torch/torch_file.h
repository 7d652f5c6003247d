// SPDX-License-Identifier: Apache-2.0
// PyTorch's .pt and .pth files: a zip with a pickle and raw storages, or the legacy form of before
// 1.6, pickles and storages one after the other. Pickles are read by a small interpreter that knows
// tensors and plain containers only; it never imports or calls anything, and everything else is
// refused by name.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/text/json.h"
#include "ubique/io/tensors/host_tensor.h"
#include "ubique/io/tensors/tensor_info.h"

namespace ubique::io {

struct TorchFile {
  /// Tensors under the path of keys that leads to them, joined by '/':
  /// "model_state_dict/conv.weight", "optimizer_state_dict/state/0/exp_avg"; in the order of the
  /// file. Strided views are copied to row-major order.
  std::vector<HostTensor> tensors;
  /// Everything else as JSON; a tensor is {"$tensor": NAME}, tuples and sets are arrays, dict keys
  /// that are numbers are written as text.
  Json tree;

  const HostTensor* find(std::string_view name) const;
};

/// Values of tensors that `wanted` takes; a VGG16's classifier is nine tenths of its file.
TorchFile read_torch_file(const std::filesystem::path& path, const TensorFilter& wanted = {});
/// The same from memory; `name` stands for the file in messages.
TorchFile parse_torch_file(std::span<const std::byte> file, const std::string& name,
                           const TensorFilter& wanted = {});
/// Names, types and shapes alone, in the order of the file; reads no values.
std::vector<TensorInfo> list_torch_file(const std::filesystem::path& path);

/// Whether a file starts as torch.save writes it, in the zip form or the legacy one. Some .pth
/// files are safetensors: ask starts_like_safetensors (magic.h) too.
bool looks_like_torch_file(std::span<const std::byte> start);

/// A file that Python's torch.load(weights_only=True) opens: an OrderedDict of contiguous CPU
/// tensors nested under the key `under` ("" = at the top), beside the plain values of `extra`, an
/// object. Atomic. Internal error for names or keys given twice.
void write_torch_file(const std::filesystem::path& path, std::span<const HostTensor> tensors,
                      const std::string& under = {}, const Json& extra = Json::object());

}  // namespace ubique::io

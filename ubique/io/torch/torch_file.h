// SPDX-License-Identifier: Apache-2.0
// PyTorch's .pt and .pth files, read and written: a zip with a pickle and raw storages, or (read
// only) the format before PyTorch 1.6, pickles and storages in a row. Only tensors and plain
// containers are accepted; nothing is ever imported or called.
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
  /// Tensors named by the path of their keys, joined by '/':
  /// "model_state_dict/conv.weight", "optimizer_state_dict/state/0/exp_avg"; in the order of the
  /// file. Strided views are copied to row-major order.
  std::vector<HostTensor> tensors;
  /// Everything else as JSON; a tensor is {"$tensor": NAME}, tuples and sets are arrays, dict keys
  /// that are numbers are written as text.
  Json tree;

  const HostTensor* find(std::string_view name) const;
};

/// Reads values only of tensors that `wanted` selects.
TorchFile read_torch_file(const std::filesystem::path& path, const TensorFilter& wanted = {});
/// The same from memory; error messages call the file `name`.
TorchFile parse_torch_file(std::span<const std::byte> file, const std::string& name,
                           const TensorFilter& wanted = {});
/// Names, dtypes and shapes in file order; reads no values.
std::vector<TensorInfo> list_torch_file(const std::filesystem::path& path);

/// Whether a file starts as torch.save writes it, as a zip or in the legacy format. Some .pth files
/// are safetensors: check starts_like_safetensors() (file_type.h) too.
bool looks_like_torch_file(std::span<const std::byte> start);

/// A file that Python's torch.load(weights_only=True) opens: an OrderedDict of contiguous CPU
/// tensors under the key `under` ("": at the top level), beside the plain values of the object
/// `extra`. Atomic. Internal error for names or keys given twice.
void write_torch_file(const std::filesystem::path& path, std::span<const HostTensor> tensors,
                      const std::string& under = {}, const Json& extra = Json::object());

}  // namespace ubique::io

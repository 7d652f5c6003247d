// SPDX-License-Identifier: Apache-2.0
// Reads a tensor from its description in a checkpoint's pickle (storage, offset, sizes, strides);
// everything is checked against the storage before a byte is copied.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/io/tensors/host_tensor.h"
#include "ubique/io/torch/pickle.h"
#include "ubique/io/torch/torch_file.h"

namespace ubique::io {

/// ("storage", type, key, device, elements): how a pickle refers to values that are stored outside.
struct StorageReference {
  DType dtype = DType::U8;  ///< U8 for untyped storages
  std::string key;
  std::int64_t elements = 0;
};
/// Parses a Persistent node. Calls `odd`, which must throw, for anything else.
StorageReference storage_reference(const Pickle& pickle, const PickleNode& node,
                                   const std::function<void(std::string_view what)>& odd);

/// The storages of one file.
struct TorchStorages {
  std::string file;         ///< name for messages
  bool swapped = false;     ///< not this machine's byte order
  std::uint64_t bytes = 0;  ///< of all storages together
  /// A storage by its key: a view into the file, or inflated into `buffer`. Input error if missing.
  std::function<std::span<const std::byte>(const std::string& key, std::vector<std::byte>& buffer)>
      read;
};

class TorchTensors {
 public:
  /// Reads values only of tensors that `wanted` selects, or of all if it is empty.
  TorchTensors(TorchStorages storages, TensorFilter wanted);

  /// Whether a call of this name describes a tensor or a parameter.
  static bool describes_tensor(std::string_view callee);
  /// Input error if the description does not fit its storage. Storages are read once.
  HostTensor make(const Pickle& pickle, const PickleNode& call, const std::string& name);

 private:
  struct Storage {
    std::span<const std::byte> bytes;
    std::vector<std::byte> buffer;  // owns the bytes if the file compresses them
  };

  const Storage& storage(const std::string& key);
  void count_bytes(std::int64_t bytes, const std::string& name);

  TorchStorages from_;
  TensorFilter wanted_;
  std::uint64_t bytes_left_ = 0;
  std::map<std::string, Storage> storages_;
};

}  // namespace ubique::io

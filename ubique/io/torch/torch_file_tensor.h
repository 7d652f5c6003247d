// SPDX-License-Identifier: Apache-2.0
// From a tensor's description in a checkpoint's pickle (storage, offset, sizes, strides) to its
// values, checked against the storage before a byte is copied.
// The small things beside the tensors of a checkpoint that Python spells as calls: bytes, devices
// and NumPy's numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/text/json.h"
#include "ubique/io/tensors/host_tensor.h"
#include "ubique/io/torch/pickle.h"
#include "ubique/io/torch/torch_file.h"

namespace ubique::io {

/// ("storage", type, key, device, elements): what a pickle says of values that lie outside of it.
struct StorageReference {
  DType dtype = DType::U8;  ///< U8 where the file keeps bytes without a type
  std::string key;
  std::int64_t elements = 0;
};
/// Of a Persistent node. Throws what `odd` throws for anything else.
StorageReference storage_reference(const Pickle& pickle, const PickleNode& node,
                                   const std::function<void(std::string_view what)>& odd);

/// The storages of one file.
struct TorchStorages {
  std::string file;         ///< its name, for messages
  bool swapped = false;     ///< the other byte order than this machine's
  std::uint64_t bytes = 0;  ///< of all of them
  /// One by its key: a view into the file, else unpacked into `room`. Input error if there is none.
  std::function<std::span<const std::byte>(const std::string& key, std::vector<std::byte>& room)>
      read;
};

class TorchTensors {
 public:
  /// Values are read only of tensors that `wanted` takes, or of all if it is empty.
  TorchTensors(TorchStorages storages, TensorFilter wanted);

  /// Whether a call of this name describes a tensor or a parameter.
  static bool describes_tensor(std::string_view callee);
  /// Input error if the description does not fit its storage. Storages are read once.
  HostTensor make(const Pickle& pickle, const PickleNode& call, const std::string& name);

 private:
  struct Storage {
    std::span<const std::byte> bytes;
    std::vector<std::byte> room;  // what `bytes` shows, where the file packs them
  };

  const Storage& storage(const std::string& key);
  void count_bytes(std::int64_t bytes, const std::string& name);

  TorchStorages from_;
  TensorFilter wanted_;
  std::uint64_t bytes_left_ = 0;
  std::map<std::string, Storage> storages_;
};

/// Of a Bytes node, or of a call that gives bytes in Python; nothing if it is neither.
std::optional<std::string> pickled_bytes(const Pickle& pickle, const PickleNode& node);

/// A torch.device as its text, a NumPy number as a number; nothing if the call is something else.
/// Input error for NumPy numbers that are no integer, float or bool.
std::optional<Json> pickled_value(const Pickle& pickle, const PickleNode& call,
                                  const std::string& file);

}  // namespace ubique::io

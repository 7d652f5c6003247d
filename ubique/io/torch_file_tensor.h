// SPDX-License-Identifier: Apache-2.0
// From a tensor's description in a checkpoint's pickle (storage, offset, sizes, strides) to its
// values, checked against the storage before a byte is copied.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/io/host_tensor.h"
#include "ubique/io/pickle.h"
#include "ubique/io/zip_reader.h"

namespace ubique::io {

class TorchTensors {
 public:
  /// `folder` is the archive's own, with its slash: "archive/". Both arguments must outlive this.
  TorchTensors(const ZipReader& zip, std::string folder);

  /// Whether a call of this name describes a tensor or a parameter.
  static bool describes_tensor(std::string_view callee);
  /// Input error if the description does not fit its storage. Storages are read once.
  HostTensor make(const Pickle& pickle, const PickleNode& call, const std::string& name);

 private:
  struct Storage {
    std::span<const std::byte> bytes;
    std::vector<std::byte> room;  // what `bytes` shows, where the archive is deflated
  };

  const Storage& storage(const std::string& key);
  void count_bytes(std::int64_t bytes, const std::string& name);

  const ZipReader& zip_;
  std::string folder_;
  bool swapped_ = false;
  std::uint64_t bytes_left_ = 0;
  std::map<std::string, Storage> storages_;
};

}  // namespace ubique::io

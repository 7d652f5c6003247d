// SPDX-License-Identifier: Apache-2.0
// Aliases between device and CPU tensors: device tensors are viewed as CPU tensors while a CPU
// kernel runs, and its results become device tensors. Nothing is copied.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <unordered_map>
#include <utility>
#include <vector>

namespace ubique::backend::sham {

/// A CPU view of a device tensor's memory, valid while the device tensor lives; a CPU tensor is
/// returned as it is.
at::Tensor as_cpu(const at::Tensor& tensor);

/// The CPU views of all tensors of one call. Tensors that share memory on the device share it on
/// the CPU too, so that views and in-place ops behave the same.
class Aliases {
 public:
  at::Tensor to_cpu(const at::Tensor& tensor, bool is_written);
  c10::Storage to_cpu(const c10::Storage& storage);
  /// The device tensor of a result: the argument itself, a view of its memory, or a new tensor that
  /// adopts the CPU's memory.
  at::Tensor to_device(const at::Tensor& cpu);
  /// Applies changes of size and storage (out= arguments, resize_, set_) to the device tensors.
  void write_back();

 private:
  c10::Storage device_storage(const c10::Storage& cpu);

  struct StoragePair {
    c10::Storage device, cpu;
  };
  std::unordered_map<c10::StorageImpl*, std::size_t> by_device_, by_cpu_;  // index into storages_
  std::vector<StoragePair> storages_;
  struct TensorPair {
    at::Tensor device, cpu;  // both kept alive, so that no result reuses their addresses
    bool is_written;
  };
  std::unordered_map<c10::TensorImpl*, TensorPair> views_;  // by CPU tensor
};

}  // namespace ubique::backend::sham

// SPDX-License-Identifier: Apache-2.0
// One memory, two tensors: device tensors seen as CPU tensors while a CPU kernel runs, and its
// results taken back as device tensors. Nothing is copied.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <unordered_map>
#include <utility>
#include <vector>

namespace ubique::backend::sham {

/// A device tensor as a CPU tensor of the same memory; a CPU tensor as it is. Valid while the
/// device tensor lives.
at::Tensor as_cpu(const at::Tensor& tensor);

/// The two faces of every tensor of one op's call. Tensors that share memory on the device share it
/// on the CPU too, so that views and in-place ops mean the same there.
class Aliases {
 public:
  at::Tensor to_cpu(const at::Tensor& tensor, bool is_written);
  c10::Storage to_cpu(const c10::Storage& storage);
  /// The device's side of a result: the very tensor that was given, a view of its memory, or the
  /// CPU's new memory adopted.
  at::Tensor to_device(const at::Tensor& cpu);
  /// Carries resizing (out= arguments, resize_, set_) over to the device's tensors.
  void write_back();

 private:
  c10::Storage device_storage(const c10::Storage& cpu);

  struct Pair {
    c10::Storage device, cpu;
  };
  std::unordered_map<c10::StorageImpl*, std::size_t> by_device_, by_cpu_;  // index into storages_
  std::vector<Pair> storages_;
  struct Faces {
    at::Tensor device, cpu;  // both kept: a freed face's address could come back as a result's
    bool is_written;
  };
  std::unordered_map<c10::TensorImpl*, Faces> faces_;  // by their CPU side
};

}  // namespace ubique::backend::sham

// SPDX-License-Identifier: Apache-2.0
// Uses a TensorIterator over one number per thread: its parallel loop is compiled inside libtorch.
#include "ubique/kernels/host/host_threads.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/TensorIterator.h>

namespace ubique::kernels {

std::int64_t host_threads() { return at::get_num_threads(); }

void on_host_threads(c10::function_ref<void(std::int64_t thread)> work) {
  thread_local at::Tensor threads;  // made once: this is called for every small product
  if (!threads.defined() || threads.numel() != host_threads()) {
    threads = at::arange(host_threads(), at::TensorOptions(at::kLong));
  }
  auto each = at::TensorIteratorConfig().add_const_input(threads).build();
  each.for_each(
      [&](char** data, const std::int64_t* strides, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) {
          work(*reinterpret_cast<const std::int64_t*>(data[0] + i * strides[0]));
        }
      },
      1);
}

}  // namespace ubique::kernels

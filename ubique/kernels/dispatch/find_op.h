// SPDX-License-Identifier: Apache-2.0
// Looks up an op of LibTorch's dispatcher by name, for unboxed calls. Do it once per op.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace ubique::kernels {

template <typename Function>
auto find_op(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Function>();
}

}  // namespace ubique::kernels

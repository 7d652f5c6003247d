// SPDX-License-Identifier: Apache-2.0
// An operator of LibTorch's dispatcher by its name, to be called without boxing. Look it up once.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace ubique::kernels {

template <typename Function>
auto find_op(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Function>();
}

}  // namespace ubique::kernels

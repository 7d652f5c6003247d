// SPDX-License-Identifier: Apache-2.0
// Which tensors of a file somebody wants.
#pragma once

#include <functional>
#include <string>

namespace ubique::io {

/// By their names; empty: all. Readers that take one give the others without their bytes, which are
/// then not read.
using TensorFilter = std::function<bool(const std::string& name)>;

}  // namespace ubique::io

// SPDX-License-Identifier: Apache-2.0
// What a file is that was taken for a NIfTI scan and is none.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace ubique::io {

/// Input error that names the format, where its first bytes show it, and what to do.
[[noreturn]] void fail_foreign(std::span<const std::byte> start, const std::string& name);

}  // namespace ubique::io

// SPDX-License-Identifier: Apache-2.0
// Writing a file that is read back before it counts: if anything fails, nothing is left behind.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "ubique/engine/contract/batch.h"

namespace ubique::engine {

/// Runs `write_and_check`, which writes `path` (a file or a folder) and throws if what it reads
/// back is wrong. On any exception removes `path` and the `path`.data that it wrote, then rethrows.
/// Usage error if `path` exists. `place` is the tag of that message.
void write_checked(const std::filesystem::path& path, const std::string& place,
                   const std::function<void()>& write_and_check);

/// Parity error that names the first tensor whose values differ in a bit, after conversion to the
/// dtype that was to be written. `place` is the tag of the message.
void check_same_tensors(const NamedTensors& wanted, const NamedTensors& read_back,
                        const std::string& place);

}  // namespace ubique::engine

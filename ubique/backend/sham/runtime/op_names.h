// SPDX-License-Identifier: Apache-2.0
// Names of LibTorch's ops, as the settings speak of them: "aten::mm" stands for all its overloads.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace ubique::backend::sham {

/// "aten::mm" for "mm", "aten::mm" and "aten::mm.out".
std::string full_op_name(const std::string& name);
/// Every op that LibTorch and its extensions have declared.
std::vector<std::string> known_ops();
/// False for ops that never run a CPU kernel here: LibTorch takes them apart into others, or they
/// only make and view memory.
bool reaches_device(const std::string& op);
/// Ops that Metal's backend in LibTorch 2.11 has no kernel for although CPU and CUDA have one, as
/// far as a model may meet them (by the dispatch lists that LibTorch ships).
const std::set<std::string>& ops_missing_on_metal();

}  // namespace ubique::backend::sham

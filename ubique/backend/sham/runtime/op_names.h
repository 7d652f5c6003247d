// SPDX-License-Identifier: Apache-2.0
// Names of LibTorch's ops as used in the settings: "aten::mm" means all its overloads.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace ubique::backend::sham {

/// "aten::mm" for "mm", "aten::mm" and "aten::mm.out".
std::string full_op_name(const std::string& name);
/// All ops declared by LibTorch and its extensions, sorted.
std::vector<std::string> known_ops();
/// False for ops that never run a CPU kernel here: LibTorch decomposes them, or they only create
/// and view memory.
bool reaches_device(const std::string& op);
/// Ops that models may use and that have kernels for CPU and CUDA but not for Metal in
/// LibTorch 2.11 (from LibTorch's dispatch lists).
const std::set<std::string>& ops_missing_on_metal();

}  // namespace ubique::backend::sham

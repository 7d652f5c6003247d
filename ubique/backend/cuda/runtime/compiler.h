// SPDX-License-Identifier: Apache-2.0
// NVRTC, NVIDIA's run-time compiler: CUDA C++ to machine code for one architecture. Opened at run
// time; needs neither a toolkit nor a card, so that tests compile the kernels anywhere.
#pragma once

#include <string>
#include <vector>

namespace ubique::backend::cuda {

struct Compiled {
  std::string code;   ///< a cubin
  std::string fault;  ///< error log; empty = success
};

bool has_compiler();
/// "13.0", part of the key of cached kernels; empty without a compiler.
std::string compiler_version();

/// `source` is a file of sources/, `defines` are "NAME=value", `capability` 90 for sm_90.
Compiled compile(const std::string& source, const std::vector<std::string>& defines,
                 int capability);

/// The text of `source` and of all headers (sources/include/*.cuh).
std::string source_text(const std::string& source);
std::vector<std::string> source_names();  ///< of all sources/*.cu

}  // namespace ubique::backend::cuda

// SPDX-License-Identifier: Apache-2.0
// Torch's own threads for loops of ours on the host. at::parallel_for is a template that runs on
// one thread wherever it is compiled without torch's OpenMP, as here; threads besides torch's would
// fight with those that still spin after its last op.
#pragma once

#include <c10/util/FunctionRef.h>

#include <cstdint>

namespace ubique::kernels {

/// How many there are: at::get_num_threads().
std::int64_t host_threads();

/// work(thread) once for every thread from 0 to host_threads() - 1, at the same time where possible
/// and one after the other inside another such loop.
void on_host_threads(c10::function_ref<void(std::int64_t thread)> work);

}  // namespace ubique::kernels

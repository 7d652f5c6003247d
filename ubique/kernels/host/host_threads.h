// SPDX-License-Identifier: Apache-2.0
// Runs our CPU loops on LibTorch's thread pool. at::parallel_for is a template that stays on one
// thread when compiled without LibTorch's OpenMP, as here; a second thread pool would compete with
// LibTorch's threads, which keep spinning for a while after each op.
#pragma once

#include <c10/util/FunctionRef.h>

#include <cstdint>

namespace ubique::kernels {

/// at::get_num_threads().
std::int64_t host_threads();

/// Calls work(thread) once for each thread from 0 to host_threads() - 1: concurrently, or one after
/// the other inside another parallel loop.
void on_host_threads(c10::function_ref<void(std::int64_t thread)> work);

}  // namespace ubique::kernels

// SPDX-License-Identifier: Apache-2.0
// The boxed fallback: every op of the device runs the CPU's kernel on the same memory.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <string>

namespace ubique::backend::sham {

/// Called first by every op: performs delayed copies, counts the op, waits for the set delay.
void begin_op(const std::string& name);

/// Boxed: replaces the op's arguments on the stack by its results.
void run_on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack);

void install_fallback();

}  // namespace ubique::backend::sham

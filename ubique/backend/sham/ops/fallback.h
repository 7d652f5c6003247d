// SPDX-License-Identifier: Apache-2.0
// How the device computes: any op that LibTorch sends to it runs the CPU's kernel on the same
// memory.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <string>

namespace ubique::backend::sham {

/// The beginning of every op: late copies land, the ledger counts, the delay passes.
void begin_op(const std::string& name);

/// Boxed: takes the op's arguments from the stack and leaves its results there.
void run_on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack);

void install_fallback();

}  // namespace ubique::backend::sham

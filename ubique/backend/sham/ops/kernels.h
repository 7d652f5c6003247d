// SPDX-License-Identifier: Apache-2.0
// The ops that cannot run as "the CPU's kernel on the same memory": those that make tensors, move
// them, or would be taken apart before they reach the device.
#pragma once

namespace ubique::backend::sham {

void install_kernels();
void install_attention();

}  // namespace ubique::backend::sham

// SPDX-License-Identifier: Apache-2.0
// The ops that the fallback cannot run: those that create or copy tensors, and those that LibTorch
// would decompose before they reach the device.
#pragma once

namespace ubique::backend::sham {

void install_kernels();
void install_attention();

}  // namespace ubique::backend::sham

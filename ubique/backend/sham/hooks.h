// SPDX-License-Identifier: Apache-2.0
// Registration with LibTorch: hooks (seeds, memory figures, events) and the device guard.
#pragma once

namespace ubique::backend::sham {

/// Registers the hooks. False if LibTorch was asked about Metal before: it caches the first answer.
bool install_hooks();
void install_guard();
/// Waits for all pending work of the device.
void synchronize_device();

}  // namespace ubique::backend::sham

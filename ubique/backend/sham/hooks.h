// SPDX-License-Identifier: Apache-2.0
// How LibTorch itself reaches the device: hooks (seeds, memory figures, events) and the device
// guard.
#pragma once

namespace ubique::backend::sham {

/// Announces the device to LibTorch. False if LibTorch had already been asked about Metal: it
/// remembers the first answer for good.
bool install_hooks();
void install_guard();
/// Waits for everything that the device still has to do.
void synchronize_device();

}  // namespace ubique::backend::sham

// SPDX-License-Identifier: Apache-2.0
// Copies between host and device, including the delayed ones of wrong=non_blocking.
#pragma once

#include <ATen/core/Tensor.h>

namespace ubique::backend::sham {

at::Tensor& copy_tensor(at::Tensor& destination, const at::Tensor& source, bool non_blocking);
/// The value of a one-element tensor, read on the host.
at::Scalar read_scalar(const at::Tensor& tensor);
/// Performs the copies that wrong=non_blocking delayed.
void finish_late_copies();

}  // namespace ubique::backend::sham

// SPDX-License-Identifier: Apache-2.0
// Copies between host and device, and the late ones of a device that was told to be careless.
#pragma once

#include <ATen/core/Tensor.h>

namespace ubique::backend::sham {

at::Tensor& copy_tensor(at::Tensor& destination, const at::Tensor& source, bool non_blocking);
/// The value of a tensor of one element, brought to the host.
at::Scalar read_scalar(const at::Tensor& tensor);
/// Copies that non_blocking let wait (only with wrong=non_blocking) read their sources now.
void finish_late_copies();

}  // namespace ubique::backend::sham

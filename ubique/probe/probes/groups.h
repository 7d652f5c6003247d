// SPDX-License-Identifier: Apache-2.0
// The groups of built-in probes, one file each. Standard ops are lists of Cases and a function that
// turns a Case into probes, which the families' own cases use too; the rest are special probes.
#pragma once

#include <vector>

#include "ubique/probe/core/case.h"
#include "ubique/probe/core/probe.h"

namespace ubique::probe {

inline const std::vector<DType> kProbedDtypes = {DType::F32, DType::BF16, DType::F16};
inline const std::vector<Layout> kBothLayouts = {Layout::Contiguous, Layout::ChannelsLast};

std::vector<Case> matmul_cases();  // probe_matmul.cpp
std::vector<Probe> expand_matmul(const Case& request);
std::vector<Probe> expand_linear(const Case& request);

std::vector<Case> conv_cases();  // probe_conv.cpp
std::vector<Probe> expand_conv(const Case& request);

std::vector<Case> norm_cases();  // probe_norm.cpp
std::vector<Probe> expand_batch_norm(const Case& request);
std::vector<Probe> expand_layer_norm(const Case& request);

std::vector<Case> attention_cases();  // probe_attention.cpp
std::vector<Probe> expand_attention(const Case& request);

std::vector<Case> cumsum_cases();  // probe_sampling.cpp
std::vector<Probe> expand_cumsum(const Case& request);
std::vector<Probe> sampling_probes();

std::vector<Probe> elementary_probes();  // probe_elementary.cpp
std::vector<Probe> image_probes();

std::vector<Probe> strided_view_probes();  // probe_views.cpp
std::vector<Probe> sliced_view_probes();
std::vector<Probe> transfer_probes();    // probe_transfer.cpp
std::vector<Probe> autocast_probes();    // probe_autocast.cpp
std::vector<Probe> checkpoint_probes();  // probe_checkpoint.cpp
std::vector<Probe> limit_probes();       // probe_limits.cpp: float64, tensor size, out of memory

}  // namespace ubique::probe

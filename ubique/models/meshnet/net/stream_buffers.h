// SPDX-License-Identifier: Apache-2.0
// Sizes of the plane buffers with which the host streams a volume through the network
// (use/stream_host.cpp): shared with needs.cpp, so that the plan counts what is allocated.
#pragma once

#include <cstdint>

#include "ubique/kernels/host/host_planes.h"
#include "ubique/models/meshnet/net/config.h"

namespace ubique::meshnet {

/// True if the host can stream this network: no norm (batch norms folded) and a supported kernel.
bool can_stream_on_host(const MeshNetConfig& folded);

/// An input plane of a dilated layer, with the margin that its taps reach into.
kernels::PlaneForm input_plane(const MeshNetConfig& config, std::size_t layer, std::int64_t height,
                               std::int64_t width);
/// A plane of the last dilated layer's output.
kernels::PlaneForm output_plane(const MeshNetConfig& config, std::int64_t height,
                                std::int64_t width);

/// Planes that every layer computes at a time.
std::int64_t planes_per_group(const MeshNetConfig& config, std::int64_t depth, std::int64_t height,
                              std::int64_t width);

/// Floats in the buffers of all layers together.
std::int64_t stream_floats(const MeshNetConfig& config, std::int64_t depth, std::int64_t height,
                           std::int64_t width);

}  // namespace ubique::meshnet

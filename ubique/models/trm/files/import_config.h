// SPDX-License-Identifier: Apache-2.0
// The configuration of a network whose weights are in a file of the original system: from
// all_config.yaml beside it and from the shapes of the tensors. Used inside this room only.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "ubique/models/trm/net/config.h"

namespace ubique::trm {

/// Shapes by the tensor names of the network.
using Shapes = std::map<std::string, std::vector<std::int64_t>>;

constexpr std::string_view kInnerPrefix = "model.inner.";

/// A tensor's size along a dimension; 0 if there is no such tensor. `name` lacks kInnerPrefix.
std::int64_t size_in(const Shapes& shapes, const std::string& name, std::size_t dimension);

/// The section `arch` of all_config.yaml over the values known from shapes, and its section
/// `ubique`, which the original ignores. Without the file the original's values are assumed, with a
/// warning; Input error naming what is missing where a wrong assumption would change the results.
TrmConfig imported_config(const std::filesystem::path& path, const Shapes& shapes);

/// "hidden_size 64, expected 32" for each of `keys` that differs; an empty list means all keys.
std::vector<std::string> different_keys(const TrmConfig& got, const TrmConfig& expected,
                                        std::vector<std::string> keys = {});

/// The text of all_config.yaml, as imported_config() reads it.
std::string config_yaml(const TrmConfig& config);

}  // namespace ubique::trm

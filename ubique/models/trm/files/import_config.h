// SPDX-License-Identifier: Apache-2.0
// What network a file of the original's weights holds: all_config.yaml beside it says most, the
// tensors' shapes some. Inside the room only.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "ubique/models/trm/net/config.h"

namespace ubique::trm {

/// By the names in the network.
using Shapes = std::map<std::string, std::vector<std::int64_t>>;

constexpr std::string_view kInnerPrefix = "model.inner.";

/// A tensor's size along a dimension; 0 if it is not there. The name is without kInnerPrefix.
std::int64_t size_in(const Shapes& shapes, const std::string& name, std::size_t dimension);

/// all_config.yaml's `arch` over what the shapes tell, and its key `ubique`, which the original
/// passes over. Without the file, the original's values, with a warning; Input error that says what
/// is missing where a wrong guess would compute something else.
TrmConfig imported_config(const std::filesystem::path& path, const Shapes& shapes);

/// "hidden_size 64, expected 32" for each of these keys that differs; without any, of all.
std::vector<std::string> different_keys(const TrmConfig& got, const TrmConfig& expected,
                                        std::vector<std::string> keys = {});

/// What imported_config() reads beside a file.
std::string config_yaml(const TrmConfig& config);

}  // namespace ubique::trm

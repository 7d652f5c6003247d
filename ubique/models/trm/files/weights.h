// SPDX-License-Identifier: Apache-2.0
// Import and export of TRM weights: state dicts written by torch.save (step_65100, .pt), with or
// without the prefix of a compiled model, and safetensors with the same names.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "ubique/engine/contract/batch.h"
#include "ubique/models/trm/net/model.h"

namespace ubique::trm {

/// Does the file hold TRM weights? Reads tensor names only.
bool looks_like_trm(const std::filesystem::path& path);

/// The configuration is read from the file's header (our safetensors), else from all_config.yaml
/// beside it, else from the shapes; then cycles and steps are assumed to be the original's, with a
/// warning. Input error if heads or puzzle lengths cannot be determined, and one that names tensors
/// for a file of another network.
std::unique_ptr<TrmModel> load_any(const std::filesystem::path& path);

/// A model of `config` with the weights of another model. A puzzle table of another size gets the
/// mean of the old rows in every row, as in the original. Input error naming the configuration keys
/// that differ if the weights do not fit.
std::unique_ptr<TrmModel> with_weights_of(const TrmConfig& config, TrmModel& other,
                                          const std::string& where);

/// Writes "checkpoint", "safetensors" or "pt". `prefix` is put before every name: "_orig_mod." for
/// a compiled model of the original. The configuration of a .pt is written beside it as
/// all_config.yaml; an existing one must say the same. Parity error, and
/// the file removed, if reading it back gives other weights. Usage error if `path`
/// exists.
void export_checked(TrmModel& model, const std::string& format, const std::filesystem::path& path,
                    const std::string& prefix);

constexpr const char* kConfigKey = "ubique.trm";        ///< in a safetensors header
constexpr const char* kConfigFile = "all_config.yaml";  ///< the original's, beside its weights

}  // namespace ubique::trm

// SPDX-License-Identifier: Apache-2.0
// TRM weights in the original's files: what torch.save made of a state dict (step_65100, .pt), with
// or without the prefix of a compiled model, and safetensors of the same names.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "ubique/engine/contract/batch.h"
#include "ubique/models/trm/net/model.h"

namespace ubique::trm {

/// Can this be one? Looks at the names in it, not at the values.
bool looks_like_trm(const std::filesystem::path& path);

/// The network is what the file's own header says (safetensors of ours), else all_config.yaml
/// beside it, else what the shapes tell; of what those cannot tell, cycles and steps are assumed to
/// be the original's, and a warning says so. Input error for heads and lengths of puzzles that
/// nobody can tell, and one that names tensors for a file of another network.
std::unique_ptr<TrmModel> load_any(const std::filesystem::path& path);

/// A model of `config` with another one's weights. A table of another size becomes the mean of the
/// old one's rows everywhere, as the original does it. Input error that says which keys of the
/// configuration differ if the weights do not fit.
std::unique_ptr<TrmModel> with_weights_of(const TrmConfig& config, TrmModel& other,
                                          const std::string& where);

/// "checkpoint", "safetensors" or "pt". `prefix` goes before every name: "_orig_mod." for a
/// compiled model of the original's. A .pt has no room for the configuration: it comes to lie
/// beside it as all_config.yaml, unless there is one, which must say the same. Parity error, and
/// the file removed, if reading gives other weights than were to be written. Usage error if `path`
/// exists.
void export_checked(TrmModel& model, const std::string& format, const std::filesystem::path& path,
                    const std::string& prefix);

constexpr const char* kConfigKey = "ubique.trm";        ///< in a safetensors header
constexpr const char* kConfigFile = "all_config.yaml";  ///< the original's, beside its weights

}  // namespace ubique::trm

// SPDX-License-Identifier: Apache-2.0
// Opening a model for inference: adapters, weights in fewer bits, device and dtype of the plan.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "ubique/engine/session/session.h"
#include "ubique/models/codelm/net/model.h"

namespace ubique::codelm {

/// What `run` and `evaluate` say about the model.
struct UseSettings {
  std::string adapter;    ///< a folder; empty = none
  std::string tokenizer;  ///< empty = the model's own
  std::string weights;    ///< "int8", "int4", "nf4"; empty = as the plan says
};

std::vector<engine::Option> use_options();
/// Usage error for an unknown form of weights.
UseSettings read_use_settings(const Config& config);

/// The model of the request with its adapter, on the CPU.
std::unique_ptr<CodelmModel> open_for_use(const engine::Request& request,
                                          const UseSettings& settings);
/// Starts the session for the model's needs and puts the model on its device, in its dtype, in eval
/// mode; adapters are merged first, then weights are quantised.
PassOptions place_for_use(CodelmModel& model, const UseSettings& settings,
                          engine::Session& session);

}  // namespace ubique::codelm

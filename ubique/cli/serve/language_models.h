// SPDX-License-Identifier: Apache-2.0
// Language models in the studio: those that were downloaded, and OpenAI's interface to all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ubique/serve/library/models.h"
#include "ubique/serve/openai/model_pool.h"
#include "ubique/serve/services/services.h"

namespace ubique::cli {

/// How /v1 serves language models.
struct LanguageModelFlags {
  std::int64_t slots = 16;
  double unload_after = 900;  ///< seconds
  std::string memory;         ///< for all that are loaded; empty: four fifths of the machine's
  std::string device;         ///< empty: as --device auto
};

/// What comes with the program, and what `ubique pull` has downloaded.
std::vector<serve::ModelEntry> models_at_hand();

/// Models of the codelm family that calls may name. Usage error for a memory that is none.
std::unique_ptr<serve::ModelPool> make_model_pool(const LanguageModelFlags& flags,
                                                  serve::Services& services);

}  // namespace ubique::cli

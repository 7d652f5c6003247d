// SPDX-License-Identifier: Apache-2.0
// `train acestep --part dcae|vocoder`: the two networks of the codec, on synthetic music.
#pragma once

#include <memory>

#include "ubique/engine/contract/family.h"
#include "ubique/models/acestep/files/model_folder.h"

namespace ubique::acestep {

/// What `train acestep` trains. Usage error for an unknown name.
Part read_part(const Config& config);

/// `part` is the autoencoder or the vocoder. Reads every key, then calls config.finish().
std::unique_ptr<engine::Task> make_codec_task(const engine::Request& request, Part part);

std::vector<engine::Option> codec_train_options();
engine::Examples codec_train_examples();

}  // namespace ubique::acestep

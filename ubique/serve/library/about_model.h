// SPDX-License-Identifier: Apache-2.0
// What a model is for, from its header alone, so that pages can offer what suits it.
#pragma once

#include <filesystem>

#include "ubique/base/text/json_fwd.h"

namespace ubique::serve {

/// An object: puzzle, rows and columns of a puzzle model, labels of a segmentation model, what
/// song.json beside a music model asks for. Empty where nothing is known or the files are damaged:
/// a list of models is no place for an error.
Json about_model(const std::filesystem::path& path);

}  // namespace ubique::serve

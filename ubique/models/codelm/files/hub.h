// SPDX-License-Identifier: Apache-2.0
// Models by their name on the Hugging Face hub: found where Hugging Face's own programs keep what
// they downloaded. Nothing is downloaded here.
#pragma once

#include <filesystem>
#include <string>

namespace ubique::codelm {

/// The path itself if there is such a file or folder, else the folder of the model of that name
/// ("bigcode/starcoder2-3b") in HF_HUB_CACHE, HF_HOME/hub or ~/.cache/huggingface/hub. Input error
/// that says how to get a model that is in neither; a path without the form of such a name is
/// returned as it is.
std::filesystem::path hub_folder(const std::string& name);

}  // namespace ubique::codelm

// SPDX-License-Identifier: Apache-2.0
// Downloading a model from a hub that answers as huggingface.co does: first what there is and what
// of it is missing here, then the files. Prints nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "ubique/io/hub/download.h"
#include "ubique/io/hub/listing.h"
#include "ubique/io/hub/name.h"

namespace ubique::io {

struct PullOptions {
  HubName name;
  FileChoice choice = {};
  std::string endpoint = "https://huggingface.co";
  std::filesystem::path cache = {};  ///< of hub_cache()
  DownloadOptions download = {};
};

/// Endpoint, token, cache and the stall limit from HF_ENDPOINT, HF_TOKEN (else the file that
/// `hf auth login` writes), HF_HUB_CACHE, HF_HOME and HF_HUB_DOWNLOAD_TIMEOUT. Usage error for an
/// endpoint that is no address, or a token that could not stand in a header.
PullOptions read_pull_environment(const HubName& name);

/// What a pull would do.
struct PullPlan {
  HubModel model;
  std::vector<HubFile> files;         ///< those chosen
  std::vector<DownloadFile> missing;  ///< of these, those that are not here
  std::int64_t left_out = 0;          ///< files of the model that were not chosen
  std::int64_t bytes = 0;             ///< of all chosen
  std::int64_t to_fetch = 0;          ///< bytes that are not here
  std::filesystem::path snapshot;
};

/// Asks the hub. Input error in plain words for a model that is not there, or not open to us, and
/// for a model without any file that was chosen.
PullPlan plan_pull(const PullOptions& options);

/// Fetches what is missing and makes the revision mean this commit; false if it was stopped, which
/// keeps what came. Input error before it begins if the disk has no room for it.
bool pull(const PullOptions& options, const PullPlan& plan);

}  // namespace ubique::io

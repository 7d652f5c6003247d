// SPDX-License-Identifier: Apache-2.0
// Which scans `run` segments and what their results are called. Results of earlier runs, which may
// lie in the same folder, are no scans.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ubique::meshnet {

/// What results begin with after the scan's name.
constexpr const char *kLabelsSuffix = "_labels", *kConformedSuffix = "_labels_conformed",
                     *kProbabilitySuffix = "_probability-";

/// In the field intent_name of every result's NIfTI header.
constexpr const char* kResultMark = "ubique result";

/// A scan to segment, and the name that its result files begin with.
struct SegmentJob {
  std::filesystem::path scan;
  std::string name;
};

/// The given files and every scan in the given folders, each once, with distinct names. Left out,
/// with a line in the log, are files with our mark, and in folders also those that are named like
/// the result of a scan beside them (from before there was a mark). Input error for a folder
/// without scans, and if no scan is left.
std::vector<SegmentJob> segment_jobs(const std::vector<std::string>& inputs);

}  // namespace ubique::meshnet

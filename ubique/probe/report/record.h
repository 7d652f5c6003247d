// SPDX-License-Identifier: Apache-2.0
// A report as JSON: the file that people share and that the planner reads for a profile. It names
// the device and versions and nothing about its owner: no host, no user, no folder.
#pragma once

#include <filesystem>
#include <string>

#include "ubique/base/text/json_fwd.h"
#include "ubique/probe/core/verdict.h"

namespace ubique::probe {

/// Fields of the report and its verdicts, added to a document. An infinite error is null.
void put_report(Json& document, const Report& report);
/// Input error that names `where`, the field, what was found and what was expected.
Report take_report(const Json& document, const std::string& where);

/// Written atomically, without what an error message may say about folders.
void write_record(const std::filesystem::path& path, const Report& report);
Report read_record(const std::filesystem::path& path);

}  // namespace ubique::probe

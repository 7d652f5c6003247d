// SPDX-License-Identifier: Apache-2.0
// A report as JSON: the file that users share and that the planner reads for a profile. It names
// the device and versions but nothing about its owner: no host, user or folder.
#pragma once

#include <filesystem>
#include <string>

#include "ubique/base/text/json_fwd.h"
#include "ubique/probe/core/verdict.h"

namespace ubique::probe {

/// Adds the fields of the report and its verdicts to a document. An infinite error is null.
void put_report(Json& document, const Report& report);
/// Input error that names `where`, the field, what was found and what was expected.
Report take_report(const Json& document, const std::string& where);

/// Written atomically; paths in error messages are removed.
void write_record(const std::filesystem::path& path, const Report& report);
Report read_record(const std::filesystem::path& path);

}  // namespace ubique::probe

// SPDX-License-Identifier: Apache-2.0
// A finding as text for people and as JSON for programs. Everything from the file is escaped and
// cut before it is printed.
#pragma once

#include <string>
#include <vector>

#include "ubique/cli/inspect/finding.h"

namespace ubique::cli {

struct InspectView {
  std::string path, filter, sort = "file";
  bool stats = false;
};

/// The tensors that the filter selects, in the order asked for.
std::vector<const io::TensorInfo*> select_tensors(const TensorTable& table,
                                                  const InspectView& view);

std::string finding_text(const Finding& finding, const InspectView& view);
Json finding_json(const Finding& finding, const InspectView& view);

}  // namespace ubique::cli

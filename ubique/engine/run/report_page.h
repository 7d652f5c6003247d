// SPDX-License-Identifier: Apache-2.0
// report.html: one self-contained page about a run. Returns the text; run_folder writes it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ubique/engine/run/run_folder.h"

namespace ubique::engine {

struct ReportSource {
  const ReportContent& content;
  const std::vector<StepRecord>& steps;
  const std::vector<EpochRecord>& epochs;
  std::string configuration;    ///< run.yaml's text
  std::int64_t written_at = 0;  ///< seconds since 1970
};

std::string report_page(const ReportSource& source);

}  // namespace ubique::engine

// SPDX-License-Identifier: Apache-2.0
// The parts of the report below its head, each as HTML; empty where there is nothing to show.
#pragma once

#include <string>

#include "ubique/engine/run/report_page.h"

namespace ubique::engine {

std::string curves_section(const ReportSource& source);
std::string memory_section(const ReportContent& content);
std::string pictures_section(const std::vector<ReportPicture>& pictures);
std::string plan_section(const plan::Plan* plan);
std::string facts_section(const Json& facts);
std::string configuration_section(const std::string& yaml);

}  // namespace ubique::engine

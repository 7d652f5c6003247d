// SPDX-License-Identifier: Apache-2.0
// The commands of `ubique data codelm`.
#pragma once

#include <functional>
#include <vector>

#include "ubique/data/code/filter/document_filter.h"
#include "ubique/engine/contract/request.h"

namespace ubique::codelm {

engine::Command data_git_command();
engine::Command data_import_command();
engine::Command data_show_command();
engine::Command data_tokenizer_command();

/// All of them.
std::vector<engine::Command> data_commands();

/// Options that all makers of data sets share, and their values.
std::vector<engine::Option> filter_options(const data::FilterOptions& defaults);
data::FilterOptions read_filter_options(const Config& config, data::FilterOptions defaults);

/// Runs the work with progress on stderr; the function it gets counts one more item. False if the
/// person stopped it.
bool run_with_progress(const engine::Request& request, const std::string& title, std::int64_t total,
                       const std::function<void(const std::function<void()>&)>& work);
engine::Outcome stopped_outcome(const std::string& schema);

}  // namespace ubique::codelm

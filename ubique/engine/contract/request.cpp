// SPDX-License-Identifier: Apache-2.0
// Lists of options, put together by headings.
#include "ubique/engine/contract/request.h"

namespace ubique::engine {

std::vector<Option> in_group(const std::string& group, std::vector<Option> options) {
  for (auto& option : options) option.group = group;
  return options;
}

std::vector<Option> all_options(const std::vector<std::vector<Option>>& lists) {
  std::vector<Option> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace ubique::engine

// SPDX-License-Identifier: Apache-2.0
// The usual device, as `ubique info --json` describes it.
#include "ubique/serve/services/services.h"

#include <fmt/format.h>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"

namespace ubique::serve {

std::string Services::usual_lane() const {
  try {
    const auto device = info().value("device", Json::object());
    const auto kind = device.value("kind", "cpu");
    return kind == "cuda" ? fmt::format("cuda:{}", device.value("index", 0)) : kind;
  } catch (const Error&) {  // the jobs themselves will say what is wrong
    return "cpu";
  }
}

Json Services::usual_device() const {
  try {
    const auto device = info().value("device", Json::object());
    return {{"kind", device.value("kind", "cpu")}, {"name", device.value("name", "")}};
  } catch (const Error&) {  // /api/machine tells the reason
    return {{"kind", nullptr}, {"name", nullptr}};
  }
}

}  // namespace ubique::serve

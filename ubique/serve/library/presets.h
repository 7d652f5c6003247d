// SPDX-License-Identifier: Apache-2.0
// Presets of songs: those that come with the program and those that people keep.
#pragma once

#include <string>

#include "ubique/base/text/json_fwd.h"
#include "ubique/serve/store/database.h"

namespace ubique::serve {

class Presets {
 public:
  explicit Presets(Database& database) : database_(database) {}

  Json json() const;  ///< {presets: [...]}
  Json put(const std::string& name, const std::string& label, const Json& settings);
  void remove(const std::string& name);  ///< 404 if there is none; 409 for a shipped one

 private:
  Database& database_;
};

}  // namespace ubique::serve

// SPDX-License-Identifier: Apache-2.0
// Passes text on once it can no longer be the beginning of a stop text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ubique/nn/decode/text_stream.h"

namespace ubique::nn {

class StopFilter {
 public:
  /// Both must outlive this.
  StopFilter(const std::vector<std::string>& stops, TextStream& out) : stops_(stops), out_(out) {}

  bool found() const { return found_; }
  bool add(std::string_view bytes);  ///< false if the receiver wants no more
  bool finish();                     ///< the rest, which turned out to be no stop text

 private:
  bool pass(std::size_t count);
  std::size_t could_begin_stop() const;

  const std::vector<std::string>& stops_;
  TextStream& out_;
  std::string held_;
  bool found_ = false;
};

}  // namespace ubique::nn

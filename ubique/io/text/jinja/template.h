// SPDX-License-Identifier: Apache-2.0
// A small Jinja: the part of the language that chat templates use, with the settings of
// transformers. It computes with what it is given and nothing else; work, depth and output are
// bounded, so that a template of unknown origin is harmless.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ubique/io/text/jinja/tree.h"
#include "ubique/io/text/jinja/value.h"

namespace ubique::io::jinja {

struct Limits {
  std::int64_t steps = 4'000'000;              ///< operations, and every 16 bytes of text made
  std::size_t output = std::size_t{1} << 26U;  ///< bytes
  std::int64_t depth = 400;  ///< of expressions, blocks and macros inside each other
};

struct Rendered {
  TracedText text;
  /// Bytes [first, second) that {% generation %} blocks wrote.
  std::vector<std::pair<std::size_t, std::size_t>> generated;
};

class Template {
 public:
  /// Input error that names the line and what was met. Messages call the template `where`.
  Template(std::string_view source, std::string where);

  /// `now` is what strftime_now shows, in seconds since 1970. Input error with the line for what
  /// the template refuses, computes wrongly, or does beyond the limits.
  Rendered render(const Dict& variables, std::int64_t now, const Limits& limits = {}) const;

  /// Whether it marks the assistant's part with {% generation %}.
  bool marks_generation() const { return marks_generation_; }

 private:
  std::string where_;
  std::shared_ptr<const Body> body_;
  bool marks_generation_ = false;
};

}  // namespace ubique::io::jinja

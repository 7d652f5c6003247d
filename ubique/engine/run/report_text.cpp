// SPDX-License-Identifier: Apache-2.0
// HTML escaping, number formats and template filling.
#include "ubique/engine/run/report_text.h"

#include <cmath>

#include "ubique/base/error.h"

namespace ubique::engine {

std::string escape_html(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += letter;
    }
  }
  return escaped;
}

std::string count_text(std::int64_t value) {
  auto digits = std::to_string(value);
  const std::ptrdiff_t first = value < 0 ? 1 : 0;
  for (auto place = static_cast<std::ptrdiff_t>(digits.size()) - 3; place > first; place -= 3) {
    digits.insert(static_cast<std::size_t>(place), ",");
  }
  return digits;
}

std::string number_text(double value) {
  if (std::isnan(value)) return "not a number";
  if (std::isinf(value)) return value > 0 ? "infinite" : "minus infinite";
  const double size = std::abs(value);
  if (size >= 1000 && size < 1e7) return count_text(std::llround(value));
  return fmt::format("{:.4g}", value);
}

std::string duration_text(double seconds) {
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = std::llround(seconds);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string fill_template(std::string_view text, const std::map<std::string, std::string>& values) {
  std::string filled;
  while (true) {
    const auto begin = text.find("{{");
    filled += text.substr(0, begin);
    if (begin == std::string_view::npos) return filled;
    const auto end = text.find("}}", begin);
    const auto name = text.substr(begin + 2, end - begin - 2);
    const auto found = values.find(std::string(name));
    check(end != std::string_view::npos && found != values.end(), ErrorKind::Internal,
          "[engine.report] the page's template has a blank '{}' without a value.", name);
    filled += found->second;
    text.remove_prefix(end + 2);
  }
}

}  // namespace ubique::engine

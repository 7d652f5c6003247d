// SPDX-License-Identifier: Apache-2.0
// Text helpers of the report: HTML escaping, readable numbers, templates.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace ubique::engine {

/// For text and attribute values of HTML.
std::string escape_html(std::string_view text);
/// "3.142", "0.0001", "1e-05", "12,345", "not a number": four significant digits.
std::string number_text(double value);
std::string count_text(std::int64_t value);  ///< "12,345"
std::string duration_text(double seconds);
/// Replaces each "{{name}}" by its value. Internal error for a name without a value.
std::string fill_template(std::string_view text, const std::map<std::string, std::string>& values);

}  // namespace ubique::engine

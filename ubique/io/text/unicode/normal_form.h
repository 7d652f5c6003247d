// SPDX-License-Identifier: Apache-2.0
// Unicode's normal form C: characters composed where a composed one exists.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ubique::io {

/// False only if the text has characters that may change under NFC.
bool is_surely_nfc(std::string_view text);

/// Bytes that are not UTF-8 stay. With `origins`, the offset in `text` that each byte of the result
/// comes from (of its group of combining characters) is appended there.
std::string to_nfc(std::string_view text, std::vector<std::size_t>* origins = nullptr);

}  // namespace ubique::io

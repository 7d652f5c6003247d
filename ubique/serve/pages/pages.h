// SPDX-License-Identifier: Apache-2.0
// The web application's files, compiled into the program (tools/pack_pages), and how they are
// answered.
#pragma once

#include <span>
#include <string_view>

#include "ubique/serve/http/router.h"

namespace ubique::serve {

struct PackedPage {
  std::string_view path;    ///< "index.html", "assets/music-4f3a.js"
  std::string_view packed;  ///< gzip
  std::string_view tag;     ///< of the content, for ETag
};

/// Empty in a program that was built without the pages.
std::span<const PackedPage> packed_pages();

/// Answers GET for every path that is no route: a file, the application's first page for its own
/// addresses, or how to build the pages where there are none.
Handler page_handler(std::span<const PackedPage> pages);

}  // namespace ubique::serve

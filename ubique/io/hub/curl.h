// SPDX-License-Identifier: Apache-2.0
// libcurl's functions, looked up when they are first needed.
#pragma once

#ifdef UBIQUE_HAS_CURL
#define CURL_DISABLE_TYPECHECK  // its macros would call the functions by their names
#include <curl/curl.h>

namespace ubique::io {

struct Curl {
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_easy_init) easy_init = nullptr;
  decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&::curl_easy_reset) easy_reset = nullptr;
  decltype(&::curl_easy_setopt) easy_setopt = nullptr;
  decltype(&::curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&::curl_easy_perform) easy_perform = nullptr;
  decltype(&::curl_easy_strerror) easy_strerror = nullptr;
  decltype(&::curl_slist_append) slist_append = nullptr;
  decltype(&::curl_slist_free_all) slist_free_all = nullptr;
};

/// Null where the library is not installed.
const Curl* curl_library();

}  // namespace ubique::io
#endif

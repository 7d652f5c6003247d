// SPDX-License-Identifier: Apache-2.0
// Loads libcurl by the names that it has on Linux and macOS.
#include "ubique/io/hub/curl.h"

#ifdef UBIQUE_HAS_CURL
#include <dlfcn.h>

#include <initializer_list>

namespace ubique::io {
namespace {

void* open_curl() {
  for (const char* name :
       {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.4.dylib", "/usr/lib/libcurl.4.dylib",
        "/opt/homebrew/opt/curl/lib/libcurl.4.dylib"}) {
    if (void* library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

template <typename Function>
bool look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

const Curl* load_curl() {
  void* library = open_curl();
  if (library == nullptr) return nullptr;
  static Curl curl;
  const bool complete = look_up(library, "curl_global_init", curl.global_init) &&
                        look_up(library, "curl_easy_init", curl.easy_init) &&
                        look_up(library, "curl_easy_cleanup", curl.easy_cleanup) &&
                        look_up(library, "curl_easy_reset", curl.easy_reset) &&
                        look_up(library, "curl_easy_setopt", curl.easy_setopt) &&
                        look_up(library, "curl_easy_getinfo", curl.easy_getinfo) &&
                        look_up(library, "curl_easy_perform", curl.easy_perform) &&
                        look_up(library, "curl_easy_strerror", curl.easy_strerror) &&
                        look_up(library, "curl_slist_append", curl.slist_append) &&
                        look_up(library, "curl_slist_free_all", curl.slist_free_all);
  return complete && curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? &curl : nullptr;
}

}  // namespace

const Curl* curl_library() {
  static const Curl* const kCurl = load_curl();
  return kCurl;
}

}  // namespace ubique::io
#endif

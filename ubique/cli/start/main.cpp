// SPDX-License-Identifier: Apache-2.0
// The program's entry: sets what LibTorch reads while it is loaded, then loads the command line.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "ubique/cli/start/environment.h"

namespace {

std::optional<std::string> process_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
  for (const auto& [name, value] :
       ubique::cli::start_environment(UBIQUE_IS_MAC, process_environment)) {
    ::setenv(name.c_str(), value.c_str(), /*overwrite=*/1);
  }
  void* library = ::dlopen(UBIQUE_CLI_LIBRARY, RTLD_LAZY | RTLD_GLOBAL);
  void* entry = library != nullptr ? ::dlsym(library, "ubique_main") : nullptr;
  if (entry == nullptr) {
    std::fprintf(stderr,
                 "ubique: error: [cli.start] the program's library cannot be loaded; got %s. "
                 "Expected it in lib/ beside bin/, as make build and make install put it.\n",
                 ::dlerror());
    return EXIT_FAILURE;
  }
  return reinterpret_cast<int (*)(int, char**)>(entry)(argc, argv);
}

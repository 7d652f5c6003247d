// SPDX-License-Identifier: Apache-2.0
// The program's entry: sets what LibTorch reads while it is loaded, then loads the command line.
#include <dlfcn.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

#include "ubique/cli/start/environment.h"

namespace {

constexpr int kDeviceExit = 4;  // ExitCode::Device; base/ is in the library that is not loaded yet

std::optional<std::string> process_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

/// Bytes of address space (ulimit -v), if it is limited.
std::optional<rlim_t> address_space_limit() {
  rlimit limit{};
  const bool limited = ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return limited ? std::optional(limit.rlim_cur) : std::nullopt;
}

/// Plain stdio: memory has just run out.
void say_memory_ran_out(const char* got) {
  const auto limit = address_space_limit();
  std::fprintf(stderr,
               "ubique: error: [cli.start] not enough memory for LibTorch; got %s, expected "
               "about 1 GiB of address space. ",
               got);
  if (limit) {
    std::fprintf(stderr, "ulimit -v is %llu KiB: raise it.\n",
                 static_cast<unsigned long long>(*limit / 1024));
  } else {
    std::fputs("Close other programs.\n", stderr);
  }
}

/// LibTorch's static initialisers run inside dlopen, which lets no exception through.
[[noreturn]] void end_of_loading() {
  try {
    if (const auto error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    say_memory_ran_out("std::bad_alloc");
    ::_exit(kDeviceExit);
  } catch (...) {
  }
  std::abort();
}

/// Libraries below LibTorch abort when memory runs out; under a limit that is the likely cause.
[[noreturn]] void end_of_limited_program(int /*signal*/) {
  say_memory_ran_out("an abort");
  ::_exit(kDeviceExit);
}

bool is_about_memory(std::string_view message) {
  return message.find("failed to map segment") != std::string_view::npos ||
         message.find("annot allocate memory") != std::string_view::npos;
}

int fail_to_load(const char* message) {
  if (is_about_memory(message)) {
    say_memory_ran_out(message);
    return kDeviceExit;
  }
  std::fprintf(stderr,
               "ubique: error: [cli.start] the program's library cannot be loaded; got %s. "
               "Expected it in lib/ beside bin/, as make build and make install put it.\n",
               message);
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  for (const auto& [name, value] :
       ubique::cli::start_environment(UBIQUE_IS_MAC, process_environment)) {
    ::setenv(name.c_str(), value.c_str(), /*overwrite=*/1);
  }
  if (address_space_limit()) std::signal(SIGABRT, end_of_limited_program);
  const auto usual_end = std::set_terminate(end_of_loading);
  void* library = ::dlopen(UBIQUE_CLI_LIBRARY, RTLD_LAZY | RTLD_GLOBAL);
  void* entry = library != nullptr ? ::dlsym(library, "ubique_main") : nullptr;
  if (entry == nullptr) return fail_to_load(::dlerror());
  std::set_terminate(usual_end);
  return reinterpret_cast<int (*)(int, char**)>(entry)(argc, argv);
}

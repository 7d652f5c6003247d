// SPDX-License-Identifier: Apache-2.0
// Opens NVRTC and compiles the embedded sources.
#include "compiler.h"

#include <ATen/Context.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "ubique/base/error.h"
#include "ubique/base/text/embedded.h"

namespace ubique::backend::cuda {
namespace {

namespace fs = std::filesystem;

using NvrtcProgram = void*;

/// LibTorch's copy first, since it matches LibTorch's CUDA. Wheels keep it in their own folder
/// beside torch.
std::vector<std::string> library_names() {
  Dl_info torch{};
  std::vector<std::string> names;
  if (dladdr(reinterpret_cast<const void*>(&at::globalContext), &torch) != 0) {
    const auto wheels = fs::path(torch.dli_fname).parent_path() / ".." / ".." / "nvidia";
    names.push_back(wheels / "cu13" / "lib" / "libnvrtc.so.13");
    names.push_back(wheels / "cuda_nvrtc" / "lib" / "libnvrtc.so.12");
  }
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}) {
    names.emplace_back(name);
  }
  return names;
}

/// NVRTC loads its builtins library by name. That library lies beside NVRTC, outside the search
/// path, so it is opened here first.
void open_builtins(void* library) {
  Dl_info info{};
  if (dladdr(dlsym(library, "nvrtcVersion"), &info) == 0) return;
  std::error_code ignored;
  for (const auto& file : fs::directory_iterator(fs::path(info.dli_fname).parent_path(), ignored)) {
    if (file.path().filename().string().starts_with("libnvrtc-builtins.so")) {
      dlopen(file.path().c_str(), RTLD_NOW | RTLD_LOCAL);
    }
  }
}

void* open_compiler() {
  for (const auto& name : library_names()) {
    if (auto* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      open_builtins(library);
      return library;
    }
  }
  return nullptr;
}

void* compiler_library() {
  static void* const library = open_compiler();
  return library;
}

template <typename... Args>
int call(const char* function, Args... args) {
  auto* address = reinterpret_cast<int (*)(Args...)>(dlsym(compiler_library(), function));
  return address != nullptr ? address(args...) : -1;
}

std::string_view embedded_text(const std::string& name) {
  for (const auto& file : embedded::cuda_sources()) {
    if (file.name == name) return file.text;
  }
  fail(ErrorKind::Internal, "[cuda.compile] no kernel source '{}'.", name);
}

std::vector<const char*> pointers_of(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  for (const auto& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

bool is_header(const embedded::EmbeddedFile& file) { return file.name.ends_with(".cuh"); }

class Program {
 public:
  explicit Program(const std::string& source) {
    std::vector<std::string> texts, names;  // of the headers
    for (const auto& file : embedded::cuda_sources()) {
      if (!is_header(file)) continue;
      texts.emplace_back(file.text);
      names.emplace_back(file.name);
    }
    const std::string text(embedded_text(source));
    auto header_texts = pointers_of(texts), header_names = pointers_of(names);
    call("nvrtcCreateProgram", &program_, text.c_str(), source.c_str(),
         static_cast<int>(names.size()), header_texts.data(), header_names.data());
  }
  ~Program() { call("nvrtcDestroyProgram", &program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  int compile(const std::vector<std::string>& options) {
    auto pointers = pointers_of(options);
    return call("nvrtcCompileProgram", program_, static_cast<int>(pointers.size()),
                pointers.data());
  }
  std::string log() const { return bytes("nvrtcGetProgramLogSize", "nvrtcGetProgramLog"); }
  std::string code() const { return bytes("nvrtcGetCUBINSize", "nvrtcGetCUBIN"); }

 private:
  std::string bytes(const char* size_function, const char* function) const {
    std::size_t size = 0;
    call(size_function, program_, &size);
    std::string result(size, '\0');
    if (size > 0) call(function, program_, result.data());
    return result;
  }

  NvrtcProgram program_ = nullptr;
};

}  // namespace

bool has_compiler() { return compiler_library() != nullptr; }

std::string compiler_version() {
  int major = 0, minor = 0;
  if (!has_compiler() || call("nvrtcVersion", &major, &minor) != 0) return {};
  return fmt::format("{}.{}", major, minor);
}

std::string source_text(const std::string& source) {
  std::string text(embedded_text(source));
  for (const auto& file : embedded::cuda_sources()) {
    if (is_header(file)) text.append(file.text);
  }
  return text;
}

std::vector<std::string> source_names() {
  std::vector<std::string> names;
  for (const auto& file : embedded::cuda_sources()) {
    if (!is_header(file)) names.emplace_back(file.name);
  }
  return names;
}

Compiled compile(const std::string& source, const std::vector<std::string>& defines,
                 int capability) {
  if (!has_compiler()) return {{}, "no NVRTC (libnvrtc) found"};
  // Hopper's wgmma and bulk copies exist only in the variant sm_90a.
  std::vector<std::string> options = {
      fmt::format("-arch=sm_{}{}", capability, capability == 90 ? "a" : ""), "-std=c++17"};
  for (const auto& define : defines) options.push_back("-D" + define);
  Program program(source);
  if (program.compile(options) != 0) return {{}, program.log()};
  return {program.code(), {}};
}

}  // namespace ubique::backend::cuda

// SPDX-License-Identifier: Apache-2.0
// Loads the device and calls the test functions of its plug-in.
#include "device.h"

#include <ATen/CPUGeneratorImpl.h>
#include <dlfcn.h>

#include <stdexcept>

namespace ubique::test {
namespace {

template <typename Function>
Function* plugin_function(const char* name) {
  sham_device();
  auto* function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  if (function == nullptr) throw std::runtime_error(std::string("the plug-in lacks ") + name);
  return function;
}

}  // namespace

device::Backend& sham_backend() {
  auto* backend = device::find_backend(UBIQUE_TESTED_BACKEND);
  if (backend == nullptr) throw std::runtime_error("the plug-in is not beside libubique.so");
  return *backend;
}

std::string settings_variable() {
  std::string name = "UBIQUE_" UBIQUE_TESTED_BACKEND;
  for (auto& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

c10::Device sham_device() {
  static const c10::Device kDevice = [] {
    const auto found = sham_backend().detect();
    if (found.devices.empty()) throw std::runtime_error(found.reason);
    return sham_backend().torch_device(0);
  }();
  return kDevice;
}

Told::Told(const std::string& text) {
  const auto message = settings_error(text);
  if (!message.empty()) throw std::runtime_error(message);
}

Told::~Told() { settings_error(""); }

std::string settings_error(const std::string& text) {
  const char* message =
      plugin_function<const char*(const char*)>("ubique_plugin_configure")(text.c_str());
  return message == nullptr ? "" : message;
}

std::int64_t ledger_total(const std::string& what) {
  return plugin_function<std::int64_t(const char*)>("ubique_plugin_ledger")(what.c_str());
}

void reset_ledger() { plugin_function<void()>("ubique_plugin_reset_ledger")(); }

at::Tensor values(at::IntArrayRef shape, std::uint64_t seed) {
  return at::empty(shape).normal_(0, 1, at::detail::createCPUGenerator(seed));
}

}  // namespace ubique::test

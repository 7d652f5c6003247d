// SPDX-License-Identifier: Apache-2.0
// A generator that wraps a CPU generator with a changed seed.
#include "generator.h"

#include <ATen/CPUGeneratorImpl.h>

#include "allocator.h"
#include "settings.h"

namespace ubique::backend::sham {
namespace {

// Its own inverse, so that current_seed() can return the original seed.
std::uint64_t mix_seed(std::uint64_t seed) { return seed ^ 0x9E3779B97F4A7C15ULL; }

class DeviceGenerator final : public c10::GeneratorImpl {
 public:
  explicit DeviceGenerator(at::Generator twin)
      : GeneratorImpl(the_device(), c10::DispatchKeySet(c10::DispatchKey::MPS)),
        twin_(std::move(twin)) {}

  static c10::DeviceType device_type() { return c10::DeviceType::MPS; }
  const at::Generator& twin() const { return twin_; }

  void set_current_seed(std::uint64_t seed) override {
    const std::lock_guard lock(twin_.mutex());
    twin_.set_current_seed(mix_seed(seed));
  }
  std::uint64_t current_seed() const override { return mix_seed(twin_.current_seed()); }
  std::uint64_t seed() override {
    const std::lock_guard lock(twin_.mutex());
    return mix_seed(twin_.seed());
  }
  void set_offset(std::uint64_t offset) override { twin_.set_offset(offset); }
  std::uint64_t get_offset() const override { return twin_.get_offset(); }

  void set_state(const c10::TensorImpl& state) override {
    if (settings().is_wrong("checkpoint_dropout")) return;  // keeps drawing fresh numbers
    const std::lock_guard lock(twin_.mutex());
    twin_.unsafeGetGeneratorImpl()->set_state(state);
  }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    return twin_.unsafeGetGeneratorImpl()->get_state();
  }

 private:
  DeviceGenerator* clone_impl() const override { return new DeviceGenerator(twin_.clone()); }

  at::Generator twin_;
};

}  // namespace

const at::Generator& default_generator() {
  static auto* const kGenerator = new at::Generator(new_generator());
  return *kGenerator;
}

at::Generator new_generator() {
  return at::make_generator<DeviceGenerator>(
      at::detail::createCPUGenerator(mix_seed(c10::default_rng_seed_val)));
}

at::Generator host_twin(const at::Generator& generator) {
  auto* impl = dynamic_cast<DeviceGenerator*>(generator.unsafeGetGeneratorImpl());
  TORCH_CHECK(impl != nullptr, "Expected a generator of ", the_device(), ", but found one of ",
              generator.device());
  return impl->twin();
}

}  // namespace ubique::backend::sham

// SPDX-License-Identifier: Apache-2.0
// Which device, how many processes, and wishes that no plan can fulfil.
#include <fmt/format.h>

#include <array>
#include <cctype>

#include "ubique/base/text/text.h"
#include "ubique/plan/rules/rules.h"

namespace ubique::plan {
namespace {

using device::Kind;

/// "metal" is mps, "gpu" any accelerator, "cuda:1" a cuda device.
bool names_this_device(const std::string& wish, const device::Facts& facts) {
  const auto name = lowercase(wish.substr(0, wish.find(':')));
  if (name == "auto" || name == facts.backend || name == to_string(facts.kind)) return true;
  if (name == "metal") return facts.kind == Kind::Mps;
  return name == "gpu" && facts.kind != Kind::Cpu;
}

/// Ops that dominate the model's time, by the names of their verdicts.
std::vector<std::string> heavy_ops(const Needs& needs) {
  std::vector<std::string> ops;
  for (int dims = 1; dims <= 3; ++dims) {
    if (needs.has_conv(dims)) ops.push_back(fmt::format("conv{}d", dims));
  }
  if (!needs.attention.empty()) ops.emplace_back("attention");
  for (const char* op : {"matmul", "linear"}) {
    if (needs.uses_op(op)) ops.emplace_back(op);
  }
  return ops;
}

}  // namespace

std::string Context::device_name() const {
  switch (facts.kind) {
    case Kind::Cuda:
      return fmt::format("CUDA sm{}", facts.capability);
    case Kind::Mps:
      return "Metal";
    case Kind::Xpu:
      return "XPU";
    case Kind::Cpu:
      break;
  }
  return "the CPU";
}

bool older_than(std::string_view version, int major, int minor) {
  std::array<int, 2> parts = {-1, 0};
  std::size_t part = 0;
  for (std::size_t i = 0; i < version.size() && part < parts.size(); ++i) {
    if (std::isdigit(static_cast<unsigned char>(version[i])) == 0) continue;
    int value = 0;
    while (i < version.size() && std::isdigit(static_cast<unsigned char>(version[i])) != 0) {
      value = std::min(value, 100000) * 10 + (version[i++] - '0');
    }
    parts[part++] = value;
  }
  if (parts[0] < 0) return false;
  return parts[0] != major ? parts[0] < major : parts[1] < minor;
}

bool Context::macos_older_than(int major, int minor) const {
  return facts.platform == "Darwin" && older_than(facts.os_version, major, minor);
}

void refuse_impossible(const Context& context) {
  const auto& [facts, needs, wishes, evidence] = context;
  check(names_this_device(wishes.device, facts), ErrorKind::Device,
        "[plan.device] {} has no such device; got '{}', expected auto or {}.", facts.label(),
        wishes.device, context.is(Kind::Mps) ? "metal (mps)" : facts.backend);
  check(!context.train() || needs.can_train(), ErrorKind::Usage,
        "[plan.needs] {} does not describe training; got activations.saved = 0, expected the "
        "elements kept for the backward pass. Use --mode run, or state them.",
        needs.name);
  if (wishes.world_size > 1) {
    check(!context.is(Kind::Mps), ErrorKind::Device,
          "[plan.distributed] Distributed training is not supported on MPS. Please use CUDA or run "
          "on a single device. Got {} processes, expected 1.",
          wishes.world_size);
    check(!context.is(Kind::Xpu), ErrorKind::Device,
          "[plan.distributed] distributed training was never tested on XPU; got {} processes, "
          "expected 1.",
          wishes.world_size);
  }
}

Choice<std::string> choose_device(const Context& context) {
  const auto& facts = context.facts;
  Choice<std::string> choice;
  choice.value =
      facts.kind == Kind::Cuda ? fmt::format("{}:{}", facts.backend, facts.index) : facts.backend;
  choice.reason = !facts.profile.empty()            ? "profile of a machine that is not here"
                  : context.wishes.device != "auto" ? "as asked"
                                                    : "found here";
  if (facts.pretend) choice.reason += "; pretends to be Metal and computes on the CPU";
  if (!facts.untested.empty()) choice.reason += "; never tested by us: " + facts.untested;
  for (const auto& op : heavy_ops(context.needs)) {
    const double ratio = context.evidence.cpu_ratio(op);
    if (ratio <= 1) continue;
    choice.reason += fmt::format("; {} is slower here than on this CPU ({:.1f} times)", op, ratio);
    choice.rejected = {{"cpu", "try --device cpu: some ops are faster there"}};
  }
  return choice;
}

Choice<std::string> choose_distributed(const Context& context) {
  const int world = context.wishes.world_size;
  if (world == 1) {
    const bool mps = context.is(Kind::Mps);
    return {"none", mps ? "one process; Metal has no collectives" : "one process", {}};
  }
  if (context.is(Kind::Cuda)) {
    return {"nccl",
            fmt::format("{} processes with a CUDA device each; gradients go from card to card, "
                        "everything else by gloo",
                        world),
            {{"gloo",
              "gradients too would go through host memory, as they do where NCCL is "
              "missing or ranks share a card"}}};
  }
  return {"gloo", fmt::format("{} processes on CPUs", world), {{"nccl", "needs CUDA devices"}}};
}

}  // namespace ubique::plan

// SPDX-License-Identifier: Apache-2.0
// Faults that the engine works around instead of giving up a dtype or a device.
#include <fmt/format.h>

#include <algorithm>

#include "ubique/plan/rules/rules.h"

namespace ubique::plan {
namespace {

using device::Kind;

constexpr std::int64_t kLongConv = 65536;  // Metal's limit on a dimension before macOS 15.1

bool has_long_conv(const Needs& needs) {
  return std::any_of(needs.convs.begin(), needs.convs.end(), [](const ConvNeed& conv) {
    return conv.dims == 1 && conv.length > kLongConv;
  });
}

bool has_grouped_queries(const Needs& needs) {
  return std::any_of(needs.attention.begin(), needs.attention.end(),
                     [](const AttentionNeed& need) { return need.kv_heads < need.heads; });
}

struct Remedy {
  const char* op;  // whose fault requires it
  const char* id;  // what the engine looks for
  bool per_dtype;  // only a fault in the plan's own dtype counts
  bool (*concerns)(const Context&, const char* op);
};

bool always(const Context&, const char*) { return true; }
bool if_used(const Context& context, const char* op) { return context.needs.uses_op(op); }
bool if_trained(const Context& context, const char* op) {
  return context.train() && context.needs.uses_op(op);
}
bool if_long(const Context& context, const char*) { return has_long_conv(context.needs); }
bool if_grouped(const Context& context, const char*) { return has_grouped_queries(context.needs); }

constexpr Remedy kRemedies[] = {
    {"conv1d.long", "tile_conv1d", true, if_long},
    {"attention.gqa", "repeat_kv", true, if_grouped},
    {"layer_norm.frozen_input", "input_requires_grad", false, if_trained},
    {"views.strided", "contiguous_inputs", false, always},  // no model can promise to have none
    {"views.sliced", "contiguous_inputs", false, always},
    {"sampling.zero_probability", "sample_on_host", false, if_used},
    {"cumsum", "cumsum_on_host", false, if_used},
    {"float64", "float64_on_host", false, if_used},
};

void add_once(std::vector<Workaround>& list, const char* id, std::string why) {
  const auto same = [&](const Workaround& known) { return known.id == id; };
  if (std::none_of(list.begin(), list.end(), same)) list.push_back({id, std::move(why)});
}

}  // namespace

std::vector<Workaround> choose_workarounds(const Context& context, DType dtype) {
  std::vector<Workaround> list;
  for (const auto& remedy : kRemedies) {
    if (!remedy.concerns(context, remedy.op)) continue;
    const auto* fault = remedy.per_dtype ? context.evidence.fault(remedy.op, dtype)
                                         : context.evidence.fault(remedy.op);
    if (fault != nullptr) add_once(list, remedy.id, describe(*fault));
  }
  if (!context.is(Kind::Mps)) return list;
  if (has_long_conv(context.needs) && context.macos_older_than(15, 1)) {
    add_once(list, "tile_conv1d", "1-D convolutions beyond 65536 need macOS 15.1");
  }
  if (context.needs.uses_op("float64")) add_once(list, "float64_on_host", "Metal has no float64");
  if (!context.needs.fixed_shapes) {
    add_once(list, "shape_buckets",
             "Metal keeps a graph for every shape: inputs are padded to a few");
  }
  return list;
}

}  // namespace ubique::plan

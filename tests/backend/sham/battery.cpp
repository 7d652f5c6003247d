// SPDX-License-Identifier: Apache-2.0
// The computations: layers, losses, views and edge cases, each with its inputs.
#include "battery.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>

#include <map>

#include "device.h"

namespace ubique::test {
namespace {

using at::Tensor;
using Tensors = std::vector<Tensor>;
using Function = std::function<Tensor(const Tensors&)>;

Tensors home(const Tensors& tensors) {
  Tensors results;
  for (const auto& tensor : tensors) results.push_back(tensor.defined() ? tensor.cpu() : tensor);
  return results;
}

/// Forward only.
Computation plain(std::string name, Tensors inputs, Function function) {
  return {std::move(name), [=](c10::Device device) {
            Tensors there;
            for (const auto& input : inputs) there.push_back(input.to(device));
            return home({function(there)});
          }};
}

/// Result and gradients of all inputs, without the first if it is frozen.
Computation trained(std::string name, Tensors inputs, Function function, bool frozen = false) {
  return {std::move(name), [=](c10::Device device) {
            Tensors there;
            for (const auto& input : inputs) {
              // clone keeps the memory format and creates a leaf on the device
              auto leaf = input.to(device).clone().requires_grad_(!frozen || !there.empty());
              there.push_back(leaf);
            }
            auto result = function(there);
            const auto weights = values(result.sizes(), 99).to(device, result.scalar_type());
            (result * weights).sum().backward();
            Tensors results = {result.detach()};
            for (const auto& leaf : there) {
              if (leaf.requires_grad()) results.push_back(leaf.grad());
            }
            return home(results);
          }};
}

Tensor half(const Tensor& tensor) { return tensor.to(at::kBFloat16); }

Tensor layer_norm(const Tensors& t) { return at::layer_norm(t[0], {t[1].size(0)}, t[1], t[2]); }

Tensor attention(const Tensors& t, bool causal) {
  return at::scaled_dot_product_attention(t[0], t[1], t[2], {}, 0.0, causal, {},
                                          t[0].size(1) != t[1].size(1));
}

/// q, k and v of (1, H, T, 8).
Tensors heads(std::int64_t count, std::int64_t kv_count, std::int64_t length) {
  return {values({1, count, length, 8}, 1), values({1, kv_count, length, 8}, 2),
          values({1, kv_count, length, 8}, 3)};
}

Tensors half_heads(std::int64_t length) {
  auto tensors = heads(2, 2, length);
  for (auto& tensor : tensors) tensor = half(tensor);
  return tensors;
}

Tensor under_autocast(const Tensors& t) {
  const auto device = t[0].device().type();
  const auto dtype = at::autocast::get_autocast_dtype(device);
  at::autocast::set_autocast_dtype(device, at::kBFloat16);
  at::autocast::set_autocast_enabled(device, true);
  auto product = at::matmul(t[0], t[1]);
  at::autocast::set_autocast_enabled(device, false);
  at::autocast::set_autocast_dtype(device, dtype);
  at::autocast::clear_cache();
  // The dtype itself is part of the result.
  return at::cat(
      {product.to(at::kFloat).flatten(),
       at::full({1}, product.scalar_type() == at::kBFloat16 ? 1.0 : 0.0, t[0].options())});
}

void add_convolutions(std::vector<Computation>& all) {
  const auto volume = values({2, 3, 5, 6, 7}, 1);
  const auto kernel = values({4, 3, 3, 3, 3}, 2);
  const auto bias = values({4}, 3);
  const auto conv3d = [](const Tensors& t) { return at::conv3d(t[0], t[1], t[2], 1, 2, 2); };
  all.push_back(trained("conv3d_contiguous", {volume, kernel, bias}, conv3d));
  all.push_back(trained("conv3d_channels_last",
                        {volume.contiguous(at::MemoryFormat::ChannelsLast3d),
                         kernel.contiguous(at::MemoryFormat::ChannelsLast3d), bias},
                        conv3d));
  all.push_back(trained("conv2d", {values({2, 3, 8, 9}, 1), values({4, 3, 3, 3}, 2), bias},
                        [](const Tensors& t) { return at::conv2d(t[0], t[1], t[2], 2, 1); }));
  all.push_back(plain("conv2d_weight_slice", {values({2, 3, 8, 9}, 1), values({6, 3, 3, 3}, 2)},
                      [](const Tensors& t) { return at::conv2d(t[0], t[1].narrow(0, 2, 4)); }));
  all.push_back(trained("conv1d", {values({2, 3, 50}, 1), values({4, 3, 5}, 2), bias},
                        [](const Tensors& t) { return at::conv1d(t[0], t[1], t[2]); }));
  all.push_back(plain("conv1d_long", {values({1, 1, 66000}, 1), values({1, 1, 3}, 2)},
                      [](const Tensors& t) { return at::conv1d(t[0], t[1]); }));
  all.push_back(trained("conv_transpose2d", {values({2, 3, 5, 5}, 1), values({3, 4, 3, 3}, 2)},
                        [](const Tensors& t) { return at::conv_transpose2d(t[0], t[1], {}, 2); }));
  all.push_back(trained("conv_transpose1d", {values({2, 3, 9}, 1), values({3, 4, 4}, 2)},
                        [](const Tensors& t) { return at::conv_transpose1d(t[0], t[1], {}, 2); }));
}

void add_normalisations(std::vector<Computation>& all) {
  const auto scale = values({6}, 2), shift = values({6}, 3);
  const auto batch_norm = [](const Tensors& t) {
    return at::batch_norm(t[0], t[1], t[2], {}, {}, true, 0.1, 1e-5, false);
  };
  all.push_back(trained("batch_norm3d", {values({2, 6, 3, 4, 5}, 1), scale, shift}, batch_norm));
  all.push_back(trained("batch_norm2d", {values({2, 6, 4, 5}, 1), scale, shift}, batch_norm));
  all.push_back(trained("batch_norm1d", {values({8, 6}, 1), scale, shift}, batch_norm));
  all.push_back(trained("group_norm", {values({2, 6, 4, 5}, 1), scale, shift},
                        [](const Tensors& t) { return at::group_norm(t[0], 2, t[1], t[2]); }));
  all.push_back(trained("layer_norm", {values({4, 6}, 1), scale, shift}, layer_norm));
  all.push_back(trained("layer_norm_frozen", {values({4, 6}, 1), scale, shift}, layer_norm, true));
  all.push_back(trained("rms_norm", {values({4, 6}, 1), scale},
                        [](const Tensors& t) { return at::rms_norm(t[0], {6}, t[1], 1e-6); }));
}

void add_products(std::vector<Computation>& all) {
  const auto linear = [](const Tensors& t) { return at::linear(t[0], t[1], t[2]); };
  const auto weight = values({5, 6}, 2), bias = values({5}, 3);
  all.push_back(trained("linear", {values({4, 6}, 1), weight, bias}, linear));
  all.push_back(trained("linear_3d", {values({2, 4, 6}, 1), weight, bias}, linear));
  all.push_back(plain("linear_strided", {values({4, 12}, 1), weight, bias}, [=](const Tensors& t) {
    return linear({t[0].slice(1, 0, 12, 2), t[1], t[2]});
  }));
  all.push_back(plain("linear_sliced", {values({8, 6}, 1), weight, bias}, [=](const Tensors& t) {
    return linear({t[0].slice(0, 3, 7), t[1], t[2]});
  }));
  all.push_back(trained("matmul", {values({3, 4, 6}, 1), values({3, 6, 5}, 2)},
                        [](const Tensors& t) { return at::matmul(t[0], t[1]); }));
  all.push_back(plain("matmul_half",
                      {half(values({4, 4096}, 1).abs()), half(values({4096, 3}, 2).abs())},
                      [](const Tensors& t) { return at::mm(t[0], t[1]); }));
  all.push_back(plain("autocast", {values({4, 6}, 1), values({6, 5}, 2)}, under_autocast));
  all.push_back(plain("add_strided", {values({4, 12}, 1), values({4, 6}, 2)},
                      [](const Tensors& t) { return t[0].slice(1, 0, 12, 2) + t[1]; }));
  all.push_back(plain("add_sliced", {values({4, 12}, 1), values({4, 6}, 2)},
                      [](const Tensors& t) { return t[0][2].narrow(0, 3, 6) + t[1]; }));
  all.push_back(
      plain("addcmul_strided", {values({4, 12}, 1), values({4, 6}, 2)}, [](const Tensors& t) {
        auto sum = t[0].clone();
        sum.slice(1, 0, 12, 2).addcmul_(t[1], t[1]);
        return sum;
      }));
  all.push_back(plain("einsum", {values({3, 4, 6}, 1), values({3, 5, 6}, 2)}, [](const Tensors& t) {
    return at::einsum("bij,bkj->bik", {t[0], t[1]});
  }));
}

void add_attention(std::vector<Computation>& all) {
  const auto causal = [](const Tensors& t) { return attention(t, true); };
  const auto full = [](const Tensors& t) { return attention(t, false); };
  all.push_back(trained("attention", heads(2, 2, 32), full));
  all.push_back(trained("attention_causal", heads(2, 2, 32), causal));
  all.push_back(trained("attention_causal_half", half_heads(32), causal));
  all.push_back(trained("attention_70", heads(2, 2, 70), causal));
  all.push_back(plain("attention_gqa", heads(4, 2, 64), causal));
  all.push_back(plain("attention_gqa_long", heads(4, 2, 1024), causal));
  all.push_back(plain("attention_masked_half", half_heads(32), [](const Tensors& t) {
    const auto mask = at::ones({32, 32}, t[0].options().dtype(at::kBool)).tril();
    return at::scaled_dot_product_attention(t[0], t[1], t[2], mask);
  }));
}

void add_sequences(std::vector<Computation>& all) {
  const auto tokens = at::arange(12).remainder(7).view({3, 4});
  all.push_back({"embedding", [=](c10::Device device) {
                   auto table = values({7, 5}, 1).to(device).requires_grad_();
                   const auto rows = at::embedding(table, tokens.to(device));
                   rows.pow(2).sum().backward();
                   return home({rows.detach(), table.grad()});
                 }});
  all.push_back({"cross_entropy", [=](c10::Device device) {
                   auto logits = values({12, 7}, 1).to(device).requires_grad_();
                   const auto loss = at::cross_entropy_loss(logits, tokens.flatten().to(device), {},
                                                            at::Reduction::Mean, 3, 0.1);
                   loss.backward();
                   return home({loss.detach(), logits.grad()});
                 }});
  all.push_back(
      plain("cumsum", {values({3, 40}, 1)}, [](const Tensors& t) { return t[0].cumsum(1); }));
  all.push_back(trained("softmax", {values({3, 9}, 1)},
                        [](const Tensors& t) { return t[0].softmax(-1).log(); }));
  all.push_back(plain("sort", {values({5, 9}, 1)},
                      [](const Tensors& t) { return std::get<1>(t[0].sort(1)); }));
  all.push_back(plain("topk", {values({5, 9}, 1)},
                      [](const Tensors& t) { return std::get<1>(t[0].topk(3)); }));
  all.push_back(
      plain("argmax", {values({5, 9}, 1)}, [](const Tensors& t) { return t[0].argmax(1); }));
  // Ten weights, the first is zero: counts how often it is drawn, and draws out of range.
  all.push_back(plain("multinomial", {at::arange(10).to(at::kFloat)}, [](const Tensors& t) {
    const auto drawn = at::multinomial(t[0], 64, true);
    return at::stack({drawn.eq(0).any(), drawn.ge(10).any()});
  }));
}

void add_indexing(std::vector<Computation>& all) {
  const auto rows = at::arange(12).remainder(5);
  const auto with_rows = [rows](auto function) {
    return [=](const Tensors& t) { return function(t[0], rows.to(t[0].device())); };
  };
  all.push_back(trained("index", {values({5, 3}, 1)},
                        with_rows([](const Tensor& x, const Tensor& i) { return x.index({i}); })));
  all.push_back(
      plain("index_put", {values({5, 3}, 1)}, with_rows([](const Tensor& x, const Tensor& i) {
              auto y = x.clone();
              return y.index_put_({i}, at::ones({12, 3}, x.options()), true);
            })));
  all.push_back(plain("index_by_cpu", {values({5, 3}, 1)},
                      [rows](const Tensors& t) { return t[0].index({rows}); }));
  all.push_back(trained(
      "gather", {values({5, 12}, 1)},
      with_rows([](const Tensor& x, const Tensor& i) { return x.gather(0, i.unsqueeze(0)); })));
  all.push_back(
      plain("scatter_add", {values({5}, 1)}, with_rows([](const Tensor& x, const Tensor& i) {
              return x.scatter_add(0, i, at::ones({12}, x.options()));
            })));
  all.push_back(
      plain("nonzero", {values({5, 3}, 1)}, [](const Tensors& t) { return (t[0] > 0).nonzero(); }));
  all.push_back(trained("where", {values({5, 3}, 1)}, [](const Tensors& t) {
    return at::where(t[0] > 0, t[0], t[0] * 2).masked_fill(t[0] > 1, 3.0);
  }));
  all.push_back(trained("shapes", {values({4, 6}, 1)}, [](const Tensors& t) {
    const auto parts = t[0].split(2, 1);
    const auto joined = at::cat({parts[2], parts[0]}, 1).t().reshape({-1}).roll(1).flip(0);
    return at::stack({joined.unfold(0, 4, 2), joined.unfold(0, 4, 2).exp()}).permute({2, 0, 1});
  }));
}

void add_images(std::vector<Computation>& all) {
  const auto image = values({1, 2, 8, 8}, 1), volume = values({1, 2, 4, 6, 6}, 1);
  all.push_back(
      trained("max_pool2d", {image}, [](const Tensors& t) { return at::max_pool2d(t[0], 2); }));
  all.push_back(
      trained("max_pool3d", {volume}, [](const Tensors& t) { return at::max_pool3d(t[0], 2); }));
  all.push_back(
      trained("avg_pool2d", {image}, [](const Tensors& t) { return at::avg_pool2d(t[0], 2); }));
  all.push_back(trained("adaptive_pool", {image}, [](const Tensors& t) {
    return at::adaptive_avg_pool2d(t[0], {3, 3});
  }));
  all.push_back(trained("upsample_bilinear", {image}, [](const Tensors& t) {
    return at::upsample_bilinear2d(t[0], {13, 11}, false);
  }));
  all.push_back(trained("upsample_trilinear", {volume}, [](const Tensors& t) {
    return at::upsample_trilinear3d(t[0], {5, 9, 9}, true);
  }));
  all.push_back(plain("pad", {image}, [](const Tensors& t) {
    return at::constant_pad_nd(at::reflection_pad2d(t[0], {1, 2, 1, 0}), {1, 1}, 3);
  }));
  all.push_back(trained("activations", {image}, [](const Tensors& t) {
    return at::gelu(at::silu(at::elu(t[0]))) + at::relu(t[0]) * at::sigmoid(t[0]).tanh();
  }));
  all.push_back(trained("reductions", {image}, [](const Tensors& t) {
    return t[0].var({2, 3}) + t[0].norm(2, {2, 3}) + t[0].amax({2, 3}) + t[0].logsumexp({2, 3});
  }));
}

void add_optimizers(std::vector<Computation>& all) {
  all.push_back(
      {"fused_adamw", [](c10::Device device) {
         const auto make = [&](std::uint64_t seed) {
           return Tensors{values({3, 4}, seed).to(device), values({5}, seed + 1).to(device)};
         };
         auto weights = make(1), first = make(5), second = make(7);
         for (auto& t : second) t.abs_();
         const auto step = [&] { return at::full({}, 2.0, weights[0].options()); };
         at::_fused_adamw_(weights, make(3), first, second, {}, {step(), step()}, 1e-2, 0.9, 0.99,
                           0.1, 1e-8, false, false);
         weights.insert(weights.end(), first.begin(), first.end());
         return home(weights);
       }});
  all.push_back({"foreach", [](c10::Device device) {
                   Tensors weights = {values({3, 4}, 1).to(device), values({5}, 2).to(device)};
                   at::_foreach_mul_(weights, 0.5);
                   at::_foreach_add_(weights, at::_foreach_sqrt(at::_foreach_abs(weights)), 2.0);
                   const auto norms = at::_foreach_norm(weights);
                   weights.push_back(norms[1]);
                   return home(weights);
                 }});
}

bool agree(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type()) return false;
  if (!a.is_floating_point()) return at::equal(a, b);
  const double rounding = a.scalar_type() == at::kFloat ? 1e-4 : 4e-2;
  return at::allclose(a.to(at::kDouble), b.to(at::kDouble), rounding, rounding);
}

bool agree(const Tensors& a, const Tensors& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!agree(a[i], b[i])) return false;
  }
  return true;
}

const std::map<std::string, Tensors>& cpu_results() {
  static const auto kResults = [] {
    std::map<std::string, Tensors> results;
    for (const auto& computation : battery()) results[computation.name] = computation.run(at::kCPU);
    return results;
  }();
  return kResults;
}

}  // namespace

const std::vector<Computation>& battery() {
  static const auto kBattery = [] {
    std::vector<Computation> all;
    add_convolutions(all);
    add_normalisations(all);
    add_products(all);
    add_attention(all);
    add_sequences(all);
    add_indexing(all);
    add_images(all);
    add_optimizers(all);
    return all;
  }();
  return kBattery;
}

std::vector<std::string> disagreements(c10::Device device) {
  std::vector<std::string> names;
  for (const auto& computation : battery()) {
    Tensors results;
    try {
      results = computation.run(device);
    } catch (const c10::Error& error) {
      names.push_back(computation.name + " (" + error.what_without_backtrace() + ")");
      continue;
    }
    if (!agree(results, cpu_results().at(computation.name))) names.push_back(computation.name);
  }
  return names;
}

}  // namespace ubique::test

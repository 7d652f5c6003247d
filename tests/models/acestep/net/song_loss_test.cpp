// SPDX-License-Identifier: Apache-2.0
// The loss of a batch: padding of others changes nothing of an item, unless as in the original.
#include "ubique/models/acestep/net/song_loss.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/device.h"
#include "tests/models/acestep/small_model.h"
#include "tests/tensors.h"
#include "ubique/models/acestep/net/init.h"

using namespace ubique;
using acestep::song_loss, acestep::SongLossOptions;
using test::distance;

namespace {

struct LossNetworks {
  explicit LossNetworks() {
    const auto networks = test::smallest_networks();
    dit = std::make_unique<acestep::Dit>(networks.transformer);
    text = std::make_unique<acestep::Umt5>(networks.text);
    acestep::initialize(*dit, Random(3));
    acestep::initialize(*text, Random(4));
    for (nn::Network* network :
         {static_cast<nn::Network*>(dit.get()), static_cast<nn::Network*>(text.get())}) {
      network->to(test::kDevice);
      network->refresh();
    }
  }
  std::unique_ptr<acestep::Dit> dit;
  std::unique_ptr<acestep::Umt5> text;
};

at::Tensor noise_of(std::uint64_t seed, at::IntArrayRef shape) {
  auto tensor = at::empty(shape, at::TensorOptions(at::kFloat));
  Random(seed).fill_normal(
      {tensor.mutable_data_ptr<float>(), static_cast<std::size_t>(tensor.numel())});
  return tensor;
}

/// One song of `frames` with so many tokens.
engine::Batch one_song(std::uint64_t seed, std::int64_t frames, std::int64_t tags,
                       std::int64_t lyrics) {
  engine::Batch batch;
  const auto sung = std::max<std::int64_t>(lyrics, 1);
  batch.tensors = {{"latents", noise_of(seed, {1, 8, 16, frames})},
                   {"noise", noise_of(seed + 1, {1, 8, 16, frames})},
                   {"speaker", noise_of(seed + 2, {1, 16})},
                   {"sigmas", at::full({1}, 0.4 + 0.1 * static_cast<double>(seed % 3))},
                   {"keep_text", at::ones({1})},
                   {"text_ids", at::arange(5, 5 + tags, at::kLong).unsqueeze(0)},
                   {"text_mask", at::ones({1, tags}, at::kLong)},
                   {"lyric_ids", at::arange(7, 7 + sung, at::kLong).unsqueeze(0)},
                   {"lyric_mask", at::full({1, sung}, lyrics > 0 ? 1 : 0, at::kLong)}};
  return batch;
}

at::Tensor padded_to(const at::Tensor& x, std::int64_t length) {
  return at::constant_pad_nd(x, {0, length - x.size(-1)});
}

/// Two songs as one batch, as the dataset makes it.
engine::Batch joined(const engine::Batch& a, const engine::Batch& b) {
  engine::Batch batch;
  for (const auto& [name, tensor] : a.tensors) {
    const auto& other = b.tensors.at(name);
    const auto length = std::max(tensor.size(-1), other.size(-1));
    const bool scalar = tensor.dim() == 1;
    batch.tensors[name] = scalar ? at::cat({tensor, other})
                                 : at::cat({padded_to(tensor, length), padded_to(other, length)});
  }
  const auto frames = batch.tensors.at("latents").size(-1);
  const auto ones = [&](const engine::Batch& song) {
    return padded_to(at::ones({1, song.tensors.at("latents").size(-1)}), frames);
  };
  batch.tensors["frames"] = at::cat({ones(a), ones(b)});
  const auto mask = at::cat(
      {at::ones({2, 1}, at::kLong), batch.tensors.at("text_mask"), batch.tensors.at("lyric_mask")},
      1);
  batch.tensors["order"] = mask.argsort(/*stable=*/true, 1, /*descending=*/true);
  return batch;
}

engine::Batch on_device(engine::Batch batch) {
  for (auto& [name, tensor] : batch.tensors) tensor = tensor.to(test::kDevice);
  return batch;
}

}  // namespace

TEST_CASE("song loss: an item in a padded batch is what it is alone, loss and gradients") {
  const LossNetworks networks;
  const auto a = on_device(one_song(1, 12, 3, 6)), b = on_device(one_song(11, 7, 5, 0));
  const auto both = on_device(joined(one_song(1, 12, 3, 6), one_song(11, 7, 5, 0)));
  auto& table = networks.dit->weights().lyric_tokens;
  const auto gradients = [&](const at::Tensor& loss) {
    networks.dit->zero_grad();
    loss.backward();
    return std::pair(networks.dit->weights().patch.weight.grad().clone(), table.grad().clone());
  };
  const auto first = song_loss(*networks.dit, *networks.text, a, {}).total;
  const auto second = song_loss(*networks.dit, *networks.text, b, {}).total;
  const auto alone = gradients((first + second) / 2);
  const auto loss = song_loss(*networks.dit, *networks.text, both, {});
  CHECK(distance(loss.by_item[0], first) < 2e-5);
  CHECK(distance(loss.by_item[1], second) < 2e-5);
  const auto together = gradients(loss.total);
  CHECK(distance(alone.first, together.first) < 2e-5);
  CHECK(distance(alone.second, together.second) < 2e-5);
}

TEST_CASE("song loss: with the original's padding an item depends on the others' length") {
  const LossNetworks networks;
  const at::NoGradGuard no_gradients;
  const auto both = on_device(joined(one_song(1, 12, 3, 6), one_song(11, 7, 5, 0)));
  const auto exact = song_loss(*networks.dit, *networks.text, both, {});
  const auto original = song_loss(*networks.dit, *networks.text, both, {.original_padding = true});
  CHECK(distance(exact.by_item, original.by_item) > 1e-4);
  // The shorter item counts (7/12)² there: once as zeros in the mean, once more as a factor.
  const auto share = 7.0 / 12;
  const auto items = original.by_item.cpu();
  const auto expected = (items[0] + items[1] * share * share) / 2;
  CHECK(distance(original.denoising.cpu(), expected) < 2e-5);
}

TEST_CASE("song loss: gradient checkpointing and a batch without padding change nothing") {
  const LossNetworks networks;
  const auto song = on_device(one_song(5, 9, 4, 5));
  const auto plain = song_loss(*networks.dit, *networks.text, song, {});
  plain.total.backward();
  const auto before = networks.dit->weights().blocks[0].self.q.weight.grad().clone();
  networks.dit->zero_grad();
  const auto again = song_loss(*networks.dit, *networks.text, song, {.recompute = true});
  again.total.backward();
  CHECK(distance(plain.total, again.total) == 0);
  CHECK(distance(before, networks.dit->weights().blocks[0].self.q.weight.grad()) < 1e-6);
  const auto original = song_loss(*networks.dit, *networks.text, song, {.original_padding = true});
  CHECK(distance(original.total, plain.total) < 1e-6);
}

TEST_CASE("song loss: the text encoder has gradients if it is trained, and only then") {
  const LossNetworks networks;
  const auto song = on_device(one_song(5, 9, 4, 5));
  song_loss(*networks.dit, *networks.text, song, {}).total.backward();
  for (const auto& parameter : networks.text->parameters()) CHECK(!parameter.grad().defined());
  song_loss(*networks.dit, *networks.text, song, {.train_text = true}).total.backward();
  for (const auto& item : networks.text->named_parameters()) {
    CAPTURE(item.key());
    CHECK(item.value().grad().defined());
  }
}

TEST_CASE("song loss: dropped tags are zeros, whatever they were") {
  const LossNetworks networks;
  const at::NoGradGuard no_gradients;
  auto one = one_song(5, 9, 4, 5), other = one_song(5, 9, 4, 5);
  other.tensors["text_ids"] = other.tensors["text_ids"] + 3;
  const auto loss = [&](const engine::Batch& batch) {
    return song_loss(*networks.dit, *networks.text, on_device(batch), {}).total;
  };
  CHECK(distance(loss(one), loss(other)) > 1e-6);
  one.tensors["keep_text"] = other.tensors["keep_text"] = at::zeros({1});
  CHECK(distance(loss(one), loss(other)) == 0);
}

TEST_CASE("song loss: losses towards audio encoders count items that have features") {
  const LossNetworks networks;
  const at::NoGradGuard no_gradients;
  auto both = joined(one_song(1, 12, 3, 6), one_song(11, 7, 5, 0));
  const auto without = song_loss(*networks.dit, *networks.text, on_device(both), {});
  CHECK(without.ssl.empty());
  both.tensors["ssl.mert"] = noise_of(9, {2, 20, 32});
  both.tensors["ssl_frames.mert"] = at::tensor({20, 0}, at::kLong);
  const auto with = song_loss(*networks.dit, *networks.text, on_device(both), {});
  REQUIRE(with.ssl.size() == 1);
  CHECK(with.ssl[0].first == "mert");
  // Mean over two encoders, one of which has no features.
  CHECK(distance(with.total, without.total + with.ssl[0].second / 2) < 1e-5);
  const auto off = song_loss(*networks.dit, *networks.text, on_device(both),
                             SongLossOptions{.ssl_coefficient = 0});
  CHECK(off.ssl.empty());
}

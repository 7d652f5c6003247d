// SPDX-License-Identifier: Apache-2.0
// From a file of conversations to a model that has them by heart: shift, masks, markers, windows
// and the decoder all have to agree for this.
#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/models/trm/chat_samples.h"
#include "ubique/engine/optim/optimizer.h"
#include "ubique/models/trm/net/loss.h"
#include "ubique/probe/core/timing.h"

namespace ubique::trm {
namespace {

const char* const kTalks = R"([
  {"conversations": [{"from": "human", "value": "Is ice cold?"}, {"from": "gpt", "value": "Yes."},
                     {"from": "human", "value": "And fire?"}, {"from": "gpt", "value": "No!"}]},
  {"instruction": "Is tea hot?", "output": "Often."},
  {"messages": [{"role": "user", "content": "And fire?"}, {"role": "assistant", "content": "Hot."}]}
])";

struct Lessons {
  at::Tensor inputs, labels;  // (B, S)
};

Lessons lessons_of(const io::ChatTemplate& tokens, const data::RowOptions& options) {
  std::vector<at::Tensor> inputs, labels;
  for (const auto& talk : io::parse_conversations(kTalks, "talks").conversations) {
    for (const auto& row : data::chat_rows(talk, tokens, options).rows) {
      inputs.push_back(at::tensor(row.inputs, at::kInt));
      labels.push_back(at::tensor(row.labels, at::kInt));
    }
  }
  return {at::stack(inputs), at::stack(labels)};
}

/// The loss of every update.
std::vector<double> learn(Trm& network, const Lessons& lessons, int updates) {
  engine::NamedTensors parameters;
  for (const auto& item : network.named_parameters()) {
    item.value().requires_grad_(true);
    parameters.push_back({item.key(), item.value()});
  }
  engine::OptimizerOptions options;
  options.weight_decay = 0;
  const auto optimizer = engine::make_optimizer(options, parameters, false);
  std::vector<double> losses;
  for (int i = 0; i < updates; ++i) {
    const auto weights = network.cast(at::kFloat);
    auto latents = network.start(weights, lessons.inputs.size(0));
    const auto x = network.embed(weights, lessons.inputs, {});
    const auto answer = network.step(weights, x, latents);
    const auto loss = judge(answer, lessons.labels, LossForm::Softmax).tokens.mean();
    losses.push_back(loss.item<double>());
    optimizer->zero_grad();
    loss.backward();
    optimizer->prepare({4e-3, {}});
    optimizer->step(at::zeros({}));
  }
  return losses;
}

}  // namespace

TEST_CASE("chat: what was learnt from a file is said again, each answer after its own question") {
  const probe::ThreadCount alone(1);  // so small that threads would wait for each other
  for (const auto loss_on : {data::LossOn::All, data::LossOn::Assistant}) {
    auto config = test::speaking_config();
    config.seq_len = 48;
    config.hidden_size = 64;
    test::Speaker speaker(config);
    const auto lessons = lessons_of(speaker.tokens, {.length = 48, .loss_on = loss_on});
    const auto losses = learn(speaker.network, lessons, 60);
    CAPTURE(data::to_string(loss_on));
    CHECK(losses.front() > 4);  // about log(266)
    CHECK(losses.back() < 0.5);

    ChatDecoder decoder(speaker.network, at::kFloat);
    nn::ChatSession talk(decoder, speaker.tokens, {.sampling = {.temperature = 0}});
    const auto first = talk.ask("Is ice cold?");
    CHECK(first.text == "Yes.");
    CHECK(first.end == nn::ReplyEnd::Marker);
    CHECK(talk.ask("And fire?").text == "No!");  // what was said before is heard
    talk.forget();
    CHECK(talk.ask("And fire?").text == "Hot.");
    talk.forget();
    CHECK(talk.ask("Is tea hot?").text == "Often.");
  }
}

}  // namespace ubique::trm

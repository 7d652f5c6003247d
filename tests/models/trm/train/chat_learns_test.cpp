// SPDX-License-Identifier: Apache-2.0
// Trains on a few conversations until they are reproduced: label shift, masks, special tokens, rows
// and the decoder all have to agree for this.
#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/models/trm/chat_samples.h"
#include "ubique/engine/optim/optimizer.h"
#include "ubique/models/trm/net/loss.h"
#include "ubique/probe/core/timing.h"

namespace ubique::trm {
namespace {

const char* const kConversations = R"([
  {"conversations": [{"from": "human", "value": "Is ice cold?"}, {"from": "gpt", "value": "Yes."},
                     {"from": "human", "value": "And fire?"}, {"from": "gpt", "value": "No!"}]},
  {"instruction": "Is tea hot?", "output": "Often."},
  {"messages": [{"role": "user", "content": "And fire?"}, {"role": "assistant", "content": "Hot."}]}
])";

struct TrainingRows {
  at::Tensor inputs, labels;  // (B, S)
};

TrainingRows training_rows(const io::MarkerTemplate& tokens, const data::RowOptions& options) {
  std::vector<at::Tensor> inputs, labels;
  for (const auto& conversation :
       io::parse_conversations(kConversations, "conversations").conversations) {
    for (const auto& row : data::chat_rows(conversation, tokens, options).rows) {
      inputs.push_back(at::tensor(row.inputs, at::kInt));
      labels.push_back(at::tensor(row.labels, at::kInt));
    }
  }
  return {at::stack(inputs), at::stack(labels)};
}

/// The loss of every update.
std::vector<double> train(Trm& network, const TrainingRows& rows, int updates) {
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
    auto latents = network.start(weights, rows.inputs.size(0));
    const auto x = network.embed(weights, rows.inputs, {});
    const auto answer = network.step(weights, x, latents);
    const auto loss = score_answer(answer, rows.labels, LossForm::Softmax).token_loss.mean();
    losses.push_back(loss.item<double>());
    optimizer->zero_grad();
    loss.backward();
    optimizer->prepare({4e-3, {}});
    optimizer->step(at::zeros({}));
  }
  return losses;
}

}  // namespace

TEST_CASE("chat: trained conversations are reproduced, each answer after its own question") {
  const probe::ThreadCount alone(1);  // more threads only slow down so small a network
  for (const auto loss_on : {data::LossOn::All, data::LossOn::Assistant}) {
    auto config = test::chat_config();
    config.seq_len = 48;
    config.hidden_size = 64;
    test::ChatSample sample(config);
    const auto rows = training_rows(sample.tokens, {.length = 48, .loss_on = loss_on});
    const auto losses = train(sample.network, rows, 60);
    CAPTURE(data::to_string(loss_on));
    CHECK(losses.front() > 4);  // about log(266)
    CHECK(losses.back() < 0.5);

    ChatDecoder decoder(sample.network, at::kFloat);
    nn::ChatSession session(decoder, sample.tokens, {.sampling = {.temperature = 0}});
    const auto first = session.ask("Is ice cold?");
    CHECK(first.text == "Yes.");
    CHECK(first.end == nn::ReplyEnd::Marker);
    CHECK(session.ask("And fire?").text == "No!");  // depends on the turns before
    session.forget();
    CHECK(session.ask("And fire?").text == "Hot.");
    session.forget();
    CHECK(session.ask("Is tea hot?").text == "Often.");
  }
}

}  // namespace ubique::trm

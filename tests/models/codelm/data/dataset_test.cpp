// SPDX-License-Identifier: Apache-2.0
// Packed rows as training samples.
#include "ubique/models/codelm/data/dataset.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "ubique/data/code/token_documents.h"
#include "ubique/io/text/tokenizer_trainer.h"

using namespace ubique;

namespace {

io::Tokenizer byte_tokenizer() {
  io::TrainerOptions options;
  options.size = 257;
  options.special = {"<|endoftext|>"};
  return io::Tokenizer(io::TokenizerTrainer(options).train());
}

/// Documents of 1 to `count` tokens.
std::shared_ptr<data::CodeDocuments> growing_documents(const io::Tokenizer& tokenizer, int count) {
  auto documents = std::make_shared<data::CodeDocuments>(tokenizer, tokenizer.size());
  for (int i = 1; i <= count; ++i) {
    documents->add({.ids = std::vector<std::int32_t>(static_cast<std::size_t>(i), 1 + i)});
  }
  return documents;
}

}  // namespace

TEST_CASE("codelm: every epoch has all tokens once, in as many rows, in another order") {
  const auto tokenizer = byte_tokenizer();
  const codelm::CodeDataset dataset(growing_documents(tokenizer, 20), {.length = 16}, nullptr);
  at::Tensor first;
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    const auto order = dataset.order(epoch, 4, Random(0));
    REQUIRE(static_cast<std::int64_t>(order.size()) == dataset.size());
    const auto batch = dataset.load(order, engine::SampleRandoms(Random(0)));
    const auto ids = batch.tensors.at("ids");
    for (int i = 1; i <= 20; ++i) CHECK(ids.eq(1 + i).sum().item<std::int64_t>() == i);
    CHECK(batch.weight == batch.tensors.at("labels").ne(-100).sum().item<double>());
    if (epoch == 0) first = ids;
    if (epoch > 0) CHECK(!ids.equal(first));
    CHECK(dataset.load(order, engine::SampleRandoms(Random(9))).tensors.at("ids").equal(ids));
  }
}

TEST_CASE("codelm: positions restart with each document, and labels stay inside it") {
  const auto tokenizer = byte_tokenizer();
  const codelm::CodeDataset dataset(growing_documents(tokenizer, 6), {.length = 16}, nullptr);
  const auto batch = dataset.load({0}, engine::SampleRandoms(Random(0)));
  const auto documents = batch.tensors.at("documents")[0],
             positions = batch.tensors.at("positions")[0];
  const auto ids = batch.tensors.at("ids")[0], labels = batch.tensors.at("labels")[0];
  for (std::int64_t i = 1; i < 16; ++i) {
    const bool same = documents[i].equal(documents[i - 1]);
    CHECK(positions[i].item<std::int64_t>() ==
          (same ? positions[i - 1].item<std::int64_t>() + 1 : 0));
    const auto label = labels[i - 1].item<std::int64_t>();
    if (label != -100) CHECK(label == ids[i].item<std::int64_t>());
    if (!same) CHECK(label == -100);
  }
}

TEST_CASE("codelm: under a curriculum documents are cut to a length that grows with the epochs") {
  const auto tokenizer = byte_tokenizer();
  const codelm::Curriculum curriculum{.start = 4, .end = 12, .epochs = 2};
  CHECK(curriculum.longest(0, 16) == 4);
  CHECK(curriculum.longest(1, 16) == 8);
  CHECK(curriculum.longest(2, 16) == 12);
  CHECK(curriculum.longest(9, 16) == 12);
  CHECK(curriculum.longest(9, 10) == 10);  // no longer than a row
  CHECK(codelm::Curriculum{}.longest(0, 16) == 0);

  const codelm::CodeDataset dataset(growing_documents(tokenizer, 20), {.length = 16}, nullptr,
                                    curriculum);
  for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
    const auto order = dataset.order(epoch, 4, Random(0));
    REQUIRE(static_cast<std::int64_t>(order.size()) == dataset.size());
    const auto batch = dataset.load(order, engine::SampleRandoms(Random(0)));
    const auto text = batch.tensors.at("ids").gt(1);  // without padding
    const auto positions = batch.tensors.at("positions").masked_select(text);
    CHECK(positions.max().item<std::int64_t>() < curriculum.longest(epoch, 16));
    for (int i = 1; i <= 20; ++i) {
      CHECK(batch.tensors.at("ids").eq(1 + i).sum().item<std::int64_t>() >= i);  // nothing is lost
    }
    const auto again = dataset.load(order, engine::SampleRandoms(Random(5)));
    CHECK(again.tensors.at("ids").equal(batch.tensors.at("ids")));
  }
  const auto refused = [](const codelm::Curriculum& wrong) {
    return test::refusal_of(ErrorKind::Usage, [&] { codelm::validate(wrong, 16); });
  };
  CHECK(test::contains(refused({.start = 1}), "codelm.curriculum"));
  CHECK(test::contains(refused({.start = 8, .end = 4}), "codelm.curriculum"));
  CHECK(test::contains(refused({.start = 8, .end = 9, .epochs = 0}), "codelm.curriculum"));
}

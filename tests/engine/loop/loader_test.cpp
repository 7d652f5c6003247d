// SPDX-License-Identifier: Apache-2.0
// The loader: order, random numbers, threads and errors.
#include "ubique/engine/loop/loader.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "tests/engine/toy.h"

using namespace ubique;
using namespace ubique::engine;
using namespace ubique::test;

namespace {

data::Sampler toy_sampler(std::int64_t samples, std::int64_t per_update) {
  return data::Sampler(samples, per_update, Random(5, 2));
}

plan::Plan with_threads(int threads, std::int64_t micro = 2) {
  auto plan = toy_plan(micro);
  plan.prefetch_threads.value = threads;
  return plan;
}

}  // namespace

TEST_CASE("loader: the same batches for any number of threads and any start") {
  const ToyDataset data(11);
  Loader plain(data, toy_sampler(11, 4), with_threads(0), 5, {0, 0}, 6);
  Loader threaded(data, toy_sampler(11, 4), with_threads(3), 5, {0, 0}, 6);
  Loader late(data, toy_sampler(11, 4), with_threads(2), 5, {1, 1}, 2);
  int compared = 0;
  for (int i = 0; i < 12; ++i) {  // 2 + 2 + 2 micro-batches per epoch, two epochs
    const auto a = plain.next(), b = threaded.next();
    CHECK(a.micro_batch.indices == b.micro_batch.indices);
    CHECK(at::equal(a.batch.tensors.at("y"), b.batch.tensors.at("y")));  // jittered by its stream
    if (a.micro_batch.cursor.epoch == 1 && a.micro_batch.cursor.update >= 1) {
      const auto c = late.next();
      CHECK(c.micro_batch.indices == a.micro_batch.indices);
      CHECK(at::equal(a.batch.tensors.at("y"), c.batch.tensors.at("y")));
      ++compared;
    }
  }
  CHECK(compared == 4);
  refusal_of(ErrorKind::Internal, [&] { plain.next(); });
}

TEST_CASE("loader: epochs differ in order and in augmentation") {
  const ToyDataset data(4);
  Loader loader(data, toy_sampler(4, 4), with_threads(1, 4), 5, {0, 0}, 2);
  const auto first = loader.next(), second = loader.next();
  CHECK(first.micro_batch.indices != second.micro_batch.indices);
  const auto sorted = [](const at::Tensor& t) { return std::get<0>(t.sort()); };
  CHECK(at::equal(sorted(first.batch.tensors.at("x").flatten()),
                  sorted(second.batch.tensors.at("x").flatten())));
  CHECK_FALSE(at::equal(sorted(first.batch.tensors.at("y")), sorted(second.batch.tensors.at("y"))));
}

TEST_CASE("loader: a sample's random numbers do not depend on the micro-batch size") {
  const ToyDataset data(12);
  const auto targets = [&](std::int64_t micro_batch) {
    Loader loader(data, toy_sampler(12, 6), with_threads(1, micro_batch), 5, {0, 0}, 2);
    std::vector<at::Tensor> parts;
    for (std::int64_t i = 0; i < 12 / micro_batch; ++i) {
      parts.push_back(loader.next().batch.tensors.at("y"));
    }
    return at::cat(parts);
  };
  CHECK(at::equal(targets(6), targets(3)));
  CHECK(at::equal(targets(6), targets(1)));
}

TEST_CASE("loader: an error of the dataset is thrown with its batch and names the samples") {
  for (const int threads : {0, 2}) {
    ToyDataset data(6);
    data.broken = Random(5, 2).fork(0).permutation(6)[3];
    Loader loader(data, toy_sampler(6, 6), with_threads(threads, 1), 5, {0, 0}, 1);
    for (int i = 0; i < 3; ++i) loader.next();
    const auto message = refusal_of(ErrorKind::Input, [&] { loader.next(); });
    CHECK(contains(message, fmt::format("[toy.load] sample {0} is broken. (loading sample {0} of "
                                        "the training set)",
                                        data.broken)));
  }
}

TEST_CASE("loader: its threads do not change the compute threads of others") {
  const int before = at::get_num_threads();
  at::set_num_threads(2);
  const ToyDataset data(6);
  Loader loader(data, toy_sampler(6, 6), with_threads(3), 5, {0, 0}, 1);
  loader.next();
  CHECK(at::get_num_threads() == 2);
  int elsewhere = 0;
  std::thread([&] { elsewhere = at::get_num_threads(); }).join();
  CHECK(elsewhere == 2);
  at::set_num_threads(before);
}

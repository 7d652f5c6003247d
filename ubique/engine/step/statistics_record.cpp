// SPDX-License-Identifier: Apache-2.0
// The record of the innermost scope of each thread.
#include "ubique/engine/step/statistics_record.h"

#include <ATen/ATen.h>

namespace ubique::engine {
namespace {

thread_local StatisticsRecord* current_record = nullptr;

void change(const StatisticsChange& wanted) {
  apply(wanted);
  if (current_record != nullptr) current_record->add(wanted);
}

}  // namespace

void apply(const StatisticsChange& change) {
  at::Tensor running = change.running;
  if (change.value.defined()) {
    running.lerp_(change.value, change.share);
  } else {
    running.add_(1);
  }
}

void update_running(const at::Tensor& running, const at::Tensor& value, double share) {
  change({running, value, share});
}

void count_batch(const at::Tensor& counter) { change({counter, {}, 0}); }

StatisticsRecord::StatisticsRecord() : outer_(current_record) { current_record = this; }
StatisticsRecord::~StatisticsRecord() { current_record = outer_; }

}  // namespace ubique::engine

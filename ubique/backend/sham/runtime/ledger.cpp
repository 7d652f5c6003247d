// SPDX-License-Identifier: Apache-2.0
// Counting and the text of the ledger.
#include "ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "ubique/base/terminal/table.h"
#include "ubique/base/text/text.h"

namespace ubique::backend::sham {
namespace {

constexpr std::size_t kOpsShown = 20;

void add_traffic(Traffic& traffic, std::int64_t bytes) {
  ++traffic.count;
  traffic.bytes += bytes;
}

Traffic sum_of(const std::map<std::string, Traffic>& parts) {
  Traffic sum;
  for (const auto& [name, traffic] : parts) {
    sum.count += traffic.count;
    sum.bytes += traffic.bytes;
  }
  return sum;
}

std::int64_t sum_of(const std::map<std::string, std::int64_t>& counts) {
  std::int64_t sum = 0;
  for (const auto& [name, count] : counts) sum += count;
  return sum;
}

}  // namespace

void Ledger::add_op(const std::string& op) {
  const std::lock_guard lock(mutex_);
  ++ops_[op];
}

void Ledger::add_upload(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  add_traffic(uploads_, bytes);
}

void Ledger::add_download(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  add_traffic(downloads_, bytes);
}

void Ledger::add_fallback(const std::string& op, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  add_traffic(fallbacks_[op], bytes);
}

void Ledger::reset() {
  const std::lock_guard lock(mutex_);
  ops_.clear();
  fallbacks_.clear();
  uploads_ = downloads_ = {};
}

std::int64_t Ledger::total(const std::string& what) const {
  const std::lock_guard lock(mutex_);
  if (what == "ops") return sum_of(ops_);
  if (what == "uploads") return uploads_.count;
  if (what == "upload_bytes") return uploads_.bytes;
  if (what == "downloads") return downloads_.count;
  if (what == "download_bytes") return downloads_.bytes;
  if (what == "fallbacks") return sum_of(fallbacks_).count;
  if (what == "fallback_bytes") return sum_of(fallbacks_).bytes;
  const auto found = ops_.find(what);
  return found == ops_.end() ? 0 : found->second;
}

std::string Ledger::to_text() const {
  const std::lock_guard lock(mutex_);
  const auto fallen = sum_of(fallbacks_);
  std::string text = fmt::format(
      "{} ops of {} kinds; host to device {} in {} copies, device to host {} in {}; {} fallbacks "
      "to "
      "the CPU ({})\n",
      sum_of(ops_), ops_.size(), human_bytes(uploads_.bytes), uploads_.count,
      human_bytes(downloads_.bytes), downloads_.count, fallen.count, human_bytes(fallen.bytes));
  std::vector<std::pair<std::string, std::int64_t>> sorted(ops_.begin(), ops_.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  Table table({"op", "count", "fallback bytes"});
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto& [op, count] = sorted[i];
    const auto fallback = fallbacks_.find(op);
    const bool fell = fallback != fallbacks_.end();
    if (i < kOpsShown || fell) {
      table.add_row({op, std::to_string(count), fell ? human_bytes(fallback->second.bytes) : ""});
    }
  }
  if (!table.empty()) text += table.to_text();
  if (sorted.size() > kOpsShown) {
    text += fmt::format("and {} kinds of op that ran less often\n", sorted.size() - kOpsShown);
  }
  return text;
}

std::string Ledger::list() const {
  const std::lock_guard lock(mutex_);
  std::string lines;
  for (const auto& [op, count] : ops_) lines += fmt::format("{} {}\n", op, count);
  return lines;
}

Ledger& ledger() {
  static auto* const kLedger = new Ledger;  // outlives every tensor and thread
  return *kLedger;
}

}  // namespace ubique::backend::sham

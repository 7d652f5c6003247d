// SPDX-License-Identifier: Apache-2.0
// Parses UBIQUE_FAULT and triggers faults as their points are passed.
#include "ubique/base/files/fault.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <system_error>
#include <vector>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"

namespace ubique {
namespace {

enum class FaultAction { Kill, Throw, NoSpace };

struct Fault {
  std::string name;
  std::int64_t passes_left = 1;
  FaultAction action = FaultAction::Throw;
};

std::optional<FaultAction> parse_action(std::string_view word) {
  if (word == "kill") return FaultAction::Kill;
  if (word == "throw") return FaultAction::Throw;
  if (word == "enospc") return FaultAction::NoSpace;
  return {};
}

Fault parse_fault(const std::string& text) {
  const auto equals = text.find('=');
  const auto point = text.substr(0, equals);
  const auto colon = point.find(':');
  const auto action =
      equals == std::string::npos ? std::nullopt : parse_action(text.substr(equals + 1));
  const auto hit = colon == std::string::npos ? 1.0 : parse_number(point.substr(colon + 1));
  check(action && hit && *hit >= 1 && colon != 0 && equals != 0, ErrorKind::Usage,
        "[base.fault] cannot read a fault; got '{}', expected NAME:HIT=kill|throw|enospc. "
        "Unset UBIQUE_FAULT unless you test what a crash leaves behind.",
        text);
  return {point.substr(0, colon), static_cast<std::int64_t>(*hit), *action};
}

class Faults {
 public:
  Faults() {
    if (const char* list = std::getenv("UBIQUE_FAULT")) arm(list);
  }

  void arm(const std::string& list) {
    std::vector<Fault> faults;
    for (const auto& text : split(list, ',')) faults.push_back(parse_fault(text));
    const std::lock_guard lock(mutex_);
    faults_ = std::move(faults);
    armed_ = !faults_.empty();
  }

  std::optional<FaultAction> pass(std::string_view name) {
    if (!armed_.load(std::memory_order_relaxed)) return {};
    const std::lock_guard lock(mutex_);
    std::optional<FaultAction> due;
    for (auto& fault : faults_) {
      if ((fault.name == "*" || fault.name == name) && --fault.passes_left == 0) due = fault.action;
    }
    return due;
  }

 private:
  std::mutex mutex_;
  std::vector<Fault> faults_;
  std::atomic<bool> armed_ = false;
};

Faults& faults() {
  static Faults instance;
  return instance;
}

}  // namespace

void arm_faults(const std::string& list) { faults().arm(list); }

void fault_point(std::string_view name) {
  const auto due = faults().pass(name);
  if (!due) return;
  if (*due == FaultAction::Kill) std::raise(SIGKILL);
  check(*due != FaultAction::NoSpace, ErrorKind::Input, "[base.fault] {}, injected at '{}'.",
        std::generic_category().message(ENOSPC), name);
  fail(ErrorKind::Internal, "[base.fault] a fault injected at '{}'.", name);
}

}  // namespace ubique

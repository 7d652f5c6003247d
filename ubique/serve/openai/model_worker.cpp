// SPDX-License-Identifier: Apache-2.0
// From the worker's lines to the mailboxes of calls.
#include "ubique/serve/openai/model_worker.h"

#include <fmt/format.h>

#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"

namespace ubique::serve {

void Mailbox::put(std::size_t choice, Json event) {
  const std::lock_guard lock(mutex_);
  events_.emplace_back(choice, std::move(event));
  changed_.notify_all();
}

std::optional<std::pair<std::size_t, Json>> Mailbox::take(std::chrono::milliseconds wait) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, wait, [this] { return !events_.empty(); });
  if (events_.empty()) return std::nullopt;
  auto event = std::move(events_.front());
  events_.pop_front();
  return event;
}

ModelWorker::ModelWorker(const LinkPlan& plan)
    : log_(plan.log),
      link_(std::make_unique<WorkerLink>(
          plan, [this](const std::string& line) { receive(line); },
          [this](const std::string& how) { end(how); })) {}

ModelWorker::~ModelWorker() { link_.reset(); }

ModelWorker::State ModelWorker::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

ModelWorker::State ModelWorker::wait(std::chrono::milliseconds time) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [this] { return state_ != State::Loading; });
  return state_;
}

Json ModelWorker::facts() const {
  const std::lock_guard lock(mutex_);
  return facts_;
}

std::string ModelWorker::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

std::string ModelWorker::submit(Json request, std::shared_ptr<Mailbox> mailbox,
                                std::size_t choice) {
  std::string id;
  {
    const std::lock_guard lock(mutex_);
    if (state_ == State::Gone) {
      mailbox->put(choice, {{"event", "gone"}, {"message", ended_}});
      return id;
    }
    id = fmt::format("{}", ++submitted_);
    waiting_[id] = {std::move(mailbox), choice};
    used_ = std::chrono::steady_clock::now();
  }
  request["id"] = id;
  link_->send(json_text(request) + "\n");
  return id;
}

void ModelWorker::cancel(const std::string& id) {
  {
    const std::lock_guard lock(mutex_);
    if (!waiting_.contains(id)) return;
  }
  link_->send(json_text({{"op", "cancel"}, {"id", id}}) + "\n");
}

std::size_t ModelWorker::active() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

void ModelWorker::touch() {
  const std::lock_guard lock(mutex_);
  used_ = std::chrono::steady_clock::now();
}

double ModelWorker::idle_seconds() const {
  const std::lock_guard lock(mutex_);
  if (!waiting_.empty()) return 0;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - used_).count();
}

void ModelWorker::receive(const std::string& line) {
  Json event;
  try {
    event = parse_json(line, "the model's process");
  } catch (const Error& error) {
    log::warn("[serve.openai] {}", error.what());
    return;
  }
  const auto kind = event.value("event", "");
  const std::lock_guard lock(mutex_);
  if (kind == "ready") {
    facts_ = std::move(event);
    state_ = State::Ready;
    changed_.notify_all();
    return;
  }
  const auto id = event.value("id", Json());
  const auto found = id.is_string() ? waiting_.find(id.get<std::string>()) : waiting_.end();
  if (found == waiting_.end()) return;
  const auto to = found->second;
  if (kind == "done" || kind == "error") {
    waiting_.erase(found);
    used_ = std::chrono::steady_clock::now();
  }
  to.mailbox->put(to.choice, std::move(event));
}

void ModelWorker::end(const std::string& how) {
  const auto said = log_tail(log_);
  const std::lock_guard lock(mutex_);
  ended_ = said.empty() || how.starts_with("signal") ? how : said;
  state_ = State::Gone;
  for (auto& [id, to] : waiting_) {
    to.mailbox->put(to.choice, {{"event", "gone"}, {"message", ended_}});
  }
  waiting_.clear();
  changed_.notify_all();
}

}  // namespace ubique::serve

// SPDX-License-Identifier: Apache-2.0
// Texts and rows, made of three exchanges of the transport.
#include "ubique/dist/world.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "ubique/base/error.h"
#include "ubique/dist/device_transport.h"

namespace ubique::dist {
namespace {

// A short text fits into the first message, which all ranks send anyway.
constexpr std::int64_t kFirstMessage = 1024;
constexpr std::int64_t kLengthBytes = sizeof(std::int64_t);

at::Tensor bytes_of(const std::string& text, std::int64_t length) {
  auto bytes = at::zeros({length}, at::kByte);
  std::memcpy(bytes.data_ptr(), text.data(), std::min<std::size_t>(text.size(), length));
  return bytes;
}

std::string text_of(const at::Tensor& bytes, std::int64_t from, std::int64_t length) {
  const auto* data = static_cast<const char*>(bytes.const_data_ptr());
  return {data + from, static_cast<std::size_t>(length)};
}

std::string with_length(const std::string& text) {
  const auto length = static_cast<std::int64_t>(text.size());
  std::array<char, kLengthBytes> head{};
  std::memcpy(head.data(), &length, head.size());
  return std::string(head.data(), head.size()) + text;
}

std::int64_t length_in(const at::Tensor& message) {
  std::int64_t length = 0;
  std::memcpy(&length, message.const_data_ptr(), kLengthBytes);
  return length;
}

/// The tensor's bytes as a contiguous byte tensor on the host.
at::Tensor raw_bytes(const at::Tensor& tensor) {
  return tensor.detach().contiguous().cpu().view(-1).view(at::kByte);
}

}  // namespace

World::World(Place place, std::unique_ptr<Transport> transport)
    : place_(std::move(place)), transport_(std::move(transport)) {}
World::~World() = default;
World::World(World&&) noexcept = default;
World& World::operator=(World&&) noexcept = default;

std::vector<std::string> World::gather(const std::string& mine) const {
  if (is_alone()) return {mine};
  auto all = at::empty({size(), kFirstMessage}, at::kByte);
  transport_->gather(all, bytes_of(with_length(mine), kFirstMessage));
  std::int64_t longest = 0;
  for (int i = 0; i < size(); ++i) longest = std::max(longest, length_in(all[i]));
  if (longest > kFirstMessage - kLengthBytes) {
    all = at::empty({size(), longest + kLengthBytes}, at::kByte);
    transport_->gather(all, bytes_of(with_length(mine), longest + kLengthBytes));
  }
  std::vector<std::string> texts;
  for (int i = 0; i < size(); ++i) {
    texts.push_back(text_of(all[i], kLengthBytes, length_in(all[i])));
  }
  return texts;
}

std::string World::from_first(const std::string& mine) const {
  return is_alone() ? mine : gather(is_first() ? mine : std::string()).front();
}

void World::broadcast(const at::Tensor& tensor, int from) const {
  if (is_alone() || tensor.numel() == 0) return;
  auto bytes = raw_bytes(tensor);
  if (tensor.is_cpu()) bytes = bytes.clone();
  transport_->broadcast(bytes, from);
  if (rank() == from) return;
  tensor.detach().copy_(bytes.view(tensor.scalar_type()).view(tensor.sizes()));
}

at::Tensor World::gather_rows(const at::Tensor& mine) const {
  if (is_alone()) return mine;
  std::vector<std::int64_t> counts;
  for (const auto& text : gather(std::to_string(mine.size(0)))) counts.push_back(std::stoll(text));
  const auto most = *std::ranges::max_element(counts);
  auto shape = mine.sizes().vec();
  shape[0] = most;
  auto padded = at::zeros(shape, mine.options().device(at::kCPU).requires_grad(false));
  padded.narrow(0, 0, mine.size(0)).copy_(mine.detach());
  const auto sent = raw_bytes(padded);
  auto all = at::empty({size(), sent.size(0)}, at::kByte);
  if (sent.size(0) > 0) transport_->gather(all, sent);
  std::vector<at::Tensor> rows;
  for (int i = 0; i < size(); ++i) {
    rows.push_back(all[i].view(mine.scalar_type()).view(shape).narrow(0, 0, counts[i]));
  }
  return at::cat(rows).to(mine.device());
}

std::unique_ptr<Transport> World::beside(c10::Device device) const {
  if (is_alone()) return nullptr;
  auto host = transport_->beside();
  if (device.is_cpu()) return host;
  return connect_devices(*this, std::move(host), device, device::collectives_of(device));
}

void World::note_step(std::int64_t step) const {
  if (transport_) transport_->note_step(step);
}

std::vector<std::int64_t> World::steps() const {
  return transport_ ? transport_->steps() : std::vector<std::int64_t>();
}

void World::while_waiting(std::function<void()> look) const {
  if (transport_) transport_->while_waiting(std::move(look));
}

void World::leave(const std::string& why) const {
  if (transport_) transport_->leave(why);
}

World& world() {
  static World only;
  return only;
}

void join(const Place& place) {
  if (place.size == 1 || !world().is_alone()) return;
  check(has_gloo(), ErrorKind::Usage,
        "[dist.join] this program was built without Gloo, which moves data between processes; got "
        "{} processes, expected 1. Install libgloo-dev (tools/setup does) and build again.",
        place.size);
  world() = World(place, connect_gloo(place, read_patience(process_environment)));
}

}  // namespace ubique::dist

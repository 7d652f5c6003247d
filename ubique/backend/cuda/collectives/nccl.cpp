// SPDX-License-Identifier: Apache-2.0
// One NCCL communicator for each rank. Exchanges of rows are sends and receives of one group.
#include "nccl.h"

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <optional>

#include "../runtime/driver_library.h"
#include "ubique/base/error.h"

namespace ubique::backend::cuda {
namespace {

std::size_t row_bytes(const at::Tensor& tensor) {
  const auto rows = tensor.size(0);
  return rows == 0 ? 0 : tensor.nbytes() / static_cast<std::size_t>(rows);
}

class NcclCollectives final : public device::Collectives {
 public:
  NcclCollectives(const NcclLibrary& library, c10::Device device, const NcclId& id, int rank,
                  int size)
      : library_(library), device_(device), size_(size) {
    const c10::OptionalDeviceGuard guard(device_);
    expect(library_.call("ncclCommInitRank", &communicator_, size, id, rank), "ncclCommInitRank");
  }

  ~NcclCollectives() override {
    if (communicator_ != nullptr) library_.call("ncclCommDestroy", communicator_);
  }
  NcclCollectives(const NcclCollectives&) = delete;
  NcclCollectives& operator=(const NcclCollectives&) = delete;

  void gather(const at::Tensor& all, const at::Tensor& mine) override {
    start("ncclAllGather", [&](void* stream) {
      return library_.call("ncclAllGather", mine.const_data_ptr(), all.mutable_data_ptr(),
                           mine.nbytes(), kNcclBytes, communicator_, stream);
    });
  }

  void broadcast(const at::Tensor& tensor, int from) override {
    start("ncclBroadcast", [&](void* stream) {
      return library_.call("ncclBroadcast", tensor.const_data_ptr(), tensor.mutable_data_ptr(),
                           tensor.nbytes(), kNcclBytes, from, communicator_, stream);
    });
  }

  void exchange(const at::Tensor& received, const at::Tensor& sent,
                const std::vector<std::int64_t>& from_each,
                const std::vector<std::int64_t>& to_each) override {
    start("ncclSend, ncclRecv", [&](void* stream) {
      expect(library_.call("ncclGroupStart"), "ncclGroupStart");
      const int queued = queue_rows(received, sent, from_each, to_each, stream);
      const int ended = library_.call("ncclGroupEnd");
      return queued != kNcclSuccess ? queued : ended;
    });
  }

  bool done() override {
    int state = kNcclSuccess;
    expect(library_.call("ncclCommGetAsyncError", communicator_, &state), "ncclCommGetAsyncError");
    expect(state, "an exchange");
    return !ended_ || ended_->query();
  }

  void abort() override {
    if (communicator_ != nullptr) library_.call("ncclCommAbort", communicator_);
    communicator_ = nullptr;
  }

 private:
  int queue_rows(const at::Tensor& received, const at::Tensor& sent,
                 const std::vector<std::int64_t>& from_each,
                 const std::vector<std::int64_t>& to_each, void* stream) const {
    const auto* out = static_cast<const char*>(sent.const_data_ptr());
    auto* in = static_cast<char*>(received.mutable_data_ptr());
    int code = kNcclSuccess;
    for (int rank = 0; rank < size_ && code == kNcclSuccess; ++rank) {
      const auto to = static_cast<std::size_t>(to_each[rank]) * row_bytes(sent);
      const auto from = static_cast<std::size_t>(from_each[rank]) * row_bytes(received);
      if (to > 0) {
        code = library_.call("ncclSend", static_cast<const void*>(out), to, kNcclBytes, rank,
                             communicator_, stream);
      }
      if (from > 0 && code == kNcclSuccess) {
        code = library_.call("ncclRecv", static_cast<void*>(in), from, kNcclBytes, rank,
                             communicator_, stream);
      }
      out += to;
      in += from;
    }
    return code;
  }

  template <typename Work>
  void start(const char* what, const Work& work) {
    check(communicator_ != nullptr, ErrorKind::Device,
          "[cuda.nccl] {} after the exchanges were ended; expected none.", what);
    const c10::OptionalDeviceGuard guard(device_);
    if (device_.is_cpu()) return expect(work(nullptr), what);  // a library of tests
    const auto stream = c10::impl::VirtualGuardImpl(device_.type()).getStream(device_);
    expect(work(stream.native_handle()), what);
    ended_.emplace(device_.type());
    ended_->record(stream);
  }

  void expect(int code, const char* what) const {
    check(code == kNcclSuccess || code == kNcclInProgress, ErrorKind::Device,
          "[cuda.nccl] {} failed; got \"{}\" ({}). NCCL_DEBUG=WARN tells more.", what,
          library_.error_text(code), code);
  }

  const NcclLibrary& library_;
  c10::Device device_;
  int size_;
  void* communicator_ = nullptr;
  std::optional<c10::Event> ended_;  // after the last exchange
};

}  // namespace

std::string Nccl::name() const {
  int version = 0;  // 22809: 2.28.9
  library_.call("ncclGetVersion", &version);
  return fmt::format("NCCL {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::string Nccl::card(c10::Device device) const {
  std::string machine;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> machine;
  const DriverLibrary driver;
  char bus[32] = {};
  if (driver.loaded()) {
    driver.call("cuDeviceGetPCIBusId", static_cast<char*>(bus), static_cast<int>(sizeof bus),
                static_cast<int>(device.index()));
  }
  return fmt::format("{} {}", machine, bus[0] != 0 ? bus : device.str());
}

std::string Nccl::new_meeting() const {
  NcclId id{};
  const int code = library_.call("ncclGetUniqueId", &id);
  check(code == kNcclSuccess, ErrorKind::Device,
        "[cuda.nccl] ncclGetUniqueId failed; got \"{}\" ({}). NCCL_DEBUG=WARN tells more.",
        library_.error_text(code), code);
  return {id.bytes, sizeof id.bytes};
}

std::unique_ptr<device::Collectives> Nccl::join(c10::Device device, const std::string& meeting,
                                                int rank, int size) const {
  NcclId id{};
  check(meeting.size() == sizeof id.bytes, ErrorKind::Internal,
        "[cuda.nccl] a meeting of {} bytes, expected {}.", meeting.size(), sizeof id.bytes);
  std::memcpy(id.bytes, meeting.data(), sizeof id.bytes);
  return std::make_unique<NcclCollectives>(library_, device, id, rank, size);
}

}  // namespace ubique::backend::cuda

// SPDX-License-Identifier: Apache-2.0
// A libnccl for tests: ranks are threads of one process, data lies in host memory. It has the
// functions and the meaning of NVIDIA's, as far as they are used.
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int kSuccess = 0, kRemoteError = 6;

struct Id {
  char bytes[128];
};

struct Room {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<int, int>, std::deque<std::string>> mail;  // from, to
  int joined = 0;
};

struct Communicator {
  std::shared_ptr<Room> room;
  int rank = 0, size = 0;
  bool broken = false;
};

struct Receipt {
  Communicator* communicator;
  int from;
  void* to;
  std::size_t bytes;
};

std::mutex rooms_mutex;
std::map<std::string, std::shared_ptr<Room>> rooms;
int meetings = 0;
thread_local int groups = 0;
thread_local std::vector<Receipt> receipts;

void post(Communicator& communicator, int to, const void* data, std::size_t bytes) {
  const std::scoped_lock lock(communicator.room->mutex);
  communicator.room->mail[{communicator.rank, to}].emplace_back(static_cast<const char*>(data),
                                                                bytes);
  communicator.room->changed.notify_all();
}

/// A rank that never sends breaks the communicator, as an asynchronous error does.
int collect(const Receipt& receipt) {
  auto& room = *receipt.communicator->room;
  std::unique_lock lock(room.mutex);
  auto& mail = room.mail[{receipt.from, receipt.communicator->rank}];
  if (!room.changed.wait_for(lock, std::chrono::seconds(5), [&] { return !mail.empty(); })) {
    receipt.communicator->broken = true;
    return kSuccess;
  }
  const bool fits = mail.front().size() == receipt.bytes;
  if (fits) std::memcpy(receipt.to, mail.front().data(), receipt.bytes);
  mail.pop_front();
  return fits ? kSuccess : kRemoteError;
}

int take_all() {
  int code = kSuccess;
  for (const auto& receipt : std::exchange(receipts, {})) {
    const int one = collect(receipt);
    if (code == kSuccess) code = one;
  }
  return code;
}

}  // namespace

extern "C" {

int ncclGetVersion(int* version) {
  *version = 22809;
  return kSuccess;
}

const char* ncclGetErrorString(int code) {
  return code == kRemoteError ? "remote process exited or there was a network error" : "no error";
}

int ncclGetUniqueId(Id* id) {
  const std::scoped_lock lock(rooms_mutex);
  const auto name = "meeting " + std::to_string(meetings++);
  std::memset(id->bytes, 0, sizeof id->bytes);
  std::memcpy(id->bytes, name.data(), name.size());
  return kSuccess;
}

int ncclCommInitRank(Communicator** made, int size, Id id, int rank) {
  std::shared_ptr<Room> room;
  {
    const std::scoped_lock lock(rooms_mutex);
    auto& known = rooms[std::string(id.bytes, sizeof id.bytes)];
    if (!known) known = std::make_shared<Room>();
    room = known;
  }
  std::unique_lock lock(room->mutex);
  ++room->joined;
  room->changed.notify_all();
  room->changed.wait(lock, [&] { return room->joined >= size; });
  *made = new Communicator{room, rank, size};
  return kSuccess;
}

int ncclCommDestroy(Communicator* communicator) {
  delete communicator;
  return kSuccess;
}

int ncclCommAbort(Communicator* communicator) { return ncclCommDestroy(communicator); }

int ncclCommGetAsyncError(Communicator* communicator, int* state) {
  *state = communicator->broken ? kRemoteError : kSuccess;
  return kSuccess;
}

int ncclGroupStart() {
  ++groups;
  return kSuccess;
}

int ncclGroupEnd() { return --groups == 0 ? take_all() : kSuccess; }

int ncclSend(const void* data, std::size_t bytes, int /*type*/, int to, Communicator* communicator,
             void* /*stream*/) {
  post(*communicator, to, data, bytes);
  return kSuccess;
}

int ncclRecv(void* data, std::size_t bytes, int /*type*/, int from, Communicator* communicator,
             void* /*stream*/) {
  receipts.push_back({communicator, from, data, bytes});
  return groups == 0 ? take_all() : kSuccess;
}

int ncclAllGather(const void* mine, void* all, std::size_t bytes, int type,
                  Communicator* communicator, void* stream) {
  ncclGroupStart();
  for (int rank = 0; rank < communicator->size; ++rank) {
    ncclSend(mine, bytes, type, rank, communicator, stream);
    ncclRecv(static_cast<char*>(all) + rank * bytes, bytes, type, rank, communicator, stream);
  }
  return ncclGroupEnd();
}

int ncclBroadcast(const void* sent, void* received, std::size_t bytes, int type, int root,
                  Communicator* communicator, void* stream) {
  ncclGroupStart();
  for (int rank = 0; rank < communicator->size && communicator->rank == root; ++rank) {
    ncclSend(sent, bytes, type, rank, communicator, stream);
  }
  ncclRecv(received, bytes, type, root, communicator, stream);
  return ncclGroupEnd();
}
}

// SPDX-License-Identifier: Apache-2.0
// Generates one synthetic head: anatomy, lesions, protocol, grid and scan, each from its own
// stream.
#include "ubique/data/scans/phantom/phantom.h"

#include <fmt/format.h>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"
#include "ubique/data/scans/phantom/phantom_scanner.h"

namespace ubique::data {
namespace {

enum PhantomStream : std::uint64_t {
  kHeadStream,
  kLesionStream,
  kProtocolStream,
  kGridStream,
  kScanStream
};

void check_options(const PhantomOptions& options, std::int64_t index) {
  check(options.size >= 16 && options.size <= 512, ErrorKind::Usage,
        "[data.phantom] got {} voxels along each side, expected 16 to 512.", options.size);
  check(options.field_of_view >= 100 && options.field_of_view <= 600, ErrorKind::Usage,
        "[data.phantom] got a field of view of {} mm, expected 100 to 600; a head fills 190.",
        options.field_of_view);
  check(options.noise >= 0 && options.noise <= 20 && options.bias >= 0 && options.bias <= 3,
        ErrorKind::Usage,
        "[data.phantom] got noise {} and bias {}, expected 0 to 20 and 0 to 3; 1 is usual.",
        options.noise, options.bias);
  check(index >= 0, ErrorKind::Usage, "[data.phantom] got head number {}, expected 0 or more.",
        index);
}

Random phantom_random(const PhantomOptions& options, std::int64_t index) {
  return Random(options.seed).fork(static_cast<std::uint64_t>(index));
}

Protocol protocol_of(const Random& random) { return choose_protocol(random.fork(kProtocolStream)); }

}  // namespace

std::string phantom_id(std::int64_t index) { return fmt::format("head_{:04}", index); }

std::string phantom_acquisition(const PhantomOptions& options, std::int64_t index) {
  return protocol_of(phantom_random(options, index)).acquisition;
}

std::string_view to_string(Contrast contrast) { return contrast == Contrast::T2 ? "t2" : "t1"; }

Contrast parse_contrast(std::string_view text) {
  const auto lower = lowercase(text);
  if (lower == "t2" || lower == "t2w") return Contrast::T2;
  if (lower == "t1" || lower == "t1w") return Contrast::T1;
  fail(ErrorKind::Usage, "[data.phantom] unknown contrast '{}'; expected t2 or t1.", text);
}

Phantom make_phantom(const PhantomOptions& options, std::int64_t index) {
  check_options(options, index);
  const auto random = phantom_random(options, index);
  const Head head(random.fork(kHeadStream));
  const auto lesions = make_lesions(random.fork(kLesionStream), head);
  const auto protocol = protocol_of(random);
  const auto grid = make_grid(options, protocol, random.fork(kGridStream));

  Phantom phantom;
  phantom.id = phantom_id(index);
  phantom.acquisition = protocol.acquisition;
  phantom.lesions = static_cast<std::int64_t>(lesions.size());
  take_scan(options, protocol, grid, head, lesions, random.fork(kScanStream), phantom);
  return phantom;
}

}  // namespace ubique::data

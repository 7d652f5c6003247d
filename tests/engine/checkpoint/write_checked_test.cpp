// SPDX-License-Identifier: Apache-2.0
// A failed write or read-back leaves nothing behind, and nothing that was there before is touched.
#include "ubique/engine/checkpoint/write_checked.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>

#include "tests/base/scratch.h"
#include "ubique/base/error.h"
#include "ubique/base/files/file.h"

using namespace ubique;
using namespace ubique::test;
using engine::write_checked;

namespace fs = std::filesystem;

TEST_CASE("write checked: what passes its check stays") {
  const ScratchFolder folder;
  const auto path = folder / "model.onnx";
  write_checked(path, "test.export", [&] { write_file(path, "weights"); });
  CHECK(read_file(path) == "weights");
}

TEST_CASE("write checked: a read-back that throws leaves no file, folder or data file") {
  const ScratchFolder folder;
  const auto file = folder / "model.onnx", data = folder / "model.onnx.data";
  const auto fail_after_file = [&] {
    write_file(file, "weights");
    write_file(data, "more");
    fail(ErrorKind::Parity, "[test.export] other values.");
  };
  CHECK(refusal_of(ErrorKind::Parity, [&] { write_checked(file, "test", fail_after_file); }) ==
        "[test.export] other values.");
  const auto model = folder / "model";
  const auto fail_after_folder = [&] {
    make_folder(model);
    write_file(model / "part", "weights");
    throw std::runtime_error("out of memory");  // any exception, not only ours
  };
  CHECK_THROWS_AS(write_checked(model, "test", fail_after_folder), std::runtime_error);
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("write checked: files that were there before stay") {
  const ScratchFolder folder;
  const auto path = folder / "model";
  write_file(path, "mine");
  CHECK(refusal_of(ErrorKind::Usage, [&] {
          write_checked(path, "test.export", [] { FAIL("must not run"); });
        }) == "[test.export] " + path.string() + " exists already; expected a new name.");
  CHECK(read_file(path) == "mine");
  write_file(folder / "other.data", "mine");
  CHECK_THROWS(write_checked(folder / "other", "test", [] { throw std::runtime_error("full"); }));
  CHECK(read_file(folder / "other.data") == "mine");
}

TEST_CASE("write checked: tensors are compared by bits, in which a NaN equals itself") {
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  const engine::NamedTensors wanted = {{"w", at::tensor({nan, 0.F, 1.F})}};
  engine::check_same_tensors(wanted, {{"w", wanted[0].second.clone()}}, "test");
  engine::check_same_tensors(wanted, {{"w", wanted[0].second.to(at::kDouble)}}, "test");
  const auto refused = [&](const at::Tensor& other) {
    CHECK(contains(refusal_of(ErrorKind::Parity,
                              [&] {
                                engine::check_same_tensors(wanted, {{"w", other}}, "test");
                              }),
                   "got other values in w"));
  };
  refused(at::tensor({nan, -0.F, 1.F}));
  refused(at::tensor({nan, 0.F, nan}));
  refused(at::tensor({nan, 0.F}));
}

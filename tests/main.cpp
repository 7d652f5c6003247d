// SPDX-License-Identifier: Apache-2.0
// Entry of every test program; UBIQUE_TEST_DEVICE chooses the device of suites that take one.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

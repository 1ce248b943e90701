/* SPDX-License-Identifier: Apache-2.0
 *
 * mocked.h - a mock host for each test of a program: set_up() makes it, and what it found wrong fails the test.
 */
#ifndef TESTS_MOCKED_H
#define TESTS_MOCKED_H

#include "harness.h"
#include "keel/mock.h"

static struct keel_mock *mock;

static inline void tear_down(void)
{
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

#endif

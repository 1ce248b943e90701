/* SPDX-License-Identifier: Apache-2.0
 *
 * with_resources.h - a mock daemon in which the real module resources runs.
 */
#ifndef TESTS_WITH_RESOURCES_H
#define TESTS_WITH_RESOURCES_H

#include <stdio.h>
#include <stdlib.h>

#include "harness.h"
#include "keel/mock.h"

static inline struct keel_mock *mock_with_resources_of(uint32_t daemon)
{
	const char *build = getenv("KEELSON_BUILD");
	struct keel_mock *made = keel_mock_new(daemon);
	struct keel_err err = { 0 };
	char path[4096];

	snprintf(path, sizeof(path), "%s/modules/resources.so", build != NULL ? build : ".");
	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load_file(made, path, NULL, &err));
	return made;
}

static inline struct keel_mock *mock_with_resources(void)
{
	return mock_with_resources_of(KEEL_SERVER);
}

#endif

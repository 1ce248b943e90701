/* SPDX-License-Identifier: Apache-2.0
 *
 * check_rows.c - tables of descriptors.
 */
#include "check_rows.h"

#include <string.h>

#include "keel/sized.h"

bool said(const char *text)
{
	return text != NULL && text[strspn(text, " \t\n")] != '\0';
}

struct keel_tap tap_row(const struct keel_module *m, uint32_t i)
{
	struct keel_tap t;

	KEEL_SIZED(&t, (const char *)m->taps + (size_t)i * m->taps[0].size);
	return t;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_frame.c - any stream, cut into pieces that the first byte decides, never breaks the reader.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Read all frames there are; touch every byte handed out. 0 or -EPROTO. */
static int drain(struct frame_reader *r, volatile unsigned *sum)
{
	struct frame f;
	int got;

	while ((got = frame_next(r, &f)) == 1) {
		if (f.len > r->body_max)
			abort();
		for (uint32_t i = 0; i < f.len; i++)
			*sum += (unsigned char)f.body[i];
	}
	return got;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct frame_reader r;
	volatile unsigned sum = 0;
	size_t step;

	if (size == 0)
		return 0;
	step = (size_t)data[0] + 1;
	frame_reader_init(&r, 4096);
	for (size_t at = 1; at < size; at += step) {
		size_t n = size - at < step ? size - at : step, len;
		char *room;

		if (frame_reader_room(&r, n, &room, &len) < 0 || len < n)
			abort();
		memcpy(room, data + at, n);
		frame_reader_added(&r, n);
		if (drain(&r, &sum) < 0)
			break;
		if (r.size > 2 * (size + 4096)) /* it grew with a promise, not with bytes */
			abort();
	}
	frame_reader_fini(&r);
	return 0;
}

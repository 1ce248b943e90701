/* SPDX-License-Identifier: Apache-2.0
 *
 * events.c - the table of events: event.def, with what each one shows a script and what becomes of the result.
 */
#include "server.h"

enum { KEEL_POINT_none };

/* Of EVENT_ABSENT: nothing is shown to a script. */
#define server_fill_provision NULL
#define server_settle_provision NULL
/* A script changes nothing there. */
#define server_settle_jobobit server_settle_note
#define server_settle_management server_settle_note
#define server_settle_modifyvnode server_settle_note
#define server_settle_resv_confirm server_settle_note
#define server_settle_resv_begin server_settle_note
#define server_settle_resv_end server_settle_note

#define FUNCTIONS_SERVER(name) server_fill_##name, server_settle_##name
#define FUNCTIONS_MOM(name) host_fill_##name, host_settle_##name
#define EVENT(name, constant, bit, daemon, point, flags) \
	[EVENT_##name] = { #name, #constant, bit, KEEL_##daemon, KEEL_POINT_##point, flags, FUNCTIONS_##daemon(name) },
const struct event_row events[EVENTS] = {
#include "event.def"
};
#undef EVENT

const struct event_row *event_by_name(const char *name, size_t len)
{
	for (uint32_t i = 0; i < EVENTS; i++)
		if (strlen(events[i].name) == len && memcmp(events[i].name, name, len) == 0)
			return &events[i];
	return NULL;
}

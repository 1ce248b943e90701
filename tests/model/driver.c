/* SPDX-License-Identifier: Apache-2.0
 *
 * driver.c - random users.
 */
#include <string.h>
#include <stdlib.h>

#include "model.h"
#include "msg/msg.h"
#include "msg/out.h"

static void job_submit(struct sim *s)
{
	struct keel_out *o = ask_begin("submit");

	ask_attrs(o);
	ask_attr(o, "Resource_List", "select", "1:ncpus=1", 0);
	out_close(o);
	out_put_str(o, "script", "sleep");
	out_put_str(o, "dest", "");
	ask(s, 1, o, "submit", NULL, NULL);
}

int drive(struct sim *s)
{
	ask_manage(s, 0, 1, "workq", NULL, NULL, NULL, 0);
	ask_manage(s, 2, 1, "workq", "queue_type", NULL, "e", 0);
	ask_manage(s, 2, 1, "workq", "enabled", NULL, "1", 0);
	ask_manage(s, 2, 1, "workq", "started", NULL, "1", 0);
	ask_manage(s, 2, 0, "", "default_queue", NULL, "workq", 0);
	for (int64_t i = 0; i < s->conf.hosts; i++) {
		char name[32];
		snprintf(name, sizeof(name), "n%lld", (long long)i + 1);
		ask_manage(s, 0, 3, name, NULL, NULL, NULL, 0);
	}
	for (uint64_t i = 0; i < s->conf.steps; i++) {
		job_submit(s);
		sim_run_until(s, s->now_ms + chance_wait(&s->driver, 5000));
	}
	sim_run_until(s, s->now_ms + 3600000);
	return s->wrong[0] ? 1 : 0;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * verbs.h - a verb of the command keelson, from here or from another host, to its one answer.
 */
#ifndef KEELSON_VERBS_H
#define KEELSON_VERBS_H

#include "keel/api.h"
#include "module/inside.h"
#include "registry/registry.h"

/* Owned by whoever answers it. */
struct asked {
	struct modules *all;
	struct keel_req *req;
	char *peer;	/* instead of it: the server that asks, and by which number it knows the question */
	int64_t number;
	char *who;
	const char *arg; /* the first argument, or NULL; borrowed until the verb's function returns */
};

struct verb {
	const char *name;
	uint32_t roles; /* who may */
	void (*fn)(struct asked *a);
};
const struct verb *verb_find(const char *name); /* NULL: there is none */
/* `asked` is copied; it is answered now or later. 0, -ENOMEM: it is not. */
int verb_ask(const struct verb *v, const struct asked *asked);

#define verbs_group(all, name, type) \
	((const type *)registry_service((all)->parts->registry, (name), 0, NULL, NULL))

/* afar.c */
extern const struct keel_request_def afar_request;
int afar_open(struct modules *all); /* 0, -ENOMEM */
void afar_close(struct modules *all);
void afar_answer(const struct asked *a, struct keel_out *out); /* moved */
void afar_refuse(const struct asked *a, int32_t code, const char *text);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * message.h - bodies of messages, requests and other daemons; a part of inside.h, which includes it.
 */
#ifndef KEEL_MOCK_MESSAGE_H
#define KEEL_MOCK_MESSAGE_H

enum node_kind { NODE_NIL, NODE_INT, NODE_STR, NODE_BYTES, NODE_ARRAY, NODE_MAP };
struct node {
	struct node *next, *child, *last; /* of its children */
	enum node_kind kind;
	char *key, *bytes;
	uint32_t len, n;
	int64_t i;
};
struct node *node_add(struct node *to, enum node_kind kind, const char *key);
void node_text(struct node *n, const char *text); /* NULL: nil */
void node_free(struct node *n);
struct node *node_copy(const struct node *from);
void node_json(const struct node *n, struct text *t);
const struct node *node_get(const struct node *map, const char *key);
struct node *node_of_text(const char *libconfig); /* a map; ends the program on a bad one */
struct keel_msg *msg_make(struct keel_mock *mock, struct node *root); /* moved */
void msg_end(struct keel_msg *m);
struct node *out_take(struct keel_out *o, const char *what); /* NULL: it has ended, or failed */
struct node *out_value(struct keel_out *o, const char *what); /* a new value of the open array */
struct keel_out *out_make(struct mod *m);

struct request {
	struct request *next;
	struct keel_request_def def;
	struct mod *owner;
	const void *row;
};
int request_add(struct mod *m, const void *row, struct keel_err *err);
void request_remove(struct mod *m, const void *row);
void requests_leave(struct mod *m); /* those it has not answered */
bool requests_concern(const struct mod *m);
const struct keel_session *req_session(struct keel_req *q);
void links_leave(struct mod *m);
void requests_fini(struct keel_mock *mock);
void links_fini(struct keel_mock *mock);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * talk.h - what the daemon and keelson-pyhost say to each other: one value in each frame of service supervise.
 *
 * A value, in this machine's byte order:
 *	'n'				nothing (None)
 *	'i' int64
 *	's' uint32 length, bytes	a text, not terminated; UTF-8 where it is, other bytes are carried as they are (surrogateescape)
 *	'l' uint32 count, values	a list
 *	'm' uint32 count, pairs		a map: each key an 's', then its value; in order
 * At most TALK_DEPTH deep. Both ends check everything: what does not parse ends the process.
 *
 * Frames to the process may have 64 MiB, frames from it 1 MiB (service supervise). `keelson-pyhost` runs in its temporary folder (TMPDIR), its
 * environment has PATH, LANG, TMPDIR, OPENBLAS_NUM_THREADS and, where there is a configuration, PBS_HOOK_CONFIG_FILE.
 *
 * To the process:
 *	["setup", {role, host, server, version, hook, user, script, path, config, tables, conf}]	first; once
 *	["call", number, EVENT]
 *	["answer", value]						to its one open question
 * From it:
 *	["up"]								the script is compiled, calls may come
 *	["broken", text]						it cannot be compiled: why
 *	["log", events, class, object, text]
 *	["ask", what, ...]						answered in order; the script stands still meanwhile
 *	["result", number, RESULT]					calls are done one at a time, in their order
 *
 * With the argument --check it compiles and runs nothing; there is no setup, no "up":
 *	["check", number, name, script]					to it
 *	["checked", number, text | nothing]				from it: why it is no script, in their order
 *
 * setup: role "server" or "mom"; host: its short name; version: of Keelson; hook: the hook's name; user: "" or the one who owns the job;
 *	script: the text; path: its name in tracebacks; config: path of the configuration file, or nothing; conf: {name: value} of
 *	pbs.conf; tables:
 *	attrs		{class: {attribute: [type, flags, sentence]}} of classes job, node, queue, server, resv; type: name of the TYPE
 *			row; flags: enum keel_attr_flag, and TALK_ATTR_READONLY where the row has no writers
 *	resources	{name: [type, flags]}
 *	node_states	{word: bit}		rows of NODE_STATE, base states included
 *	events		{name: [CONSTANT, bit, is of moms]}
 * EVENT: {type: bit, event: name, hook: {name, type, enabled, event, user, alarm, order, freq, debug, fail_action}, requestor,
 *	requestor_host, params: {name: value}}. A value is a text, a number, a list or map of texts, an OBJECT, or a map of OBJECTs by
 *	name (vnode_list, vnode_list_fail, job_list, resv_list).
 * OBJECT: {class, id, attrs: {name: text | {key: text}}, facts: {...}}: what is set. facts, of jobs on moms: primary (1, 0),
 *	failed_moms, succeeded_moms (lists), stdout, stderr (paths), tolerant (1, 0), checkpointed. Of vnodes in modifyvnode: state (bits).
 *	An OBJECT `server` has the id "" in questions: this server.
 * Of params: management is a map {cmd, objtype, objname, request_time, reply_code, reply_auxcode, reply_choice, reply_text, attribs}, attribs
 *	a list of maps {name, resource, value, op, flags, sisters}. modifyjob and modifyresv: job, resv have the requested values alone, job_o,
 *	resv_o all. movejob: job.queue is the destination, src_queue an OBJECT. In periodic vnode_list and resv_list are maps of OBJECTs; of more
 *	than 100 the values are nothing: what is used is asked for.
 * RESULT: {how: "accept" | "reject" | "exception", text, trace, code, changes: [[target, attribute, key | nothing, text | nothing]],
 *	rerun, delete, restart_cycle (1), reboot (command), retire (1: this process must not serve another call)}.
 *	target: "job", "resv", "vnode:NAME", "job:ID", "event" (progname; argv and env: key is the index or the name; the whole list is
 *	given: first one with key nothing and text nothing clears it). A text of nothing: unset.
 *	Attributes that are none: "name" of "vnode:NAME", that vnode is added (exechost_startup, exechost_periodic); "rerun" and
 *	"delete" of "job:ID", "1": that of job_list is to be. At runjob the script may set the state of vnodes of pbs.server(), too.
 * Questions, and their answers:
 *	["ask", "object", class, id]			OBJECT or nothing
 *	["ask", "list", class, after, of]		[[OBJECT ...], next | nothing]: up to 20, behind the id `after` (nothing: from the first); of:
 *							nothing, or the name of a queue, whose jobs are wanted. The next question has
 *							after = next. There may be a next behind an empty page; nothing: that was all
 *	["ask", "check", class, attribute, key, text]	nothing, or why this is no value
 *	["ask", "keep", job, select]			release_nodes(keep_select=): a map {exec_vnode, exec_host, exec_host2, schedselect}, or nothing
 *	["ask", "release", job, [vnodes]]		the same for node_list=
 */
#ifndef PYTHON_HOOKS_TALK_H
#define PYTHON_HOOKS_TALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TALK_DEPTH 8
#define TALK_ATTR_READONLY 0x10000 /* pbs refuses to set it at events of a server */

/* ---- writing: a frame that is being made. No memory: `failed`, to be looked at at the end ---------------------------- */
struct pack {
	char *data;
	uint32_t len, size;
	bool failed;
};
void pack_fini(struct pack *p);
void pack_nothing(struct pack *p);
void pack_int(struct pack *p, int64_t value);
void pack_text(struct pack *p, const char *text); /* NULL: nothing */
void pack_bytes(struct pack *p, const void *text, uint32_t len);
/* Begin a list or a map; returns what pack_close() needs. Values or pairs of pack_key() and a value follow. */
uint32_t pack_open_list(struct pack *p);
uint32_t pack_open_map(struct pack *p);
void pack_close(struct pack *p, uint32_t open, uint32_t count);
void pack_key(struct pack *p, const char *key);
/* A pair at once. */
void pack_pair_text(struct pack *p, const char *key, const char *text);
void pack_pair_int(struct pack *p, const char *key, int64_t value);
void pack_plain(struct pack *p, const void *bytes, uint32_t len); /* values that were made elsewhere, as they are */
void pack_raw(struct pack *p, const struct pack *value); /* a whole value that was made elsewhere */

/* ---- reading: a value in a frame; what it points to is the frame's ---------------------------------------------------- */
struct value {
	char kind; /* 'n' 'i' 's' 'l' 'm'; 0: there is none */
	uint32_t count; /* of 'l', 'm' */
	int64_t i;
	const char *s; /* of 's', not terminated */
	uint32_t len;
	const char *at, *end; /* of 'l', 'm': the first of its values */
};
/* Checks the whole frame, to its last byte. False: it is no value. */
bool value_read(const void *frame, uint32_t len, struct value *ret);
/* The value behind *at of a list or map that is walked; a map's pairs are read as two values. False at the end. */
bool value_next(const struct value *of, const char **at, struct value *ret);
bool value_nth(const struct value *list, uint32_t n, struct value *ret); /* false: it has fewer */
bool value_find(const struct value *map, const char *key, struct value *ret); /* false: it has no such key */
bool value_is(const struct value *v, const char *text);
int64_t value_int(const struct value *map, const char *key, int64_t otherwise);
char *value_text(const struct value *v); /* a terminated copy, which the caller frees; NULL: it is no text, or no memory. A NUL in it ends it */
char *value_nth_text(const struct value *list, uint32_t n); /* value_text() of value_nth() */

/* A whole value as JSON, in one line: json.c */
void json_write(FILE *f, const struct pack *p);
#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * terms.h - built-in resources as TERM rows, for pbs_resources(7B): words for types and uses of builtin.def. Included once, by
 * resources.c.
 */
#define WORDS_BOOL "True or False"
#define WORDS_FLOAT "number"
#define WORDS_LONG "whole number"
#define WORDS_SIZE "size"
#define WORDS_STRING "text"
#define WORDS_STRINGS "list of texts"
#define WORDS_TIME "time"

#define USE_AMOUNT "of chunks, counted"
#define USE_REPORTED "of chunks, not counted"
#define USE_CHUNK "of chunks, not counted"
#define USE_SUMMED "of chunks, summed up"
#define USE_JOB "job-wide"
#define USE_JOB_MOM "job-wide"
#define USE_RUNNING "job-wide, may change while the job runs"
#define USE_RUNNING_MOM "job-wide, may change while the job runs"
#define USE_READONLY "job-wide, set by operators, also while the job runs"
#define USE_COMPUTED "set by the server alone"
#define USE_COMPUTED_SUM "set by the server alone, summed up"

#define RES(res_name, res_type, use, words)                                                        \
	static const struct keel_term_def term_##res_name = {                                      \
		.size = sizeof(struct keel_term_def), .name = #res_name, .doc = (words),           \
		.topic = "resource", .form = WORDS_##res_type "; " USE_##use };
#include "builtin.def"
#undef RES

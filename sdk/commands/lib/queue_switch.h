/* SPDX-License-Identifier: Apache-2.0
 *
 * queue_switch.h - qenable, qdisable, qstart, qstop: set one attribute of queues.
 */
#ifndef KEELSON_COMMANDS_QUEUE_SWITCH_H
#define KEELSON_COMMANDS_QUEUE_SWITCH_H

struct queue_switch {
	const char *command;
	const char *usage;
	const char *attribute;
	const char *value;
};

/* Runs the whole command; returns the exit status. */
int queue_switch_main(const struct queue_switch *what, int argc, char **argv);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/wire.h - numbers of the wire format; sdk/doc/wire.md describes it.
 */
#ifndef KEEL_WIRE_H
#define KEEL_WIRE_H

#define WIRE_VERSION 1
#define WIRE_HEADER_SIZE 16u
#define WIRE_BODY_MAX (128u * 1024u * 1024u)
/* Longest script of a job: with all that a start says beside it, half of what a link takes. */
#define WIRE_SCRIPT_MAX (16u * 1024u * 1024u)
#define WIRE_DEPTH_MAX 16

enum wire_type {
	WIRE_REQUEST = 1,
	WIRE_REPLY = 2,
	WIRE_PART = 3,
	WIRE_EVENT = 4,
	WIRE_PING = 5,
	WIRE_PONG = 6,
	WIRE_GOODBYE = 7, /* to a client: what has no reply before it was not read */
};

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/service/carrier.h - service "carrier" (offered by link-tcp): messages to other hosts; and what the daemon
 * offers to the module that carries them, the group "carry".
 *
 *	keel_link_send() -> the daemon: waits for the store, in order -> keel_carrier_send() -> ... the other host's carrier
 *	keel_link_on()   <- the daemon: name and role of the sender   <- keel_carry_in()    <- ...
 *
 * Whom a peer is the carrier has verified, by a key and not by what the peer says. Up, grace, down, and which
 * messages are of a link that was lost are the daemon's; connections, heartbeats, queues and their bounds the carrier's.
 */
#ifndef KEEL_SERVICE_CARRIER_H
#define KEEL_SERVICE_CARRIER_H

#include "keel/types.h"
#include "keel/use.h"

#define KEEL_CARRIER_ADDRESS 320 /* room for an address and its NUL */
#define KEEL_CARRIER_KEY 48	 /* room for a public key and its NUL */

struct keel_carrier_api {
	uint32_t size, version;
	struct keel_mod *self; /* passed by the functions below: the first argument, where it is a keel_mod */
	/* For the daemon: the body of a message to a peer that keel_carry_up() named; borrowed. What cannot be sent ends the
	 * link, but not within this call. */
	void (*send)(struct keel_mod *, const char *peer, const void *bytes, uint32_t len);
	/* For modules on any host: a mom is admitted as `host` with this public key (as keelson-key shows it), whether it
	 * is enrolled or not. It is dialled at `address` ("host:port", "[host]:port"), again after each loss; NULL: it dials. A
	 * host that is expected already gets the new address and key; NULL leaves the address, with another key the link ends.
	 * Calls are counted: key NULL takes one back, and with the last one the host is expected no more and a link to it
	 * ends, but for one that is enrolled. Forgotten at a restart. With the key of this mom's server nothing happens: that
	 * host is in the server's process, and the peer "server". Fails with -EINVAL for a bad name, key or address, -ENOMEM, or the error why this
	 * daemon has no key of its own. */
	int32_t (*expect)(struct keel_mod *, const char *host, const char *address, const char *key);
	/* This daemon, as others give it to expect(): where it takes links ("": nowhere), and its public key. Fails with the
	 * error why it has no key. */
	int32_t (*own)(struct keel_mod *, char address[KEEL_CARRIER_ADDRESS], char key[KEEL_CARRIER_KEY]);
	/* The public key that a peer has proved. Fails with -ENOTCONN when there is no link to it. */
	int32_t (*proved)(struct keel_mod *, const char *peer, char key[KEEL_CARRIER_KEY]);
};

KEEL_SERVICE(carrier);
#define keel_carrier_send(...) KEEL_CALL(carrier, send, __VA_ARGS__)
#define keel_carrier_expect(...) KEEL_CALL(carrier, expect, __VA_ARGS__)
#define keel_carrier_own(...) KEEL_CALL(carrier, own, __VA_ARGS__)
#define keel_carrier_proved(...) KEEL_CALL(carrier, proved, __VA_ARGS__)

/* For the module that offers "carrier" alone: others get -EPERM, or nothing happens. */
struct keel_carry_api {
	uint32_t size, version;
	/* A link to this peer is there, or another one than before: peer_up is raised. `daemon` is one bit of enum keel_daemon.
	 * When it is lost and not back after so long, peer_down. Fails with -EBUSY when that host is in this process, or the
	 * daemon ends; -EPERM for another module; -ENOMEM. */
	int32_t (*up)(struct keel_mod *, const char *peer, uint32_t daemon, int64_t grace_ms);
	void (*lost)(struct keel_mod *, const char *peer); /* There is no link to it any more. */
	/* The body of a message that the peer sent; borrowed. Fails with -ENOTCONN when the peer is not up, -EPROTO when it
	 * is no message: the caller ends the link. */
	int32_t (*in)(struct keel_mod *, const char *peer, const void *bytes, uint32_t len);
};

KEEL_SERVICE(carry);
#define keel_carry_up(...) KEEL_CALL_PLAIN(carry, up, __VA_ARGS__)
#define keel_carry_lost(...) KEEL_CALL_PLAIN(carry, lost, __VA_ARGS__)
#define keel_carry_in(...) KEEL_CALL_PLAIN(carry, in, __VA_ARGS__)

#endif

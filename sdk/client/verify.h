/* SPDX-License-Identifier: Apache-2.0
 *
 * verify.h - look at attribute values before anything is sent.
 *
 * Only values whose rule is known here are judged. A name that is not known is sent: the server may
 * have a module that knows it, and answers PBSE_NOATTR when not.
 */
#ifndef CLIENT_VERIFY_H
#define CLIENT_VERIFY_H

#include "pbs_ifl.h"

enum verify_for { VERIFY_SUBMIT, VERIFY_ALTER, VERIFY_SELECT, VERIFY_RESV, VERIFY_MANAGE,
		  VERIFY_NAMES /* of a manager: values mean nothing */ };

/* 0, or the first error: pbs_errno, the text and the refused attributes of `c` are set. A success
 * clears what the last call left, an unknown `c` answers PBSE_IVALREQ. */
int verify(int c, enum verify_for what, const struct attropl *list);

/* The same for pbs_manager; `obj` and `cmd` are enum mgr_obj and mgr_cmd. */
int verify_manager(int c, int cmd, int obj, const struct attropl *list);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * verify.h - checks attribute values before they are sent.
 *
 * Only values with a rule here are checked. An unknown name is sent: a module of the server may know it, else the
 * request fails with PBSE_NOATTR.
 */
#ifndef CLIENT_VERIFY_H
#define CLIENT_VERIFY_H

#include "pbs_ifl.h"

enum verify_for { VERIFY_SUBMIT, VERIFY_ALTER, VERIFY_SELECT, VERIFY_RESV, VERIFY_RESV_ALTER, VERIFY_MANAGE,
		  VERIFY_NAMES /* of a manager: values are ignored */ };

/* Returns 0, or the first error, with pbs_errno, the text and the refused attributes of `c` set. A success clears those
 * of the last call; fails with PBSE_IVALREQ for an unknown `c`. */
int verify(int c, enum verify_for what, const struct attropl *list);

/* The same for pbs_manager; `obj` and `cmd` are enum mgr_obj and mgr_cmd. */
int verify_manager(int c, int cmd, int obj, const struct attropl *list);

#endif

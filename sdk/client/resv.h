/* SPDX-License-Identifier: Apache-2.0
 *
 * resv.h - reservations in a status reply.
 */
#ifndef CLIENT_RESV_H
#define CLIENT_RESV_H

#include "pbs_ifl.h"

/* Programs compare reserve_state with a number of enum resv_states: a name becomes that number, in decimal. */
void resv_numbers(struct batch_status *one);

#endif

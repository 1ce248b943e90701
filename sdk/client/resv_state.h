/* SPDX-License-Identifier: Apache-2.0
 *
 * resv_state.h - reservations in a status reply.
 */
#ifndef CLIENT_RESV_STATE_H
#define CLIENT_RESV_STATE_H

#include "pbs_ifl.h"

/* Programs compare reserve_state with a number of enum resv_states: a name becomes that number, in decimal. */
void resv_numbers(struct batch_status *one);

#endif

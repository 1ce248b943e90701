# SPDX-License-Identifier: Apache-2.0
MODULE_LIBS := $(ICAL_LIBS)
MODULE_CFLAGS := $(ICAL_CFLAGS)

# SPDX-License-Identifier: Apache-2.0
MODULE_LIBS := $(SODIUM_LIBS)
MODULE_CFLAGS := $(SODIUM_CFLAGS)
# keelson-key is for administrators
MODULE_BIN := key

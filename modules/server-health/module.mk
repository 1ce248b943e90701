# SPDX-License-Identifier: Apache-2.0
#
# keelson-health asks the server as a command does
MODULE_BIN := health
PROGRAM_LIBS_health := $(CLIENT_LIBS)
bin/keelson-health: libpbs.a

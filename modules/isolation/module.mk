# SPDX-License-Identifier: Apache-2.0
#
# The rules for what may run in a process are those of keelson-module.
libexec/keelson/keelson-modhost: lib/libmodfile.a

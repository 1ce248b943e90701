# SPDX-License-Identifier: Apache-2.0
#
# The shepherd starts once per job: static, so that exec is cheap.
tests/modules/executor/test_executor tests/modules/executor/test_bounds tests/modules/executor/test_crash tests/modules/executor/test_hostile tests/modules/executor/test_part tests/modules/executor/test_program tests/modules/executor/test_memory tests/modules/executor/test_threshold tests/modules/executor/test_shrink: obj/modules/executor/shepherd/tree.o
libexec/keelson/keelson-shepherd: LDFLAGS += $(if $(findstring sanitize,$(CFLAGS)),,-static-pie)
tests/modules/executor/test_hostile: obj/modules/executor/shepherd/spool.o

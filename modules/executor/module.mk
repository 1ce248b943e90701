# SPDX-License-Identifier: Apache-2.0
#
# mock.c is for the tests. The shepherd starts once per job: static, so that exec is cheap.
MODULE_EXCLUDE := mock.c
tests/modules/executor/test_executor: obj/modules/executor/mock.o obj/modules/executor/shepherd/tree.o
libexec/keelson/keelson-shepherd: LDFLAGS += $(if $(findstring sanitize,$(CFLAGS)),,-static)

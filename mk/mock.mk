# SPDX-License-Identifier: Apache-2.0
#
# libkeelson-mock.a: the host that tests of modules are linked with. It sees the SDK's headers alone.
MOCK := libkeelson-mock.a
MOCK_O := $(call OBJECTS,$(call NAMED,sdk/mock,*.c))
$(MOCK_O): FLAGS = -I$(S)/sdk/include $(LIBCONFIG_CFLAGS)
$(MOCK): $(MOCK_O)
	$(ARCHIVE)
KEELSON_ALL += $(MOCK)

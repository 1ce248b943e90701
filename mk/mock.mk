# SPDX-License-Identifier: Apache-2.0
#
# libkeelson-mock.a: the host that tests of modules are linked with: the kernel, with the loop of sdk/mock in the place of
# kernel/loop. One object, in which only the functions of keel/mock.h have names: a test may call its own what it likes.
MOCK := libkeelson-mock.a
MOCK_O := $(call OBJECTS,$(call NAMED,sdk/mock,*.c))
MOCK_LIBS := $(filter-out $(UV_LIBS),$(KERNEL_LIBS))
$(MOCK_O): FLAGS = $(KERNEL_FLAGS)
$(MOCK): obj/sdk/mock.o
	$(ARCHIVE)
obj/sdk/mock.o: $(MOCK_O) lib/libkernel.a lib/libwire.a lib/libmodfile.a
	$(DO)$(CC) -r -nostdlib -o $@.all $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group && \
		$(OBJCOPY) --localize-hidden $@.all $@ && rm -f $@.all
OBJCOPY ?= objcopy
KEELSON_ALL += $(MOCK)

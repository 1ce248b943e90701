# SPDX-License-Identifier: Apache-2.0
#
# libkeelson-mock.a: the host that tests of modules are linked with. It sees the SDK's headers, types and rules alone. One
# object, in which only the functions of keel/mock.h have names: a test may call its own what it likes.
MOCK := libkeelson-mock.a
MOCK_O := $(call OBJECTS,$(call NAMED,sdk/host,*.c))
MOCK_LIBS := $(filter-out $(UV_LIBS),$(KERNEL_LIBS))
$(MOCK_O): FLAGS = $(KERNEL_FLAGS)
$(MOCK): obj/sdk/mock.o
	$(ARCHIVE)
obj/sdk/mock.o: $(MOCK_O) lib/libkernel.a lib/libwire.a lib/libmodfile.a
	$(DO)$(CC) -r -nostdlib -o $@.all $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group && \
		$(OBJCOPY) --localize-hidden $@.all $@ && rm -f $@.all
OBJCOPY ?= objcopy
KEELSON_ALL += $(MOCK)

# tests/conformance/<name>.c: modules that are run in the daemon's engine and in the mock
CONFORMANCE := $(patsubst %.c,%.so,$(call NAMED,tests/conformance,*.c))
obj/tests/conformance/%.o: FLAGS = $(MODULE_FLAGS)
tests/conformance/%.so: obj/tests/conformance/%.o
	$(call SAY,LINK)
	@mkdir -p $(@D)
	$(DO)$(MODULE_LINK) -o $@ $^
tests-unit: $(CONFORMANCE)

# SPDX-License-Identifier: Apache-2.0
#
# Programs for administrators and vendors: a folder of sdk/tools each. Options that modules add to
# commands are data: modules/<name>/options/<command>/*.opt.
TOOLS := $(sort $(notdir $(patsubst %/,%,$(dir $(call NAMED,sdk/tools/*,*.c)))))
obj/sdk/tools/%.o: FLAGS = -I$(S)/sdk/include -I$(S)/sdk -I$(S)/kernel $(JANSSON_CFLAGS) \
	-DKEELSON_DATA_DIR='"$(SDK_DATA)"' -DKEELSON_DATA_BESIDE='"$(call RELATIVE,$(SDK_DATA),$(bindir))"' \
	-DKEELSON_MODULE_DIR='"$(moduledir)"' -DKEELSON_MODULE_BESIDE='"$(call RELATIVE,$(moduledir),$(bindir))"' \
	-DKEELSON_LIBEXEC_DIR='"$(LIBEXEC)"' -DKEELSON_LIBEXEC_BESIDE='"$(call RELATIVE,$(LIBEXEC),$(bindir))"'

# keelson-module runs modules on the mock host
TOOL_ARCHIVES_keelson-module := $(call OBJECTS,$(call NAMED,sdk/rules,*.c)) libkeelson-mock.a
TOOL_LIBS_keelson-module = $(MOCK_LIBS) -Wl,--wrap=free

define TOOL_RULES
bin/$(1): $(call OBJECTS,$(call NAMED,sdk/tools/$(1),*.c)) $(TOOL_ARCHIVES_$(1)) lib/libmodfile.a
	$$(call SAY,LINK)
	@mkdir -p bin
	$$(DO)$$(PROGRAM_LINK) -o $$@ $$^ $$(JANSSON_LIBS) $$(TOOL_LIBS_$(1))
endef
$(foreach t,$(TOOLS),$(eval $(call TOOL_RULES,$(t))))

.SECONDEXPANSION:
OPTION_DIR := share/keelson/options
OPTIONS := $(foreach f,$(call NAMED,modules/*/options/*,*.opt),$(OPTION_DIR)/$(word 4,$(subst /, ,$(f)))/$(notdir $(f)))
# OPTION_SOURCE(command/file)
OPTION_SOURCE = $(firstword $(wildcard $(S)/modules/*/options/$(1)))
$(OPTIONS): $(OPTION_DIR)/%: $$(call OPTION_SOURCE,$$*)
	@mkdir -p $(@D)
	$(DO)cp $< $@

# tests/bench/bench_<x>.c: programs that measure, run by scripts/bench
BENCHES := $(patsubst %.c,%,$(call NAMED,tests/bench,bench_*.c))
obj/tests/bench/%.o: FLAGS = $(TEST_FLAGS) -I$(S)/modules
ifeq ($(filter python-hooks,$(MODULES)),)
BENCHES := $(filter-out tests/bench/bench_python,$(BENCHES))
else
tests/bench/bench_python: lib/modules/libpython-hooks.a
endif
tests/bench/%: obj/tests/bench/%.o $(TEST_ARCHIVES)
	$(call SAY,LINK)
	@mkdir -p $(@D)
	$(DO)$(PROGRAM_LINK) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(TEST_LIBS)
tests-bench: keelson-all $(BENCHES)

tests-bench: tests/fixtures/reject.so tests/fixtures/trouble.so

KEELSON_ALL += $(addprefix bin/,$(TOOLS)) $(OPTIONS)

.PHONY: tests-bench

# tests/fuzz/fuzz_<x>.c: one program each with driver.c, which makes inputs without a fuzzer
FUZZ := $(patsubst %.c,%,$(call NAMED,tests/fuzz,fuzz_*.c))
# FUZZ_OF(x, module): fuzz_x is about a module, and goes with it
define FUZZ_OF
ifeq ($(filter $(2),$(MODULES)),)
FUZZ := $$(filter-out tests/fuzz/fuzz_$(1),$$(FUZZ))
else
tests/fuzz/fuzz_$(1): $$(O_$(2))
endif
endef
$(foreach x,hello:link-tcp isolation:isolation sisters:sisters task_manager:task-manager executor:executor staging:staging \
	mom_config:mom-config tolerate:tolerate-node-failures python_hooks:python-hooks client_relay:client-relay,\
	$(eval $(call FUZZ_OF,$(word 1,$(subst :, ,$(x))),$(word 2,$(subst :, ,$(x))))))
tests/fuzz/fuzz_hello: FUZZ_LIBS = $(SODIUM_LIBS)

obj/tests/fuzz/fuzz_isolation.o: FLAGS = $(TEST_FLAGS) -I$(S)/modules -I$(S)/tests -I$(S)/modules/isolation
obj/tests/fuzz/%.o: FLAGS = $(TEST_FLAGS) -I$(S)/modules -I$(S)/tests
tests/fuzz/fuzz_%: obj/tests/fuzz/fuzz_%.o obj/tests/fuzz/driver.o lib/modules/libresources.a $(TEST_ARCHIVES)
	$(call SAY,LINK)
	@mkdir -p $(@D)
	$(DO)$(PROGRAM_LINK) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(TEST_LIBS) $(FUZZ_LIBS)
tests-fuzz: keelson-all $(FUZZ)

.PHONY: tests-fuzz

# SPDX-License-Identifier: Apache-2.0
#
# The released interface: its layout as assertions, compiled with every build; and modules made with
# frozen headers. tests/fixtures/frozen/<name>.c become tests/frozen/<version>/<name>.so for each
# <version> in sdk/abi/ that is not older than the file wants: its line "since v1.N".
obj/sdk/abi/%.o: FLAGS = -I$(S)/sdk/include -I$(S)/sdk/abi
KEELSON_ALL += obj/sdk/abi/layout.o

ABI_VERSIONS := $(notdir $(patsubst %/include,%,$(wildcard $(S)/sdk/abi/v*/include)))
FROZEN_C := $(notdir $(wildcard $(S)/tests/fixtures/frozen/*.c))
FROZEN := $(foreach v,$(ABI_VERSIONS),$(FROZEN_C:%.c=tests/frozen/$(v)/%.so))

# FROZEN_RULES(version)
define FROZEN_RULES
obj/tests/frozen/$(1)/%.o: $(S)/tests/fixtures/frozen/%.c
	$$(call SAY,CC)
	@mkdir -p $$(@D)
	$$(DO)$$(CC) -fPIC -I$(S)/sdk/abi/$(1)/include $$(K_CFLAGS) -MMD -MP -c -o $$@ $$<
tests/frozen/$(1)/%.so: obj/tests/frozen/$(1)/%.o
	$$(call SAY,LINK)
	@mkdir -p $$(@D)
	$$(DO)$$(MODULE_LINK) -o $$@ $$^
endef
$(foreach v,$(ABI_VERSIONS),$(eval $(call FROZEN_RULES,$(v))))

tests-unit: $(FROZEN)

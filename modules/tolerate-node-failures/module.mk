# SPDX-License-Identifier: Apache-2.0
MODULE_LIBS := -lm

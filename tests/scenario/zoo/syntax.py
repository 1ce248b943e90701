# SPDX-License-Identifier: Apache-2.0
#
# It is no Python.
def (

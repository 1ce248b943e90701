# SPDX-License-Identifier: Apache-2.0
#
# A KeyboardInterrupt, which is no Exception.
raise KeyboardInterrupt

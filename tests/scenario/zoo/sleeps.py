# SPDX-License-Identifier: Apache-2.0
#
# It sleeps beyond its alarm.
import time

time.sleep(600)

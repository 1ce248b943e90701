# SPDX-License-Identifier: Apache-2.0
#
# A thread that stays.
import threading
import time

threading.Thread(target=time.sleep, args=(600,)).start()

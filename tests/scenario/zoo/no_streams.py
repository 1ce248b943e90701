# SPDX-License-Identifier: Apache-2.0
#
# The streams of sys are gone.
import sys

sys.stdout = sys.stderr = sys.stdin = sys.__stdout__ = None
sys.excepthook = sys.displayhook = None

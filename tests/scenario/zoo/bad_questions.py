# SPDX-License-Identifier: Apache-2.0
#
# Questions that make no sense.
import _keelson

for question in ([], [None], ["object"], ["object", "job"], ["object", 7, 7], ["list", "job", {}, []], ["list"] * 100000,
                 ["check", "job", "x" * 900000, None, None], ["keep", "x", "y"], ["release", "x", [["y"] * 1000]], ["result", 1, {}],
                 ["object", "job", "1" * 900000], ["object", "nosuch", "x"], ["list", "job", "z" * 500000, None]):
    try:
        _keelson.ask(question)
    except (ValueError, TypeError, BufferError):
        pass

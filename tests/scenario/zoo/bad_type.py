# SPDX-License-Identifier: Apache-2.0
#
# It raises what does not know its own name.
class Meta(type):
    __name__ = property(lambda self: 1 / 0)
    __module__ = property(lambda self: 1 / 0)


class Bad(Exception, metaclass=Meta):
    @property
    def __traceback__(self):
        raise KeyboardInterrupt


raise Bad

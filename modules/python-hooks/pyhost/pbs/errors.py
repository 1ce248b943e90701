# SPDX-License-Identifier: Apache-2.0
#
# errors.py - what reading and setting of attributes and resources raises.


class EventIncompatibleError(AttributeError):
    """pbs.event() has no member of this name at this event."""


class UnsetAttributeNameError(AttributeError):
    """There is no attribute of this name."""


class BadAttributeValueTypeError(TypeError):
    """A value of another type than the attribute's."""


class BadAttributeValueError(ValueError):
    """The attribute cannot have this value, or cannot be set here."""


class UnsetResourceNameError(LookupError):
    """There is no resource of this name."""


class BadResourceValueTypeError(TypeError):
    """A value of another type than the resource's."""


class BadResourceValueError(ValueError):
    """The resource cannot have this value."""

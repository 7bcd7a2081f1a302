"""For the reference: members with @provided (geex._protocols.provided) are properties."""

from typing import Any

from griffe import Attribute, Class, Extension, Function


class ProvidedProperties(Extension):
    """Show @provided members as properties, not as methods."""

    def on_class_members(self, *, cls: Class, **_: Any) -> None:
        """Replace the functions of a class that has been read."""
        for name, member in list(cls.members.items()):
            if isinstance(member, Function) and any(str(one.value) == "provided" for one in member.decorators):
                shown = Attribute(name, annotation=member.returns, docstring=member.docstring, lineno=member.lineno)
                shown.labels.add("property")
                cls.set_member(name, shown)

"""Agents in Python for tests."""

from citadels_agents import View


class First:
    """Answers with the first legal text, and keeps what it is shown."""

    name = "first"

    def __init__(self) -> None:
        self.views: list[View] = []

    def act(self, view: View) -> str:
        assert not any(getattr(value, "__self__", None) is not None for value in vars(view).values())
        assert view.mask.sum() == len(view.legal())
        assert view.determinise(3).hand(view.seat)
        self.views.append(view)
        return view.legal()[0]


class Broken(First):
    """Fails in the middle of a turn."""

    name = "broken"

    def __init__(self, how: str = "raise") -> None:
        super().__init__()
        self.how = how

    def act(self, view: View) -> str:
        if view.question == "PLAY":
            if self.how == "raise":
                raise RuntimeError("out of ideas")
            return "build Atlantis"
        return super().act(view)

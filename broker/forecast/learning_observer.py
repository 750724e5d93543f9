"""What one subscription has learnt: in objects, or packed in columns that it shares with others.

Here: which of the two, and changing between them. Not here: how (packing), what is learnt from an event (subscription).
"""

from __future__ import annotations

from mypy_extensions import i64

from .counts import Counts
from .forecaster import Forecaster
from .judging import Judge
from .key_state import KeyState
from .keyed_stream import KeyedStream, Observer, StreamKey
from .model_form import ModelForm
from .notifying import IssuedForecast, Notifier, ResolvedForecast
from .packing import pack_blank, packed, unpack
from .progress import Progress
from .settings import Settings
from .verification import Verification


class LearningObserver(Observer):
    """`progress`: of its runs, or its machine. `judge`: of all forecasts, if that is asked for. `models`: the form of
    its model where that may be packed; while it is, there are no forecaster, notifier and verification. Nor are there
    while it is `blank`: nothing has ever happened. `begun`: states of keys, packed or not."""

    __deletable__ = ["forecaster", "notifier", "verification"]  # noqa: RUF012  # as the compiler wants it

    def __init__(
        self,
        number: int,
        since: i64,
        identity: str,
        settings: Settings,
        version: str,
        forecaster: Forecaster | ModelForm,
        stream: KeyedStream,
        progress: Progress,
    ) -> None:
        """`identity`: of the subscription, for ids. `forecaster`: its own, or the form of a model that has learnt
        nothing."""
        super().__init__(number, since)
        self.identity = identity
        self.settings = settings
        self.version = version
        self.stream = stream
        self.progress = progress
        self.judge: Judge | None = None
        self.begun = 0
        self.models: ModelForm | None = None
        self.blank = isinstance(forecaster, ModelForm)
        if isinstance(forecaster, ModelForm):
            self.may_pack(forecaster)
        else:
            self.forecaster = forecaster
            self.notifier = Notifier(identity, settings.threshold, settings.within)
            self.verification = Verification(settings)

    # --- reports ------------------------------------------------------------------------------------------------

    def report(
        self,
        issued: IssuedForecast,
        probability: float,
        interval: tuple[float, float],
        bounds: tuple[float, float] | None,
        calibrated: bool | None,
        label: str,
        state: KeyState | None,
    ) -> None:
        """Issue a forecast. `bounds`: of the probability where parts are taken as independent. `label`: of the state of
        the chain; `state`: of the key, unless it is packed."""
        raise AssertionError

    def report_outcome(self, resolved: ResolvedForecast, time: int) -> None:
        """Resolve a forecast."""
        raise AssertionError

    # --- packed models ------------------------------------------------------------------------------------------

    def may_pack(self, models: ModelForm | None) -> None:
        """Pack its model after a step, if there is a form for it."""
        self.models, self.packs = models, models is not None

    def is_packed(self) -> bool:
        """Whether there are no objects of what it has learnt."""
        return self.blank or self.page is not None

    def begin_packed(self, key: StreamKey) -> None:
        """Something happens for the first time, at that key: begin with a packed model."""
        assert self.models is not None
        self.blank = False
        self.begun += 1
        pack_blank(self, self.models, key)
        self.seat()

    def pack(self, state: KeyState) -> None:
        if self.begun != 1:
            self.packs = False  # it has several keys
        elif self.models is not None and self.judge is None and packed(self, self.models, state):
            del self.forecaster, self.notifier, self.verification
            self.seat()

    def pack_again(self, state: KeyState | None) -> None:
        """Undo `unpack`, which has returned this, after reading."""
        if state is None:
            self.blank = True
            del self.forecaster, self.notifier, self.verification
        elif state not in state.key.due:
            self.pack(state)

    def unpack(self) -> KeyState | None:
        """Have objects, for who reads or changes what it has learnt; returns the state of its key if it was packed."""
        if self.page is None:
            if self.blank:
                self.blank = False
                self.learn_anew()
            return None
        state = unpack(self)
        self.seat()
        return state

    def seat(self) -> None:
        """Its page is another one."""
        raise AssertionError

    def learn_anew(self) -> None:
        """Begin with nothing learnt."""
        assert self.models is not None
        counts = Counts()
        counts.table(self.version)
        self.forecaster = self.settings.forecaster(self.version, self.models.shape, counts)
        self.notifier = Notifier(self.identity, self.settings.threshold, self.settings.within)
        self.verification = Verification(self.settings)

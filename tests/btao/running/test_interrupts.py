"""btao.running.interrupts: a Ctrl-C waits for the end of a block."""

import _thread
import signal
import threading

import pytest

from btao.running.interrupts import held


def test_ctrl_c_takes_effect_at_the_end_of_the_block_and_once():
    done, before = [], signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), held():
        for step in range(3):
            _thread.interrupt_main()
            done.append(step)
    assert done == [0, 1, 2] and signal.getsignal(signal.SIGINT) is before
    with held():
        done.append(3)
    assert done[-1] == 3 and signal.getsignal(signal.SIGINT) is before


def test_the_handler_of_the_caller_is_what_is_called():
    pressed, before = [], signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, lambda number, frame: pressed.append(number))
    try:
        with held():
            _thread.interrupt_main()
            assert pressed == []
        assert pressed == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_where_python_does_not_handle_it_and_in_other_threads_nothing_is_changed():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with held():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    seen = []

    def work():
        with held():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]

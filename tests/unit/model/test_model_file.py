"""Parameter files: what each key means, and that every mistake names file, line and key."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from imbrex.errors import ImbrexError
from imbrex.formats.toml_lines import key_lines
from imbrex.model.model_file import Model, load_model

Parse = Callable[..., Model]

APPLICATION = """\
[[application]]
name = "a"
computation_us = 100
"""
MESSAGE = """\
[[application.message]]
name = "m"
n_sent = 4
"""


def test_all_keys_of_a_message(parse: Parse) -> None:
    model = parse(
        APPLICATION
        + """\
[[application.message]]
name = "m"
count = 2
n_sent = 4
n_received = 4
n_produced = 6
n_consumed = 5
element_bytes = 4
t_produce_ns = 100
t_consume_us = 0.2
after_produce_us = 1
before_consume_us = 2
loop_distribution_us = 3
produce_loop_indexing = true
consume_loop_indexing_us = 4
rearrangement_ms = 0.005
inside = [{ name = "sum", computes_us = 6, included_us = 2.5 }]
produce_order = "reverse"
consume_order = [3, 1, 0, 2]
overhead_ns = 50
"""
    )
    message = model.programs[0].messages[0]
    # 1 + 2 + 3 + 0.1 * (6 - 4) + 4 + 5 + 6 - 2.5
    assert message.potential_s("independent") * 1e6 == pytest.approx(18.7)
    assert message.size_bytes == 16
    assert message.produced_at.tolist() == [3, 2, 1, 0]
    assert message.consumed_at.tolist() == [3, 1, 0, 2]
    # Loop indexing has counted the time of the interior: N_P is that of the boundary.
    elements = message.element_potential_s("fine-grained") * 1e6
    assert elements.tolist() == pytest.approx([18.7 + 0.6, 18.7 + 0.3, 18.7 + 0.2, 18.7 + 0.7])
    assert message.overhead_s == pytest.approx(50e-9)


def test_without_loop_indexing_sent_elements_are_taken_to_be_produced_last(parse: Parse) -> None:
    model = parse(APPLICATION + MESSAGE + "n_produced = 10\nt_produce_us = 1\n")
    message = model.programs[0].messages[0]
    assert message.produced_at.tolist() == [6, 7, 8, 9]
    assert (message.element_potential_s("fine-grained") * 1e6).tolist() == pytest.approx(
        [3, 2, 1, 0]
    )


def test_index_functions_see_the_buffer(parse: Parse) -> None:
    # The buffer holds data elements 2, 0, 3, 1, and they are unpacked in reverse.
    model = parse(
        APPLICATION
        + MESSAGE
        + "produce_order = [0, 1, 2, 3]\nindex_send = [2, 0, 3, 1]\n"
        + "index_receive = [3, 2, 1, 0]\n"
    )
    message = model.programs[0].messages[0]
    assert message.produced_at.tolist() == [2, 0, 3, 1]
    assert message.consumed_at.tolist() == [3, 2, 1, 0]


def test_numbers_per_process(parse: Parse) -> None:
    text = (
        APPLICATION
        + '[[application.message]]\nname = "m"\nn_sent = [2, 4]\nafter_produce_us = [10, 30]\n'
    )
    worst = parse(text).programs[0].messages[0]
    mean = parse(text, "mean").programs[0].messages[0]
    assert (worst.n_sent, mean.n_sent) == (4, 3)
    assert worst.potential_s("independent") == mean.potential_s("independent")
    assert mean.potential_s("independent") == pytest.approx(20e-6)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "no [[application]]"),
        ("typo = 1\n" + APPLICATION + MESSAGE, 1, "unknown key 'typo'"),
        ("schema_version = 9\n" + APPLICATION, 1, "schema_version 9"),
        ('format = "other"\n', 1, "'format' is 'other'"),
        ('[[application]]\nname = "a"\n', 1, "'computation_us'"),
        ("[[application]]\ncomputation_us = 1\n", 1, "'name' is missing"),
        ('[[application]]\nname = "a"\ncomputation_us = -3\n', 3, "'computation_us' is -3"),
        ('[[application]]\nname = "a"\ncomputation_us = 0\n', 3, "greater than 0"),
        ('[[application]]\nname = "a"\ncomputation_us = "x"\n', 3, "must be a number"),
        ('[[application]]\nname = "a"\ncomputation_us = nan\n', 3, "finite"),
        (APPLICATION + "computation_ms = 1\n", 4, "give the same value twice"),
        (APPLICATION, 1, "neither messages nor collectives"),
        (APPLICATION + 'mode = "fast"\n' + MESSAGE, 4, "must be one of"),
        (APPLICATION + '[[application.message]]\nname = "m"\n', 4, "no 'n_sent'"),
        (APPLICATION + MESSAGE.replace("4", "0"), 6, "at least 1"),
        (APPLICATION + MESSAGE.replace("4", "-4"), 6, "'n_sent' is -4"),
        (APPLICATION + MESSAGE.replace("4", "4.5"), 6, "whole number"),
        (APPLICATION + MESSAGE + "n_porduced = 4\n", 7, "unknown key 'n_porduced'"),
        (APPLICATION + MESSAGE + "t_produce_ns = -1\n", 7, "'t_produce_ns' is -1"),
        (APPLICATION + MESSAGE + "t_produce_h = 1\n", 7, "unknown key 't_produce_h'"),
        (APPLICATION + MESSAGE + "\n# note\nproduce_order = [0, 1, 1, 3]\n", 9, "1 occurs twice"),
        (APPLICATION + MESSAGE + "produce_order = [0, 1, 2, 4]\n", 7, "position 4 is not in 0..3"),
        (APPLICATION + MESSAGE + "produce_order = [0, 1]\n", 7, "2 positions for 4 elements"),
        (APPLICATION + MESSAGE + 'consume_order = "inward"\n', 7, "'forward', 'reverse' or a list"),
        (APPLICATION + MESSAGE + "index_send = [0, 0, 1, 2]\n", 7, "element 0 occurs twice"),
        (APPLICATION + MESSAGE + "produce_loop_indexing = true\n", 7, "needs the period"),
        (
            APPLICATION + MESSAGE + "produce_loop_indexing = true\nproduce_loop_indexing_us = 1\n",
            8,
            "twice",
        ),
        (APPLICATION + MESSAGE + "after_produce_us = 101\n", 4, "more than the computation"),
        (
            APPLICATION + MESSAGE + "after_produce_us = 1\ninside = [{ included_us = 2 }]\n",
            8,
            "takes 2 us",
        ),
        (APPLICATION + MESSAGE + "inside = 3\n", 7, "array of tables"),
        (APPLICATION + MESSAGE + MESSAGE, 8, "two messages of the name 'm'"),
        (
            APPLICATION + 'process = "mean"\n' + MESSAGE + "n_produced = 3\n",
            8,
            "less than the 4 elements",
        ),
        (
            APPLICATION + 'process = "mean"\n' + MESSAGE + "n_received = 5\n",
            8,
            "4 elements are sent",
        ),
        (
            APPLICATION + MESSAGE.replace("4", "[1, 2]") + "t_produce_ns = [1, 2, 3]\n",
            7,
            "3 processes, another key has 2",
        ),
        (
            APPLICATION + 'processing = "pipelined"\n' + MESSAGE + "after_produce_us = 1\n",
            5,
            "pipelined but has independent work",
        ),
        (APPLICATION + '[[application.collective]]\nname = "c"\n', 4, "'processes' is missing"),
        (
            APPLICATION + '[[application.collective]]\nname = "c"\nprocesses = 1\n',
            6,
            "at least 2",
        ),
        (APPLICATION + MESSAGE + '[[network]]\nname = "n"\nlatency_us = 1\n', 7, "no bandwidth"),
        (
            APPLICATION
            + MESSAGE
            + '[[network]]\nname = "n"\nlatency_us = 1\nbandwidth_mb_per_s = 0\n',
            10,
            "greater than 0",
        ),
        (
            APPLICATION + MESSAGE + '[[network]]\nname = "n"\nbandwidth_mb_per_s = 1\n',
            7,
            "'latency_us'",
        ),
        (
            APPLICATION
            + MESSAGE
            + '[[network]]\nname = "n"\nlatency_us = 1\nbandwidth_mb_per_s = 1\nprice = -5\n',
            11,
            "'price' is -5",
        ),
        (APPLICATION + MESSAGE + "[latency_table]\n", 7, "the latency table has no"),
        (
            APPLICATION + MESSAGE + '[element_figure]\napplication = "a"\nmessage = "x"\n',
            7,
            "no message 'x'",
        ),
    ],
)
def test_mistakes_name_file_line_and_key(parse: Parse, text: str, line: int, words: str) -> None:
    with pytest.raises(ImbrexError) as raised:
        parse(text)
    message = str(raised.value)
    assert message.startswith(f"model.toml:{line}: "), message
    assert words in message
    assert "\n" not in message


def test_no_toml_and_no_file(tmp_path: Path) -> None:
    path = tmp_path / "broken.toml"
    path.write_text("name = \n")
    with pytest.raises(ImbrexError, match=r"broken\.toml: is not valid TOML: .*line 1"):
        load_model(path)
    with pytest.raises(ImbrexError, match="cannot be read"):
        load_model(tmp_path / "absent.toml")
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ImbrexError, match="no UTF-8"):
        load_model(path)


def test_lines_of_keys_through_strings_arrays_and_comments() -> None:
    text = """\
a = '''
b = 1
'''   # x
c = [1,
  2, # ]
  3]
"d e".f = "]# \\" ="
[[t]]
g = { h = 1 }
[t.u]
i = 1
[[t]]
g = 2
[[t.v]]
j = "x=y"
"""
    assert key_lines(text) == {
        ("a",): 1,
        ("c",): 4,
        ("d e", "f"): 7,
        ("t", 0): 8,
        ("t", 0, "g"): 9,
        ("t", 0, "u"): 10,
        ("t", 0, "u", "i"): 11,
        ("t", 1): 12,
        ("t", 1, "g"): 13,
        ("t", 1, "v", 0): 14,
        ("t", 1, "v", 0, "j"): 15,
    }


def test_long_messages_are_quick(parse: Parse) -> None:
    model = parse(
        APPLICATION
        + '[[application.message]]\nname = "m"\nn_sent = 500000\nt_consume_ns = 0.1\n'
        + 't_produce_ns = 0.1\nconsume_order = "reverse"\n'
    )
    elements = model.programs[0].messages[0].element_potential_s("fine-grained")
    # P(i) = i, C(i) = N - 1 - i: each element has twice the time that is left after it.
    np.testing.assert_allclose(elements[[0, -1]], [2 * 499999e-10, 0], atol=1e-18)

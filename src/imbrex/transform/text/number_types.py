"""Types of numbers: as the model names elements, and as declarations of C write them."""

from __future__ import annotations

import re

_COMPLEX = (
    r"(?:(?:float|double)\s+(?:complex|_Complex)\b|(?:complex|_Complex)\s+(?:float|double)\b"
    r"|(?:std::)?complex<\s*(?:float|double|long\s+double)\s*>)"
)
# Words of which types of numbers are made: the last one of several is no variable.
_WORDS = r"(?:(?:unsigned|signed|long|short|int|char|double|float|bool|_Bool)\b\s*)+(?<!\s)"
DECLARED = rf"(?:const\s+)?(?:{_COMPLEX}|{_WORDS}|(?:struct\s+)?[A-Za-z_]\w*)"
NUMBERS = re.compile(
    r"(?:unsigned |signed )?(?:char|short|int|long|long long|float|double)|long double"
    r"|_Complex (?:float|double|long double)|std::complex<(?:float|double|long double)>"
    r"|double\s*precision|double\s*complex|(?:real|integer|complex|logical)"
    r"(?:\s*\*\s*\d+|\s*\(\s*(?:kind\s*=\s*)?\w+\s*\))?",
    re.IGNORECASE,
)
# As the model names elements of C that are real numbers.
C_NUMBERS = frozenset(
    "bool _Bool char short int long float double|long long|signed char|unsigned char|"
    "unsigned short|unsigned int|unsigned long|unsigned long long".replace(" ", "|", 7).split("|")
)

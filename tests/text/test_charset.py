"""Bytes of a text, in whatever charset they come."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.errors import Unreadable
from pincite.text.charset import decode
from pincite.text.sentences import normalise

TEXTS = {
    "cp1252": "L’été dernier, nous avons mangé des crêpes à la façon de grand-mère – die Größe beträgt fünf €.",
    "cp1250": "Zażółć gęślą jaźń. Urlop można przenieść na następny rok, jeżeli wniosek złożono.",
    "cp1251": "Съешь же ещё этих мягких французских булок, да выпей чаю. Отпуск можно перенести на следующий год.",
    "koi8_r": "Съешь же ещё этих мягких французских булок, да выпей чаю. Отпуск можно перенести.",
    "cp1253": "Η άδεια μπορεί να μεταφερθεί στο επόμενο έτος, εφόσον ζητηθεί εγκαίρως.",
    "cp1254": "Yıllık izin bir sonraki yıla devredilebilir; çalışan başvurusunu şubat ayında yapmalıdır.",
    "cp1255": "ניתן להעביר את ימי החופשה לשנה הבאה אם הבקשה הוגשה בזמן.",
    "cp1256": "يمكن ترحيل الإجازة السنوية إلى العام التالي إذا قدم الطلب في الوقت المحدد.",
    "cp932": "年次休暇は翌年に繰り越すことができます。申請は三月までに行ってください。",
    "euc_jp": "年次休暇は翌年に繰り越すことができます。申請は三月までに行ってください。",
    "gb18030": "年假可以结转到下一年，但必须在三月底之前提出申请。",
    "big5": "年假可以結轉到下一年，但必須在三月底之前提出申請。",
    "cp949": "연차 휴가는 다음 해로 이월할 수 있습니다. 신청은 3월까지 해야 합니다.",
    "mac_roman": "Die Größe der Übersicht beträgt fünf Millimeter, müßig zu erwähnen.",
}


@pytest.mark.parametrize("charset", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_unicode_is_read_with_and_without_byte_order_mark(charset: str):
    assert decode("Größe 年\r\n".encode(charset)) == "Größe 年\n"


@pytest.mark.parametrize(("mark", "charset"), [(b"\xfe\xff", "utf-16-be"), (b"\0\0\xfe\xff", "utf-32-be")])
def test_a_byte_order_mark_says_which_way_round(mark: bytes, charset: str):
    assert decode(mark + "Größe\n".encode(charset)) == "Größe\n"


@pytest.mark.parametrize("charset", TEXTS)
def test_other_charsets_are_told_by_their_bytes(charset: str):
    assert decode(TEXTS[charset].encode(charset)) == TEXTS[charset]
    assert decode((TEXTS[charset] + "\n").encode(charset) * 2000) == (TEXTS[charset] + "\n") * 2000


@pytest.mark.parametrize("text", ["aä", "Zoë Müller, Straße 5", "abc ä def", "50 €", "naïve", "÷"])
def test_a_few_letters_that_could_be_anything_are_western(text: str):
    assert decode(text.encode("cp1252")) == text


@pytest.mark.parametrize(
    ("charset", "declared"),
    [("shift_jis", "Shift_JIS"), ("iso2022_jp", "ISO-2022-JP"), ("euc_kr", "euc-kr"), ("koi8_u", " 'KOI8-U' ")],
)
def test_what_is_declared_is_believed_where_it_fits(charset: str, declared: str):
    text = {"euc_kr": "휴가", "koi8_u": "їжак"}.get(charset, "休暇")
    assert decode(text.encode(charset), declared) == text


def test_who_declares_latin_1_means_windows():
    assert decode("„Größe“ – 5 €".encode("cp1252"), "iso-8859-1") == "„Größe“ – 5 €"


@pytest.mark.parametrize(
    "declared", ["utf-7", "idna", "unicode_escape", "zlib", "no-such-charset", "a\0b", "rot13", "ä", "x" * 9999, "undefined"]
)  # fmt: skip
def test_what_is_no_charset_of_texts_is_passed_over(declared: str):
    assert decode("Größe".encode("cp1252"), declared) == "Größe"
    assert decode(b"+ADw-script+AD4-", declared) == "+ADw-script+AD4-"


def test_a_wrong_declaration_does_not_spoil_unicode():
    assert decode("Größe".encode(), "iso-8859-1") == "Größe"


def test_a_broken_byte_in_much_unicode_is_replaced_and_the_rest_kept():
    data = ("Größe 年 " * 100).encode()
    assert decode(data[:500] + b"\xff" + data[500:]).count("\ufffd") == 1
    assert "Größe 年" in decode(data[:500] + b"\xff" + data[500:])


def test_halves_of_surrogate_pairs_are_replaced():
    assert decode(b"\xff\xfe" + b"\x3d\xd8" + "a".encode("utf-16-le")) == "\ufffda"


@pytest.mark.parametrize("data", [b"a\0b", b"\xff\xfea\0\0\0"])
def test_nul_is_no_text(data: bytes):
    with pytest.raises(Unreadable) as caught:
        decode(data)
    assert caught.value.code == "not_text"


def test_what_turns_or_hides_text_stays_as_it_is():
    text = "a\u202eb\u2066c\u200bd\u200e\U000e0041"
    assert decode(text.encode()) == text


@given(st.binary(max_size=400))
def test_any_bytes_are_a_text_or_refused(data: bytes):
    try:
        text = decode(data)
    except Unreadable:
        return
    assert normalise(text) == text
    text.encode()  # no halves of pairs


@pytest.mark.parametrize(
    "data",
    [b"\xff" * 10_000_000, b"a" * 9_999_999 + b"\xe4", b"\x81\x8d" * 5_000_000, (b"a" * 40 + b"\xe4") * 250_000],
    ids=["all", "one at the end", "no Western letters", "now and then"],
)
def test_ten_megabytes_of_anything_take_no_time(data: bytes):
    started = time.thread_time()
    assert decode(data)
    assert time.thread_time() - started < 5


@pytest.mark.parametrize("broken", [b"Gr\xf6\xdfe", "Größe".encode()[:-2]])
def test_a_broken_byte_in_a_short_text_leaves_the_rest_as_it_is(broken: bytes):
    text = "Die Straße führt über die Brücke zum größten Gebäude. "
    assert decode(text.encode() * 3 + broken).startswith(text)

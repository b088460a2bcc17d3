"""Words and signs of measures, English and German: what they count in, and what they are a multiple of."""

from collections.abc import Iterator, Mapping

_FAMILIES: Mapping[str, str] = {
    "s": "1:s,sec,secs,second,seconds,sekunde,sekunden,sek 60:min,mins,minute,minutes,minuten "
    "3600:h,hr,hrs,hour,hours,stunde,stunden,std 86400:day,days,tag,tage,tagen,tages 604800:week,weeks,woche,wochen",
    "month": "1:month,months,monat,monate,monaten,monats 3:quartal,quartale,quartalen "
    "12:year,years,jahr,jahre,jahren,jahres 120:decade,decades,jahrzehnt,jahrzehnte,jahrzehnten",
    "m": "0.001:mm,millimetre,millimetres,millimeter,millimeters,millimetern "
    "0.01:cm,centimetre,centimetres,centimeter,centimeters,zentimeter,zentimetern "
    "1:m,metre,metres,meter,meters,metern 1000:km,kilometre,kilometres,kilometer,kilometers,kilometern",
    "mile": "1:mile,miles,meile,meilen",
    "foot": "1:ft,foot,feet,fuß",
    "inch": "1:inch,inches,zoll",
    "g": "0.001:mg,milligram,milligrams,milligramm 1:g,gram,grams,gramm "
    "1000:kg,kilo,kilos,kilogram,kilograms,kilogramm 1000000:t,tonne,tonnes,ton,tons,tonnen",
    "l": "0.001:ml,millilitre,millilitres,milliliter,milliliters 0.01:cl 1:l,litre,litres,liter,liters,litern",
    "%": "1:%,percent,prozent",
    "°C": "1:°c,celsius",
    "°F": "1:°f,fahrenheit",
    "°": "1:°,degree,degrees,grad",
    "km/h": "1:km/h,kmh,kph",
    "m/s": "1:m/s",
    "mph": "1:mph",
    "W": "1:w,watt,watts 1000:kw,kilowatt,kilowatts 1000000:mw,megawatt,megawatts",
    "Wh": "1:wh 1000:kwh,kilowattstunden",
    "V": "1:v,volt,volts",
    "A": "1:a,amp,amps,ampere,amperes",
    "Hz": "1:hz,hertz 1000:khz 1000000:mhz 1000000000:ghz",
    "B": "1:bytes 1000:kb,kilobytes 1000000:mb,megabyte,megabytes 1000000000:gb,gigabyte,gigabytes "
    "1000000000000:tb,terabyte,terabytes",
    "EUR": "1:€,eur,euro,euros",
    "USD": "1:$,usd,dollar,dollars",
    "CHF": "1:chf,franc,francs,franken,fr",
    "GBP": "1:£,gbp",
    "pound": "1:pound,pounds,lb,lbs,pfund",
    "JPY": "1:¥,jpy,yen",
}

UNITS: Mapping[str, tuple[str, float]] = {
    name: (base, float(size))
    for base, listed in _FAMILIES.items()
    for size, names in (part.split(":") for part in listed.split())
    for name in names.split(",")
}
"""By what is written, in lower case: what it counts in, and how many of these it is."""

SCALES: Mapping[str, Mapping[str, float]] = {
    "en": {
        "hundred": 1e2, "thousand": 1e3, "million": 1e6, "millions": 1e6, "billion": 1e9, "billions": 1e9,
        "trillion": 1e12, "bn": 1e9, "dozen": 12.0,
    },
    "de": {
        "hundert": 1e2, "tausend": 1e3, "million": 1e6, "millionen": 1e6, "mio": 1e6, "milliarde": 1e9,
        "milliarden": 1e9, "mrd": 1e9, "billion": 1e12, "billionen": 1e12, "dutzend": 12.0,
    },
}  # fmt: skip
"""Words that multiply the number before them."""

_EN = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_DE = "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn"
_EN_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_DE_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig"


def _spelt() -> Iterator[tuple[str, int]]:
    """Every number below a hundred in words."""
    for names, tens_names, joined in ((_EN, _EN_TENS, False), (_DE, _DE_TENS, True)):
        small = names.split()
        yield from ((name, number) for number, name in enumerate(small))
        for ten, tens in enumerate(tens_names.split(), start=2):
            yield tens, 10 * ten
            for one in range(1, 10):
                first = "ein" if joined and one == 1 else small[one]
                yield (f"{first}und{tens}" if joined else f"{tens}-{small[one]}"), 10 * ten + one


def _halves() -> Iterator[tuple[str, float]]:
    """`dreieinhalb`, `three and a half`."""
    yield "anderthalb", 1.5
    for number, (english, german) in enumerate(zip(_EN.split(), _DE.split(), strict=True)):
        yield f"{'ein' if number == 1 else german}einhalb", number + 0.5
        yield f"{english} and a half", number + 0.5


def _ordered() -> Iterator[tuple[str, int]]:
    """Places in words, from the third on: `first` and `second` are said of much that is not counted."""
    for number, name in enumerate(
        "third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(), start=3
    ):
        yield name, number
    for number, name in enumerate("dritt viert fünft sechst siebt acht neunt zehnt elft zwölft".split(), start=3):
        yield from ((name + ending, number) for ending in ("e", "en", "er", "es", "em"))


SPELT: Mapping[str, float] = {
    form: number
    for name, number in (*_ordered(), *_spelt(), *_halves())
    for form in (name, name.replace("ß", "ss"), name.replace("-", " "))
}
"""Numbers in words; `dreissig` as well, and `twenty five`."""

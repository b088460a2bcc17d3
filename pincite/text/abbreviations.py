"""The words that tell a full stop inside a sentence from one at its end: English and German."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NEVER_LAST = _words(
    # something always follows: titles, "for example", "compare"
    "dr prof mr mrs ms mx messrs st mt hon rev fr gen col capt cpt lt sgt sen rep gov pres dipl ing med phil jur "
    "rer nat habil hr hrn geb gest verh hrsg "
    "e.g i.e eg ie cf viz vs resp approx esp incl excl "
    "z.b d.h d.i u.u z.t i.d.r i.a v.a s.o s.u o.g m.e u.v.m n.b i.s.d i.v.m a.a.o "
    "zb dh bzw vgl ca ggf ggfs gegf evtl sog inkl exkl zzgl abzgl bspw einschl insb insbes allg gem bzgl betr "
    "mind höchst sogen urspr eigtl jew wg zw zus"
)
"""After these a sentence goes on."""

BEFORE_NUMBER = _words(
    "no nos nr p pp s fig figs art arts vol vols ch chap sec sect eq ed eds abb abs tab kap bd bde ziff rn rz tz lit "
    "tel fon fax aufl nos op ver"
)
"""Abbreviations when a number follows ("No. 5"), ordinary last words otherwise ("The answer is no.")."""

SOMETIMES_LAST = _words(
    "etc usw usf uvm inc ltd co corp bros jr sr al mio mrd tsd bn mn dept est univ assn ave blvd rd str pl chr "
    "u.a u.ä o.ä u.s u.k u.n e.u a.m p.m ph.d b.a m.a d.c v.chr n.chr a.d "
    "min max std sek jh jhd jan feb mar apr jun jul aug sep sept oct okt nov dec dez mo di mi do fri sat sun mon "
    "gmbh ag e.v"
)
"""May end a sentence: they do when the next word is one that often opens a sentence."""

OPENING_WORDS = _words(
    "the this that these those it its he she we they you i in on at a an if when while for but and or so as there "
    "here what how why where who which however moreover to from with by not no yes after before since once each all "
    "both some many most please see note use then thus therefore although because during our their his her my your "
    "der die das dies diese dieser dieses diesen diesem es er sie wir ihr ich man ein eine einer eines einem einen im "
    "am an auf bei beim mit nach von vom zu zum zur wenn falls als da weil aber und oder doch denn auch nur hier dort "
    "dann danach daher deshalb dabei damit dazu jedoch außerdem wer wie was wo wann warum alle jede jeder jedes für "
    "durch gegen ohne um seit bis nicht kein keine bitte siehe unser unsere ihre sein seine dafür darum obwohl"
)
"""Words that often open a sentence and seldom follow an abbreviation or an ordinal, in lower case."""

MONTHS = _words("januar jänner februar märz april mai juni juli august september oktober november dezember")
"""German months, in lower case: a line that begins "13. August" begins with a date."""

AFTER_ORDINAL = MONTHS | _words(
    "january february march may june july october december "
    "jahrhundert jahrhunderts jahrhunderten jahrtausend jahrtausends weltkrieg weltkriegs auflage lebensjahr "
    "geburtstag quartal halbjahr stock etage obergeschoss untergeschoss klasse semester spieltag bundestag"
)
"""Nouns before which "3." is an ordinal, in lower case."""

BEFORE_ORDINAL = _words(
    "der die das des dem den am im vom zum zur ab seit dieser diese dieses jeder jede jedes ihr ihre ihren seinem "
    "sein seine seinen einem einen"
)
"""German words after which "3." is an ordinal, in lower case."""

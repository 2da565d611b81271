/// The words in dates: months, days and time zones.
enum DateWords {
  /// Returns the number of a month by its name or an abbreviation; nil for any other word.
  static func month(_ word: String) -> (number: Int, isEnglish: Bool)? {
    if word.count >= 3, let index = english.firstIndex(where: { $0.hasPrefix(word) }) {
      return (index + 1, true)
    }
    return foreign[word].map { ($0, false) }
  }

  private static let english = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
  ]

  /// The names of the months in German, French, Spanish, Italian, Portuguese, Dutch, Danish,
  /// Swedish, Norwegian, Polish, Russian, Turkish, Greek (in two cases), Hungarian, Czech, Finnish,
  /// Ukrainian, Romanian, Catalan, and Indonesian.
  private static let fullForeign = [
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "januari februari maart april mei juni juli augustus september oktober november december",
    "januar februar marts april maj juni juli august september oktober november december",
    "januari februari mars april maj juni juli augusti september oktober november december",
    "januar februar mars april mai juni juli august september oktober november desember",
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık",
    "ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου ιουνίου ιουλίου αυγούστου σεπτεμβρίου οκτωβρίου νοεμβρίου δεκεμβρίου",
    "ιανουάριος φεβρουάριος μάρτιος απρίλιος μάιος ιούνιος ιούλιος αύγουστος σεπτέμβριος οκτώβριος νοέμβριος δεκέμβριος",
    "január február március április május június július augusztus szeptember október november december",
    "ledna února března dubna května června července srpna září října listopadu prosince",
    "tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta joulukuuta",
    "січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня",
    "ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie",
    "gener febrer març abril maig juny juliol agost setembre octubre novembre desembre",
    "januari februari maret april mei juni juli agustus september oktober november desember",
  ]

  /// The numbers of the months, by foreign name and by every unambiguous prefix of at least three
  /// letters.
  private static let foreign: [String: Int] = {
    var months: [String: Int] = [:]
    var shared: Set<String> = []
    for names in fullForeign {
      for (index, name) in names.split(separator: " ").enumerated() {
        for length in 3...max(3, name.count) {
          let start = String(name.prefix(length))
          if months.updateValue(index + 1, forKey: start).map({ $0 != index + 1 }) == true {
            shared.insert(start)
          }
        }
      }
    }
    for start in shared { months[start] = nil }
    let others = [
      "mrz": 3, "mrt": 3, "fev": 2, "aou": 8, "aout": 8, "dec": 12, "май": 5, "july": 7, "avg": 8,
      "ιούν": 6, "ιουν": 6, "ιούλ": 7, "ιουλ": 7, "μαϊ": 5, "αυγ": 8, "οκτ": 10, "νοε": 11,
    ]
    return months.merging(others) { _, other in other }
  }()

  private static let days = [
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
  ]

  /// Returns a day of the week by its English name or abbreviation: 0 is Monday.
  static func weekday(_ word: String) -> Int? {
    word.count >= 3 ? days.firstIndex { $0.hasPrefix(word) } : nil
  }

  /// Whether a word may be a day of the week in another language.
  static func mayBeWeekday(_ word: String) -> Bool { foreignDays.contains(word) }

  private static let foreignDays: Set<String> = [
    "mo", "di", "mi", "do", "fr", "sa", "so", "montag", "dienstag", "mittwoch", "donnerstag",
    "freitag", "samstag", "sonnabend", "sonntag", "lun", "mar", "mer", "jeu", "ven", "sam", "dim",
    "lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche", "mié", "mie", "jue",
    "vie", "sáb", "sab", "dom", "gio", "seg", "ter", "qua", "qui", "sex", "ma", "wo", "vr", "za",
    "zo",
  ]

  /// Whether a word only connects the parts of a date, in some language.
  static func isFiller(_ word: String) -> Bool { fillers.contains(word) }

  private static let fillers: Set<String> = [
    "at", "um", "de", "del", "of", "uhr", "the", "den", "am", "le", "t", "г", "года", "às", "à",
    "a", "las", "alle", "ore", "om", "kl",
  ]

  /// Returns the offset of a named time zone in seconds east of UTC. An ambiguous name has the
  /// meaning that is usual in feeds.
  static func zone(_ word: String) -> (seconds: Int, isInRFC822: Bool)? {
    if let hours = rfc822[word] { return (Int(hours * 3_600), true) }
    // RFC 822 had the signs of the letters reversed, so RFC 2822, §4.3, treats all but Z as an
    // unknown zone, which is UTC.
    if word.count == 1, "a"..."z" ~= word { return (0, true) }
    return others[word].map { (Int($0 * 3_600), false) }
  }

  private static let rfc822: [String: Double] = [
    "ut": 0, "gmt": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6,
    "pst": -8, "pdt": -7,
  ]

  private static let others: [String: Double] = [
    "utc": 0, "wet": 0, "west": 1, "bst": 1, "ist": 5.5, "cet": 1, "mez": 1, "met": 1, "cest": 2,
    "mesz": 2, "mest": 2, "eet": 2, "eest": 3, "sast": 2, "msk": 3, "msd": 4, "trt": 3, "gst": 4,
    "pkt": 5, "npt": 5.75, "ict": 7, "wib": 7, "hkt": 8, "sgt": 8, "awst": 8, "pht": 8, "jst": 9,
    "kst": 9, "acst": 9.5, "acdt": 10.5, "aest": 10, "aedt": 11, "nzst": 12, "nzdt": 13,
    "nst": -3.5, "ndt": -2.5, "ast": -4, "adt": -3, "brt": -3, "brst": -2, "art": -3, "clt": -4,
    "clst": -3, "akst": -9, "akdt": -8, "hst": -10, "hast": -10, "et": -5, "ct": -6, "mt": -7,
    "pt": -8, "eat": 3, "wat": 1, "cat": 2, "idt": 3, "wast": 2, "irst": 3.5, "irdt": 4.5,
    "aft": 4.5, "azt": 4, "get": 4, "samt": 4, "mut": 4, "uzt": 5, "yekt": 5, "slst": 5.5,
    "omst": 6, "mmt": 6.5, "krat": 7, "novt": 7, "wita": 8, "myt": 8, "irkt": 8, "awdt": 9,
    "wit": 9, "yakt": 9, "chst": 10, "vlat": 10, "aet": 10, "magt": 11, "pett": 12, "fjt": 12,
    "nzt": 12, "cvt": -1, "azot": -1, "uyt": -3, "gft": -3, "vet": -4, "bot": -4, "pyt": -4,
    "cot": -5, "pet": -5, "hdt": -9, "hadt": -9,
  ]
}

import FoundationEssentials

/// A date in a filter, `date("…")`: ISO 8601 with date, time and zone.
///
/// ```
/// 2026-11-21T18:00:00Z   2026-11-21T18:00:00.25Z   2026-11-21T19:30:00+01:30
/// ```
/// The parser refuses days that a month lacks and hours that a day lacks. A calendar would carry
/// them over, and the filter would compare with another date.
struct FilterDate {
  /// The reason why a text is no date.
  struct Mistake: Error {
    let reason: String
  }

  private static let monthNames = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
  ]

  /// Seconds from 2001-01-01 00:00 UTC.
  let date: Date

  /// Reads a date.
  ///
  /// - Throws: A ``Mistake`` that quotes the text and names the wrong part.
  init(_ text: String) throws(Mistake) {
    guard
      let match = text.wholeMatch(
        of:
          /([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]+)?(Z|([+\-])([0-9]{2}):?([0-9]{2})?)/
      )
    else { throw Mistake(reason: "“\(text)” is no date such as 2026-11-21T18:00:00Z") }
    let parts = match.output
    func number(_ digits: Substring?, _ range: ClosedRange<Int>, _ name: String) throws(Mistake)
      -> Int
    {
      guard let digits, let number = Int(digits) else { return 0 }
      guard range.contains(number) else {
        func digits(_ number: Int) -> String { (number < 10 ? "0" : "") + "\(number)" }
        throw Mistake(
          reason: "“\(text)” is no date: \(name) \(digits(number)) is not between "
            + "\(digits(range.lowerBound)) and \(digits(range.upperBound))")
      }
      return number
    }
    let year = try number(parts.1, 0...9999, "year")
    let month = try number(parts.2, 1...12, "month")
    let dayCount = Self.dayCount(month, year)
    let day = Int(parts.3) ?? 0
    guard 1...dayCount ~= day else {
      throw Mistake(
        reason: "“\(text)” is no date: \(Self.monthNames[month - 1]) \(parts.1) has the days 01 to "
          + "\(dayCount)")
    }
    let hour = try number(parts.4, 0...23, "hour")
    let minute = try number(parts.5, 0...59, "minute")
    let second = try number(parts.6, 0...59, "second")
    let zoneHour = try number(parts.10, 0...23, "hour of the zone")
    let zoneMinute = try number(parts.11, 0...59, "minute of the zone")
    let zone = (zoneHour * 60 + zoneMinute) * (parts.9 == "-" ? -60 : 60)
    let days = Self.days(day, month, year) - Self.days(1, 1, 2001)
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second - zone
    let fraction = parts.7.flatMap { Double("0" + $0) } ?? 0
    date = Date(timeIntervalSinceReferenceDate: Double(seconds) + fraction)
  }

  private static func isLeapYear(_ year: Int) -> Bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  }

  private static func dayCount(_ month: Int, _ year: Int) -> Int {
    switch month {
    case 2: isLeapYear(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Returns the number of days since the first day of the year 0, in the Gregorian calendar.
  static func days(_ day: Int, _ month: Int, _ year: Int) -> Int {
    // Leap years before this one; the year 0 is one of them.
    let leapDays = year == 0 ? 0 : 1 + (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400
    return (1..<month).reduce(365 * year + leapDays + day - 1) { $0 + dayCount($1, year) }
  }
}

/// A date as text in ISO 8601, as ``FilterDate`` reads it.
enum DateText {
  /// Returns the text of a date in UTC, with as many digits of a second as it needs.
  ///
  /// - Parameter seconds: Seconds since 2001-01-01 00:00 UTC.
  /// - Returns: The text; `nil` beyond the years 0 to 9999.
  static func text(_ seconds: Double) -> String? {
    guard abs(seconds) < 1e12 else { return nil }
    let whole = seconds.rounded(.down)
    let (days, rest) = Int(whole).quotientAndRemainder(dividingByFloor: 86_400)
    let (year, month, day) = date(ofDay: days + FilterDate.days(1, 1, 2001))
    guard 0...9999 ~= year else { return nil }
    func digits(_ number: Int, _ count: Int = 2) -> String {
      let digits = String(number)
      return String(repeating: "0", count: count - digits.count) + digits
    }
    var text = "\(digits(year, 4))-\(digits(month))-\(digits(day))"
    text += "T\(digits(rest / 3600)):\(digits(rest / 60 % 60)):\(digits(rest % 60))Z"
    guard seconds != whole else { return text }
    text.removeLast()
    return text + fraction(of: seconds, whole) + "Z"
  }

  /// The date of a day, counted from the first day of the year 0 in the Gregorian calendar.
  private static func date(ofDay day: Int) -> (year: Int, month: Int, day: Int) {
    // 146 097 days are 400 years.
    var year = Int((Double(day) / 146_097 * 400).rounded(.down))
    while FilterDate.days(1, 1, year + 1) <= day { year += 1 }
    while FilterDate.days(1, 1, year) > day { year -= 1 }
    var month = 12
    while FilterDate.days(1, month, year) > day { month -= 1 }
    return (year, month, day - FilterDate.days(1, month, year) + 1)
  }

  /// The fewest digits that are read as the same date.
  private static func fraction(of seconds: Double, _ whole: Double) -> String {
    var scale = 10.0
    for count in 1...9 {
      let digits = String(Int(((seconds - whole) * scale).rounded()))
      let padded = String(repeating: "0", count: max(0, count - digits.count)) + digits
      // A fraction that is rounded up to a second needs more digits.
      if padded.count == count, whole + (Double("0." + padded) ?? 0) == seconds || count == 9 {
        return "." + padded
      }
      scale *= 10
    }
    return ""
  }
}

extension Int {
  /// The quotient rounded down, and the remainder, which is not negative.
  fileprivate func quotientAndRemainder(dividingByFloor divisor: Int) -> (Int, Int) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}

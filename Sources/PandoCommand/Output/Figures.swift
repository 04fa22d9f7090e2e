/// Numbers as people read them.
enum Figures {
  /// A count with its thousands set apart: `1 234 567`.
  static func count(_ number: some BinaryInteger) -> String {
    let digits = String(number.magnitude)
    var grouped = ""
    for (place, digit) in digits.enumerated() {
      if place > 0, (digits.count - place).isMultiple(of: 3) { grouped += " " }
      grouped.append(digit)
    }
    return number < 0 ? "-" + grouped : grouped
  }

  /// A count and its noun, in the singular for one: `1 node`, `2 nodes`.
  static func count(_ number: some BinaryInteger, _ singular: String, _ plural: String? = nil)
    -> String
  {
    count(number) + " " + (number == 1 ? singular : plural ?? singular + "s")
  }

  /// A size with the unit that leaves one to three digits before the point: `4.2 MiB`.
  static func bytes(_ number: some BinaryInteger) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"]
    var value = Double(number)
    var unit = 0
    while abs(value) >= 1024, unit < units.count - 1 {
      value /= 1024
      unit += 1
    }
    return unit == 0 ? "\(number) \(units[0])" : "\(fixed(value, 1)) \(units[unit])"
  }

  /// A duration: `850 µs`, `12.3 ms`, `4.56 s`, `3 min 20 s`, `2 h 5 min`.
  static func duration(_ duration: Duration) -> String {
    let seconds = duration / .seconds(1)
    return switch seconds {
    case ..<0.001: "\(fixed(seconds * 1e6, 0)) µs"
    case ..<1: "\(fixed(seconds * 1e3, 1)) ms"
    case ..<60: "\(fixed(seconds, 2)) s"
    case ..<3600: "\(Int(seconds) / 60) min \(Int(seconds) % 60) s"
    default: "\(Int(seconds) / 3600) h \(Int(seconds) / 60 % 60) min"
    }
  }

  /// How many a second, rounded to three digits: `184 000/s`.
  static func rate(_ number: some BinaryInteger, in duration: Duration) -> String {
    let seconds = max(duration / .seconds(1), 1e-9)
    var perSecond = Double(number) / seconds
    var scale = 1.0
    while perSecond >= 1000 {
      perSecond /= 10
      scale *= 10
    }
    return count(Int((perSecond.rounded() * scale).rounded())) + "/s"
  }

  /// A number with a fixed number of digits after the point, rounded to nearest.
  static func fixed(_ value: Double, _ digits: Int) -> String {
    var scale = 1
    for _ in 0..<digits { scale *= 10 }
    let scaled = Int64((value * Double(scale)).rounded())
    let whole = scaled.magnitude / UInt64(scale)
    let sign = scaled < 0 ? "-" : ""
    guard digits > 0 else { return sign + String(whole) }
    let fraction = String(scaled.magnitude % UInt64(scale))
    let zeros = String(repeating: "0", count: digits - fraction.count)
    return "\(sign)\(whole).\(zeros)\(fraction)"
  }
}

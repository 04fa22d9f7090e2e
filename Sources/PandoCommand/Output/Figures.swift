/// The notation of numbers for people.
enum Figures {
  /// Returns a count with spaces between thousands: `1 234 567`.
  static func count(_ number: some BinaryInteger) -> String {
    let digits = String(number.magnitude)
    var grouped = ""
    for (place, digit) in digits.enumerated() {
      if place > 0, (digits.count - place).isMultiple(of: 3) { grouped += " " }
      grouped.append(digit)
    }
    return number < 0 ? "-" + grouped : grouped
  }

  /// Returns a count and its noun, singular for one: `1 node`, `2 nodes`.
  static func count(_ number: some BinaryInteger, _ singular: String, _ plural: String? = nil)
    -> String
  {
    count(number) + " " + (number == 1 ? singular : plural ?? singular + "s")
  }

  /// Returns a size with one to three digits before the point: `4.2 MiB`.
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

  /// Returns a duration: `850 µs`, `12.3 ms`, `4.56 s`, `3 min 20 s`, `2 h 5 min`.
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

  /// Returns a rate per second, rounded to three digits: `184 000/s`.
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

  /// Returns a number with a fixed number of digits after the point, rounded to nearest.
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

/// Rows of text in columns, for reports.
struct TextTable {
  /// The side of a column on which a cell stands.
  enum Alignment: Sendable {
    case left
    case right
  }

  private let alignments: [Alignment]
  private var rows: [[String]] = []

  /// Makes a table with one column for each alignment.
  init(_ alignments: [Alignment]) {
    self.alignments = alignments
  }

  /// Adds a row.
  ///
  /// - Precondition: One cell for each column.
  mutating func row(_ cells: String...) {
    add(cells)
  }

  /// Adds a row.
  ///
  /// - Precondition: One cell for each column.
  mutating func add(_ cells: [String]) {
    precondition(cells.count == alignments.count, "\(cells.count) cells in a row")
    rows.append(cells.map(\.escapingControlCharacters))
  }

  /// The lines of the table, without trailing spaces.
  var lines: [String] {
    let widths = alignments.indices.map { column in
      rows.map { $0[column].displayWidth }.max() ?? 0
    }
    return rows.map { cells in
      var line = ""
      for (column, cell) in cells.enumerated() {
        let blanks = String(repeating: " ", count: widths[column] - cell.displayWidth)
        line += (column == 0 ? "" : "  ")
        line += alignments[column] == .left ? cell + blanks : blanks + cell
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}

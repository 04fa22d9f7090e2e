import Foundation

/// Builds a drawing in SVG.
struct Drawing {
  let width: Double
  let height: Double
  private var parts: [String] = []

  init(width: Double, height: Double) {
    self.width = width
    self.height = height
  }

  /// The element for a page.
  var svg: String {
    """
    <svg xmlns="http://www.w3.org/2000/svg" width="\(number(width))" height="\(number(height))" \
    viewBox="0 0 \(number(width)) \(number(height))" role="img">
    \(parts.joined(separator: "\n"))
    </svg>
    """
  }

  /// Where a text stands in terms of its point.
  enum Anchor: String {
    case start, middle, end
  }

  mutating func text(
    _ text: String, x: Double, y: Double, anchor: Anchor = .start, color: String? = nil,
    isTurned: Bool = false
  ) {
    let turn = isTurned ? " transform=\"rotate(-90 \(number(x)) \(number(y)))\"" : ""
    let fill = color.map { " style=\"fill:\($0)\"" } ?? ""
    parts.append(
      "<text x=\"\(number(x))\" y=\"\(number(y))\" text-anchor=\"\(anchor.rawValue)\"\(turn)\(fill)>"
        + "\(text.escaped)</text>")
  }

  mutating func line(
    x1: Double, y1: Double, x2: Double, y2: Double, color: String = "#ddd", width: Double = 1,
    isDashed: Bool = false
  ) {
    let dash = isDashed ? " stroke-dasharray=\"5 4\"" : ""
    parts.append(
      "<line x1=\"\(number(x1))\" y1=\"\(number(y1))\" x2=\"\(number(x2))\" y2=\"\(number(y2))\" "
        + "stroke=\"\(color)\" stroke-width=\"\(width)\"\(dash)/>")
  }

  mutating func rectangle(
    x: Double, y: Double, width: Double, height: Double, color: String
  ) {
    parts.append(
      "<rect x=\"\(number(x))\" y=\"\(number(y))\" width=\"\(number(width))\" "
        + "height=\"\(number(height))\" fill=\"\(color)\"/>")
  }

  mutating func curve(_ points: [(x: Double, y: Double)], color: String, hasDots: Bool) {
    let list = points.map { "\(number($0.x)),\(number($0.y))" }.joined(separator: " ")
    parts.append(
      "<polyline points=\"\(list)\" fill=\"none\" stroke=\"\(color)\" stroke-width=\"2\"/>")
    guard hasDots else { return }
    for point in points {
      parts.append(
        "<circle cx=\"\(number(point.x))\" cy=\"\(number(point.y))\" r=\"3\" fill=\"\(color)\"/>")
    }
  }

  private func number(_ value: Double) -> String { String(format: "%.1f", value) }
}

/// A logarithmic axis.
struct LogarithmicScale {
  /// Decades, whole ones.
  private let lower: Double
  private let upper: Double
  private let start: Double
  private let end: Double

  /// Makes a scale.
  ///
  /// - Parameters:
  ///   - values: The shown numbers, above 0.
  ///   - start: Where the least power of ten stands.
  ///   - end: Where the greatest one stands.
  init(_ values: [Double], from start: Double, to end: Double) {
    let logarithms = values.filter { $0 > 0 }.map { log10($0) }
    lower = (logarithms.min() ?? 0).rounded(.down)
    upper = max(lower + 1, (logarithms.max() ?? 1).rounded(.up))
    self.start = start
    self.end = end
  }

  /// The powers of ten that it shows.
  var ticks: [Double] { stride(from: lower, through: upper, by: 1).map { pow(10, $0) } }

  /// Where a value stands.
  func position(_ value: Double) -> Double {
    let share = (log10(max(value, pow(10, lower))) - lower) / (upper - lower)
    return start + share * (end - start)
  }
}

extension System {
  /// Its color in all plots; the color-blind can distinguish them too (Okabe and Ito 2008).
  var color: String {
    switch self {
    case .pando: "#0072b2"
    case .pandoModel: "#882255"
    case .pandoBlob: "#56b4e9"
    case .lmdb: "#222222"
    case .sqlite: "#d55e00"
    case .rocksdb: "#009e73"
    case .json: "#cc79a7"
    case .propertyList: "#e69f00"
    }
  }
}

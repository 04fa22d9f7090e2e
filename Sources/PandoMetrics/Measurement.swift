/// One figure of a service, with name and unit, for a metrics system.
///
/// ```swift
/// for measurement in metrics.measurements() {
///   if case .gauge(let value) = measurement.value { print(measurement.name, value) }
/// }
/// ```
///
/// Names are stable within a major version. They end with the unit, or `_total` for a counter.
public struct Measurement: Sendable, Hashable {
  /// The kind of a figure and its value.
  ///
  /// ```swift
  /// if case .histogram(let seconds) = measurement.value { print(seconds.quantile(0.99) ?? 0) }
  /// ```
  public enum Value: Sendable, Hashable {
    /// The number of events; it never falls while a process runs.
    case counter(Int)
    /// The present amount.
    case gauge(Double)
    /// The distribution of measured values.
    case histogram(Histogram)
  }

  /// The name, of letters, digits and underscores.
  public let name: String
  /// One sentence that describes the measured value.
  public let help: String
  /// Labels that distinguish figures of the same name, by label name.
  public let labels: [String: String]
  /// The figure.
  public let value: Value

  /// Makes a figure.
  ///
  /// - Parameters:
  ///   - name: The name, of letters, digits and underscores.
  ///   - help: One sentence that describes the measured value.
  ///   - labels: Labels that distinguish figures of the same name.
  ///   - value: The figure.
  public init(_ name: String, _ help: String, labels: [String: String] = [:], _ value: Value) {
    self.name = name
    self.help = help
    self.labels = labels
    self.value = value
  }
}

extension Sequence<Measurement> {
  /// The figures in the text format that Prometheus reads, version 0.0.4.
  ///
  /// ```swift
  /// response.headers["Content-Type"] = "text/plain; version=0.0.4; charset=utf-8"
  /// response.body = metrics.measurements().prometheusText
  /// ```
  ///
  /// - Complexity: O(*n* log *n*) for *n* figures.
  public var prometheusText: String {
    var families: [(name: String, help: String, members: [Measurement])] = []
    var places: [String: Int] = [:]
    for measurement in self {
      if let place = places[measurement.name] {
        families[place].members.append(measurement)
      } else {
        places[measurement.name] = families.count
        families.append((measurement.name, measurement.help, [measurement]))
      }
    }
    var text = PrometheusText()
    for family in families { text.add(family.name, family.help, family.members) }
    return text.text
  }
}

/// Writes the text format of Prometheus.
///
/// Source: prometheus.io, "Exposition formats".
private struct PrometheusText {
  private(set) var text = ""

  mutating func add(_ name: String, _ help: String, _ members: [Measurement]) {
    let kind =
      switch members[0].value {
      case .counter: "counter"
      case .gauge: "gauge"
      case .histogram: "histogram"
      }
    text += "# HELP \(name) \(escaped(help, quotes: false))\n# TYPE \(name) \(kind)\n"
    for member in members { add(member) }
  }

  private mutating func add(_ member: Measurement) {
    let name = member.name
    switch member.value {
    case .counter(let count): line(name, member.labels, "\(count)")
    case .gauge(let value): line(name, member.labels, number(value))
    case .histogram(let histogram):
      var seen = 0
      for (index, count) in histogram.counts.enumerated() {
        seen += count
        let bound = index < histogram.bounds.count ? number(histogram.bounds[index]) : "+Inf"
        line(name + "_bucket", member.labels, last: ("le", bound), "\(seen)")
      }
      line(name + "_sum", member.labels, number(histogram.sum))
      line(name + "_count", member.labels, "\(seen)")
    }
  }

  private mutating func line(
    _ name: String, _ labels: [String: String], last: (String, String)? = nil, _ value: String
  ) {
    var pairs = labels.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    if let last { pairs.append(last) }
    let shown = pairs.map { "\($0.0)=\"\(escaped($0.1, quotes: true))\"" }.joined(separator: ",")
    text += name + (shown.isEmpty ? "" : "{\(shown)}") + " \(value)\n"
  }

  private func number(_ value: Double) -> String {
    if value == .infinity { return "+Inf" }
    if value == -.infinity { return "-Inf" }
    if value.isNaN { return "NaN" }
    return value == value.rounded() && abs(value) < 1e15 ? "\(Int(value))" : "\(value)"
  }

  private func escaped(_ text: String, quotes: Bool) -> String {
    var escaped = ""
    for character in text.unicodeScalars {
      switch character {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"" where quotes: escaped += "\\\""
      default: escaped.unicodeScalars.append(character)
      }
    }
    return escaped
  }
}

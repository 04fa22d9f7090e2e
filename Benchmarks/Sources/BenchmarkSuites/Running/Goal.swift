/// A rate of one system in terms of another's, and how large it should be.
struct Goal: Sendable {
  /// Two systems of one workload.
  struct Quotient: Sendable {
    let system: System
    let reference: System

    /// The name in the JSON report.
    var name: String { "\(system.rawValue):\(reference.rawValue)" }
    /// The name for people.
    var title: String { "\(system.title) : \(reference.title)" }
  }

  let quotient: Quotient
  /// Another quotient to divide by: what one system gains in terms of what another one gains.
  let divisor: Quotient?
  /// The least value that is good enough; `nil` to report without judging.
  let minimum: Double?

  init(_ system: System, over reference: System, minimum: Double? = nil) {
    quotient = Quotient(system: system, reference: reference)
    divisor = nil
    self.minimum = minimum
  }

  init(_ quotient: Quotient, dividedBy divisor: Quotient, minimum: Double? = nil) {
    self.quotient = quotient
    self.divisor = divisor
    self.minimum = minimum
  }

  /// The name in the JSON report.
  var name: String { quotient.name + (divisor.map { "/\($0.name)" } ?? "") }
  /// The name for people.
  var title: String { quotient.title + (divisor.map { " / \($0.title)" } ?? "") }
}

/// A shown, reported or stored state is not the expected one.
public struct LiveFinding: Error, CustomStringConvertible {
  /// The difference, and the steps before it.
  public let description: String
  /// Whether the rows of a list are not those of the naive model.
  public let isOfNaiveRows: Bool

  init(_ description: String, isOfNaiveRows: Bool = false) {
    self.description = description
    self.isOfNaiveRows = isOfNaiveRows
  }
}

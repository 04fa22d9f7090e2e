/// Something that was shown, told or stored is not what it must be.
public struct LiveFinding: Error, CustomStringConvertible {
  /// What, and beside that what was done before.
  public let description: String
  /// Whether the rows of a list are not those of the naive model.
  public let isOfNaiveRows: Bool

  init(_ description: String, isOfNaiveRows: Bool = false) {
    self.description = description
    self.isOfNaiveRows = isOfNaiveRows
  }
}

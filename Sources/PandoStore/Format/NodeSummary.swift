/// What a ``NodeRow`` says beside its records, to be kept when the row is gone.
struct NodeSummary: Equatable {
  let identifier: String
  let isAskedFor: Bool
  /// The types that the node has records of, in the order of the row.
  let types: [UInt32]

  init(_ row: borrowing NodeRow, node: UInt64) throws {
    identifier = try row.identifier(node: node)
    isAskedFor = row.isAskedFor
    types = row.types
  }
}

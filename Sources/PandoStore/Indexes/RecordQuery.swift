package import PandoModels

/// A field of a record, as queries of the store know it.
package enum RecordField: Hashable, Sendable {
  /// The identifier of the node, a text.
  case identifier
  /// A field whose value is read from the body.
  case named(FieldPath)
  /// A value that only the caller can find, by a number that it has given.
  ///
  /// With a path it is that of a field that shows what the body has, unless the body lacks it: then
  /// its value can be anything, such as a default that the type declares.
  case computed(Int, stored: FieldPath?)
}

/// One key of an order.
package enum RecordOrder: Sendable {
  case field(RecordField, isDescending: Bool)
  /// As in a list of identifiers; others come last.
  case identifiers([ByteString: Int])

  var isDescending: Bool {
    if case .field(_, isDescending: true) = self { true } else { false }
  }
}

/// What is asked for of the records of a type.
package struct RecordQuery: Sendable {
  package var typeName: String
  package var filter: FilterTree<RecordField> = .all
  package var order: [RecordOrder] = []
  /// Of whose values only the first record each is kept, in the order of node numbers.
  package var uniqueBy: [RecordField] = []
  package var offset = 0
  package var limit: Int?

  package init(typeName: String) { self.typeName = typeName }

  /// How many records fill the window.
  var target: Int {
    guard let limit else { return .max }
    let (sum, isTooLarge) = offset.addingReportingOverflow(limit)
    return isTooLarge ? .max : sum
  }
}

/// How a query is answered.
public struct QueryPlan: Sendable, Hashable, CustomStringConvertible {
  /// Where the records that may match are found.
  public indirect enum Access: Sendable, Hashable {
    /// Nowhere: nothing can match.
    case nothing
    /// By their identifiers.
    case identifiers(count: Int)
    /// In an index, between some places; `isOrdered` if the result is in its order, so that no more is
    /// read than the limit needs.
    case index(field: String, rangeCount: Int, isOrdered: Bool)
    /// In several of these.
    case union([Access])
    /// Among all records of the type.
    case scan
  }

  /// The type that is asked for.
  public let typeName: String
  /// How many records of the type there are.
  public let recordCount: Int
  /// Where the records are found.
  public let access: Access
  /// Whether what is found has to be sorted.
  public let isSorted: Bool

  /// One line for a person.
  public var description: String {
    "\(typeName): \(access)\(isSorted ? ", then sorted" : "") (\(recordCount) in all)"
  }
}

extension QueryPlan.Access: CustomStringConvertible {
  /// The access in a few words.
  public var description: String {
    switch self {
    case .nothing: "nothing can match"
    case .identifiers(let count): count == 1 ? "by identifier" : "by \(count) identifiers"
    case .index(let field, let rangeCount, let isOrdered):
      "index on \(field)" + (rangeCount == 1 ? "" : ", \(rangeCount) ranges")
        + (isOrdered ? ", in order" : "")
    case .union(let parts): parts.map(\.description).joined(separator: " and ")
    case .scan: "scan"
    }
  }
}

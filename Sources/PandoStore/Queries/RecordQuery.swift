import PandoLMDB
package import PandoModels

/// A field of a record, as queries of the store know it.
package enum RecordField: Hashable, Sendable {
  /// The identifier of the node, a text.
  case identifier
  /// A field whose value is read from the body.
  case named(FieldPath)
  /// A field that holds children: their identifiers.
  case child(FieldPath)
  /// The identifiers of all children, wherever in the record.
  case children
  /// A value that only the caller can find, by a number that it has given.
  ///
  /// With a path it is that of a field that shows what the body has, unless the body lacks it: then
  /// its value can be anything, such as a default that the type declares.
  case computed(Int, stored: FieldPath?)
  /// Such a value that is the identifier of a child, or those of several.
  case computedChild(Int)
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

extension RecordField {
  /// Where the value is in a body; `nil` if it is not found by a name.
  var path: FieldPath? {
    switch self {
    case .named(let path), .child(let path): path
    case .identifier, .children, .computed, .computedChild: nil
    }
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
  /// What comes before the window; `nil` for nothing.
  package var after: RecordPlace?

  package init(typeName: String) { self.typeName = typeName }

  /// The fields of filter and order.
  var fields: [RecordField] {
    var fields = filter.fields
    for case .field(let field, _) in order { fields.append(field) }
    return fields
  }

  /// How many records fill the window.
  var target: Int {
    guard let limit else { return .max }
    let (sum, isTooLarge) = offset.addingReportingOverflow(limit)
    return isTooLarge ? .max : sum
  }
}

/// The place of a record in the order of a query, whether it is there or not.
package struct RecordPlace: Sendable {
  /// What the order compares: a value for each key.
  package let values: [QueryValue]
  /// Its node number, which decides between records of the same values.
  package let node: UInt64

  package init(values: [QueryValue], node: UInt64) {
    self.values = values
    self.node = node
  }
}

/// How a query is answered.
///
/// ```swift
/// let plan = try store.explain(Query(filter: \Book.year == 1965, order: [.ascending(\.title)]))
/// print(plan)  // Book: index on year, then sorted (2000 in all)
/// ```
public struct QueryPlan: Sendable, Hashable, CustomStringConvertible {
  /// Where the records that may match are found.
  ///
  /// ```swift
  /// let plan = try store.explain(Query(filter: \Book.year == 1965))
  /// if case .scan = plan.access { print("no index:", plan) }
  /// ```
  public indirect enum Access: Sendable, Hashable {
    /// Nowhere: nothing can match.
    case nothing
    /// By their identifiers.
    case identifiers(count: Int)
    /// In an index, in some ranges; `isOrdered` if the result is in its order, so that no more is
    /// read than the limit needs.
    case index(field: String, rangeCount: Int, isOrdered: Bool)
    /// Among those that hold certain nodes, which the dependency index knows.
    case parents(count: Int)
    /// In several of these.
    case union([Access])
    /// In each of these.
    case intersection([Access])
    /// Among all records of the type.
    case scan
    /// Among all nodes that have records of other types only, of which so many are decoded.
    case projection(count: Int)
    /// In the count of all records of the type.
    case recordCount
  }

  /// The type that is asked for.
  public let typeName: String
  /// How many records of the type there are.
  public let recordCount: Int
  /// Where the records are found.
  public let access: Access
  /// Whether what is found has to be sorted.
  public let isSorted: Bool
  /// Whether rows of an index tell the answer alone, and no record is looked at.
  public let isToldByIndex: Bool
  /// Why an index of a field of the query can't be used, as a sentence; `nil` if none is left unused.
  ///
  /// The store may lack an index that the type declares, or have made it for other former names and
  /// defaults: `addIndexes(of:)` mends both.
  public package(set) var reason: String?

  /// One line for a person.
  public var description: String {
    "\(typeName): \(access)\(isSorted ? ", then sorted" : "")"
      + "\(isToldByIndex ? ", no record looked at" : "") (\(recordCount) in all)"
      + (reason.map { "; \($0)" } ?? "")
  }
}

extension QueryPlan.Access: CustomStringConvertible {
  /// The access in a few words.
  public var description: String {
    switch self {
    case .nothing: "nothing can match"
    case .identifiers(let count): count == 1 ? "by identifier" : "by \(count) identifiers"
    case .parents(let count): count == 1 ? "who holds a node" : "who holds \(count) nodes"
    case .index(let field, let rangeCount, let isOrdered):
      "index on \(field)" + (rangeCount == 1 ? "" : ", \(rangeCount) ranges")
        + (isOrdered ? ", in order" : "")
    case .union(let parts): parts.map(\.description).joined(separator: " and ")
    case .intersection(let parts): parts.map(\.description).joined(separator: " shared with ")
    case .scan: "scan"
    case .projection(let count): "scan of \(count) records of other types"
    case .recordCount: "count of records"
    }
  }
}

/// A record that matches a query.
@safe struct QueryMatch {
  let node: UInt64
  /// Where its body lies; `nil` if nobody has looked at it.
  ///
  /// Valid as long as the snapshot that was queried, and in a transaction until it changes something.
  let body: UnsafeRawBufferPointer?
  /// What the order compares.
  let values: [QueryValue]

  init(node: UInt64) {
    self.node = node
    unsafe body = nil
    values = []
  }

  init(node: UInt64, _ body: Span<UInt8>, values: [QueryValue] = []) {
    self.node = node
    // Used by the one who has the snapshot: see above.
    unsafe self.body = body.withUnsafeBytes { unsafe $0 }
    self.values = values
  }
}

/// A filter made ready to be compared with many bodies.
///
/// Comparisons of a field with a plain value, if all of them must hold, are made on the bytes as they
/// lie in a body; the rest of the filter is asked for values.
@safe struct BodyFilter {
  private var comparisons: [BodyComparison] = []
  /// The same, to be asked without counting references; the array above keeps them.
  private var uncounted: [Unmanaged<BodyComparison>] = unsafe []
  /// What must hold besides.
  private(set) var rest: [FilterTree<RecordField>] = []

  init(_ filter: FilterTree<RecordField>) {
    let parts = if case .and(let parts) = filter { parts } else { [filter] }
    for part in parts {
      if case .all = part { continue }
      if case .compare(.named(let path), let relation, let value) = part,
        let comparison = BodyComparison(path, relation, value)
      {
        comparisons.append(comparison)
        unsafe uncounted.append(.passUnretained(comparison))
      } else {
        rest.append(part)
      }
    }
  }

  /// Whether a body may match: all comparisons with plain values hold, and ``rest`` is to be asked.
  func mayMatch(_ body: Span<UInt8>, _ children: any FieldChildren) throws -> Bool {
    for index in unsafe uncounted.indices {
      let comparison = unsafe uncounted[index]
      guard try unsafe comparison._withUnsafeGuaranteedRef({ try $0.holds(in: body, children) })
      else {
        return false
      }
    }
    return true
  }
}

/// A comparison of a field with a plain value.
private final class BodyComparison: Sendable {
  private let path: FieldPath
  private let relation: FilterComparison
  private let value: QueryValue
  private let operand: FieldOperand

  /// Makes a comparison.
  ///
  /// It is `nil` for a field inside another one, for one with former names or a default, and for a value
  /// that is not plain.
  init?(_ path: FieldPath, _ relation: FilterComparison, _ value: QueryValue) {
    guard path.isWhole, path.fallbacks.isEmpty, let plain = FieldOperand.Value(value) else {
      return nil
    }
    self.path = path
    self.relation = relation
    self.value = value
    operand = FieldOperand(field: path.name, plain)
  }

  func holds(in body: Span<UInt8>, _ children: any FieldChildren) throws -> Bool {
    // Read during the call only.
    let order = try unsafe body.withUnsafeBytes { body in
      do throws(CBORError) {
        return try unsafe operand.order(in: body)
      } catch {
        throw path.damaged(error)
      }
    }
    return switch (order, relation) {
    case (.unknown, _): relation.holds(try path.value(in: body, children), value)
    case (.less, .less), (.less, .lessOrEqual), (.less, .notEqual): true
    case (.equal, .equal), (.equal, .lessOrEqual), (.equal, .greaterOrEqual): true
    case (.greater, .greater), (.greater, .greaterOrEqual), (.greater, .notEqual): true
    default: false
    }
  }
}

extension FieldOperand.Value {
  /// The value as it stands in bodies; `nil` if it is none of the plain ones.
  fileprivate init?(_ value: QueryValue) {
    switch value {
    case .bool(let value): self = .bool(value)
    case .integer(let value): self = .integer(value)
    case .double(let value) where !value.isNaN: self = .double(value)
    case .string(let text): self = .text(Array(text.utf8))
    default: return nil
    }
  }
}

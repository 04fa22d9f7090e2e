import PandoLMDB
package import PandoModels
import PandoRecords

/// A field of a record in queries of the store.
package enum RecordField: Hashable, Sendable {
  /// The identifier of the node, a text.
  case identifier
  /// A field whose value is read from the body.
  case named(FieldPath)
  /// A field with children: their identifiers.
  case child(FieldPath)
  /// The identifiers of all children, anywhere in the record.
  case children
  /// A value that only the caller can compute, by a number that it assigned.
  ///
  /// With a path, the value is that of the body. If the body lacks it, the value can be anything,
  /// such as a default that the type declares.
  case computed(Int, stored: FieldPath?)
  /// A computed value that is the identifier of a child, or those of several.
  case computedChild(Int)
}

/// One key of an order.
package enum RecordOrder: Sendable {
  case field(RecordField, isDescending: Bool)
  /// The order of a list of identifiers; others come last.
  case identifiers([ByteString: Int])
  /// The relevance for the search of the filter; the highest first.
  case relevance

  var isDescending: Bool {
    switch self {
    case .field(_, let isDescending): isDescending
    case .identifiers: false
    case .relevance: true
    }
  }

  var isRelevance: Bool { if case .relevance = self { true } else { false } }
}

extension RecordField {
  /// The path of the value in a body; `nil` if it has no name.
  var path: FieldPath? {
    switch self {
    case .named(let path), .child(let path): path
    case .identifier, .children, .computed, .computedChild: nil
    }
  }
}

/// A query for the records of a type.
package struct RecordQuery: Sendable {
  package var typeName: String
  package var filter: FilterTree<RecordField> = .all
  package var order: [RecordOrder] = []
  /// Only the first record of each combination of these values is kept, in node order.
  package var uniqueBy: [RecordField] = []
  package var offset = 0
  package var limit: Int?
  /// The place before the window; `nil` for none.
  package var after: RecordPlace?
  /// Whether the result has the opposite order, also of nodes with equal values; not with ``uniqueBy``.
  package var isReversed = false

  package init(typeName: String) { self.typeName = typeName }

  /// The fields of filter and order.
  var fields: [RecordField] {
    var fields = filter.fields
    for case .field(let field, _) in order { fields.append(field) }
    return fields
  }

  /// The first search that must hold.
  var searched: (fields: [RecordField], search: WordSearch)? { filter.requiredSearch }

  /// The number of records that fill the window.
  var target: Int {
    guard let limit else { return .max }
    let (sum, isTooLarge) = offset.addingReportingOverflow(limit)
    return isTooLarge ? .max : sum
  }
}

/// The place of a record in the order of a query; the record need not exist.
package struct RecordPlace: Sendable {
  /// The compared values, one per key.
  package let values: [QueryValue]
  /// Its node number, which decides between records of equal values.
  package let node: UInt64

  package init(values: [QueryValue], node: UInt64) {
    self.values = values
    self.node = node
  }
}

/// A question about the records of a query, in place of the records.
package typealias RecordQuestion = NumberedMeasure<RecordField>

extension NumberedMeasure<RecordField> {
  /// The field that it sums up over all entities; `nil` for another question.
  var summed: FieldPath? {
    guard case .sum(let number, _) = measure, case .named(let path) = fields[number] else {
      return nil
    }
    return path
  }
}

/// The plan of a query.
///
/// ```swift
/// let plan = try store.explain(Query(filter: \Book.year == 1965, order: [.ascending(\.title)]))
/// print(plan)  // Book: index on year, then sorted (2000 in all)
/// ```
public struct QueryPlan: Sendable, Hashable, CustomStringConvertible {
  /// The way in which the records are found.
  ///
  /// ```swift
  /// let plan = try store.explain(Query(filter: \Book.year == 1965))
  /// if case .scan = plan.access { print("no index:", plan) }
  /// ```
  public indirect enum Access: Sendable, Hashable {
    /// Nothing can match.
    case nothing
    /// By their identifiers.
    case identifiers(count: Int)
    /// In ranges of an index. If `isOrdered`, the result is in its order, and the limit bounds the
    /// number of read rows.
    case index(field: String, rangeCount: Int, isOrdered: Bool)
    /// By the words of an index, whose fields are named.
    case words(fields: String)
    /// Among the parents of nodes, by the dependency index.
    case parents(count: Int)
    /// In the union of several.
    case union([Access])
    /// In the intersection of several.
    case intersection([Access])
    /// Among all records of the type.
    case scan
    /// Among all nodes with records of other types only; `count` of them are decoded.
    case projection(count: Int)
    /// From the stored number of records of the type.
    case recordCount
  }

  /// The part of each record that an answer or a result reads.
  ///
  /// ```swift
  /// let plan = try store.explain(.sum(\.total), to: Query(filter: \Order.day == "2026-05-01"))
  /// if plan.reading != .indexRows { print("an index of day and total would cover the answer:", plan) }
  /// ```
  public enum Reading: Sendable, Hashable {
    /// Nothing: the rows of an index, or the stored number of records, give the answer.
    case indexRows
    /// The fields of the question, without decoding a model.
    case recordFields
    /// The whole record, which is decoded.
    case models
  }

  /// The queried type.
  public let typeName: String
  /// The number of records of the type.
  public let recordCount: Int
  /// How the records are found.
  public let access: Access
  /// Whether the records have to be sorted.
  public let isSorted: Bool
  /// The part of each record that is read.
  public package(set) var reading: Reading
  /// The reason why an index of a field of the query can't be used; `nil` if all are usable.
  ///
  /// The store may lack a declared index, or have one with other former names and defaults:
  /// `addIndexes(of:)` corrects both.
  public package(set) var reason: String?
  /// How the models that its conditions `.has(_:by:)` name are found; they are found first.
  public package(set) var related: [QueryPlan] = []

  /// One line for people.
  public var description: String {
    "\(typeName): \(access)\(isSorted ? ", then sorted" : "")"
      + "\(reading) (\(recordCount) in all)"
      + related.map { "; after \($0)" }.joined()
      + (reason.map { "; \($0)" } ?? "")
  }
}

extension QueryPlan.Reading: CustomStringConvertible {
  /// The addition to a plan; empty for models.
  public var description: String {
    switch self {
    case .indexRows: ", no record looked at"
    case .recordFields: ", only fields of records"
    case .models: ""
    }
  }
}

extension QueryPlan.Access: CustomStringConvertible {
  /// The access in a few words.
  public var description: String {
    switch self {
    case .nothing: "nothing can match"
    case .identifiers(let count): count == 1 ? "by identifier" : "by \(count) identifiers"
    case .parents(let count): count == 1 ? "parents of a node" : "parents of \(count) nodes"
    case .index(let field, let rangeCount, let isOrdered):
      "index on \(field)" + (rangeCount == 1 ? "" : ", \(rangeCount) ranges")
        + (isOrdered ? ", in order" : "")
    case .words(let fields): "words of \(fields)"
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
  /// The address of its body; `nil` if it was not read.
  ///
  /// Valid as long as the queried snapshot, and in a transaction until the next change.
  let body: UnsafeRawBufferPointer?
  /// The compared values of the order.
  let values: [QueryValue]

  init(node: UInt64) {
    self.node = node
    unsafe body = nil
    values = []
  }

  init(node: UInt64, _ body: Span<UInt8>, values: [QueryValue] = []) {
    self.node = node
    // The owner of the snapshot uses it: see above.
    unsafe self.body = body.withUnsafeBytes { unsafe $0 }
    self.values = values
  }
}

/// A filter prepared for comparison with many bodies.
///
/// Comparisons of a field with a plain value, if they all must hold, are made on the bytes of a
/// body. The rest of the filter is evaluated on values.
@safe struct BodyFilter {
  private var comparisons: [BodyComparison] = []
  /// The same without reference counting; the array above retains them.
  private var uncounted: [Unmanaged<BodyComparison>] = unsafe []
  /// The remaining conditions.
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

  /// Whether a body may match: all comparisons hold, and ``rest`` remains to be evaluated.
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
  /// It is `nil` for a field inside another one, for one with fallbacks or a reading, and for a value that is
  /// not plain.
  init?(_ path: FieldPath, _ relation: FilterComparison, _ value: QueryValue) {
    guard path.isWhole, path.isPlainlyRead, let plain = FieldOperand.Value(value) else {
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
  /// The value as it is encoded in bodies; `nil` if it is not plain.
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

import FoundationEssentials
package import PandoModels
import PandoRecords
import PandoSystem

extension ModelSnapshot {
  /// Passes the values of fields of each record of a query to a closure, for tools without Swift types.
  ///
  /// A child is its identifier. Elements of a list are an array. A field that a record lacks is null.
  ///
  /// - Parameters:
  ///   - fields: The fields of a row.
  ///   - query: The query without computed fields.
  ///   - body: Receives the values of a record, in the order of the query; an error ends the reading.
  /// - Throws: The error of `body`; ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: As finding the records. Without order, offset and limit the memory does not grow
  ///   with the result.
  package func forEachRow(
    of fields: [RecordField], matching query: RecordQuery, _ body: ([TreeValue]) throws -> Void
  ) throws {
    var source = SnapshotSource.begin(reader)
    defer { SnapshotSource.end(&source) }
    var run = try QueryRun(
      query, reader, fields.allSatisfy { $0.path == nil } ? .nodes : .records)
    try withoutActuallyEscaping(body) { body in
      let sink = RowSink(fields, type: run.type, source, body)
      try run.forEach(reader, source, computing: QueryRun.computingNothing(), sink)
    }
  }
}

/// Reads the fields of the records of a query.
private final class RowSink: MatchSink {
  private let fields: [RecordField]
  private let type: UInt32
  private let source: SnapshotSource
  private let body: ([TreeValue]) throws -> Void

  init(
    _ fields: [RecordField], type: UInt32, _ source: SnapshotSource,
    _ body: @escaping ([TreeValue]) throws -> Void
  ) {
    self.fields = fields
    self.type = type
    self.source = source
    self.body = body
  }

  func take(_ match: QueryMatch) throws {
    let key = RecordKey(type: type, node: match.node)
    var bytes = unsafe match.body
    var tree: TreeNode?
    try body(
      try fields.map { field in
        if case .children = field {
          if unsafe bytes == nil { unsafe bytes = try source.body(of: key) }
          guard let body = unsafe bytes else { return .null }
          // The bytes live as long as the reader's snapshot.
          return TreeValue(try source.children(in: unsafe Span(_unsafeBytes: body))) ?? .null
        }
        let value = try unsafe source.value(
          of: field, key, &bytes, QueryRun.computingNothing())
        if let simple = TreeValue(value) { return simple }
        guard let path = field.path else { return .null }
        // A value of several parts is read from the decoded record.
        let record = try tree ?? source.tree(key)
        tree = record
        return try TreePath(path.name).value(in: record, source)
      })
  }
}

extension TreeValue {
  /// Makes a value of one part, or a list of such values; `nil` for another one.
  package init?(_ value: QueryValue) {
    func bignum(_ number: UInt128) -> TreeValue {
      var bytes: [UInt8] = []
      for shift in stride(from: 120, through: 0, by: -8) {
        let byte = UInt8(truncatingIfNeeded: number >> UInt128(shift))
        if byte != 0 || !bytes.isEmpty { bytes.append(byte) }
      }
      return .bytes(bytes)
    }
    func integer(_ isNegative: Bool, _ magnitude: UInt128) -> TreeValue {
      switch QueryValue(isNegative: isNegative, magnitude: magnitude) {
      case .integer(let value): .integer(value)
      case .unsigned(let value): .unsigned(value)
      default:
        isNegative
          ? .tagged(RecordTag.negativeBignum, bignum(magnitude - 1))
          : .tagged(RecordTag.positiveBignum, bignum(magnitude))
      }
    }
    switch value {
    case .null: self = .null
    case .bool(let value): self = .bool(value)
    case .integer(let value): self = .integer(value)
    case .unsigned(let value): self = .unsigned(value)
    case .wideInteger(let isNegative, let magnitude): self = integer(isNegative, magnitude)
    case .double(let value): self = .double(value)
    case .decimal(let isNegative, let magnitude, let exponent):
      self = .tagged(
        RecordTag.decimalFraction, [.integer(Int64(exponent)), integer(isNegative, magnitude)])
    case .string(let text): self = .string(text)
    case .data(let data): self = .bytes(Array(data))
    case .uuid(let uuid):
      self = .tagged(
        RecordTag.uuid, .bytes(unsafe withUnsafeBytes(of: uuid.uuid) { unsafe Array($0) }))
    case .composite: return nil
    case .elements(let elements):
      var values: [TreeValue] = []
      for element in elements {
        guard let value = TreeValue(element) else { return nil }
        values.append(value)
      }
      self = .array(values)
    }
  }

  /// The value with the identifier of each node in place of it.
  fileprivate var namingChildren: TreeValue {
    switch self {
    case .node(let node): .string(node.identifier)
    case .reference(let identifier, _): .string(identifier)
    case .required(let value): value.namingChildren
    case .array(let values): .array(values.map(\.namingChildren))
    case .object(let fields): .object(fields.mapValues(\.namingChildren))
    case .entries(let entries): .entries(entries.mapValues(\.namingChildren))
    default: self
    }
  }
}

/// The way of a name through decoded records, as ``FieldPath`` goes through their bytes.
private struct TreePath {
  private let name: String
  private let steps: [(name: String, isEach: Bool)]

  init(_ name: String) {
    self.name = name
    steps = name.split(separator: ".", omittingEmptySubsequences: false).map { step in
      step.count > 2 && step.hasSuffix("[]")
        ? (String(step.dropLast(2)), true) : (String(step), false)
    }
  }

  func value(in record: TreeNode, _ source: SnapshotSource) throws -> TreeValue {
    if let value = record[name] { return value.namingChildren }
    var values: [TreeValue] = [.node(record)]
    for step in steps {
      values = try values.flatMap { value -> [TreeValue] in
        guard let next = try Self.opened(value, source)?[step.name] else { return [.null] }
        return step.isEach ? Self.elements(of: next) : [next]
      }
    }
    if steps.contains(where: \.isEach) { return .array(values.map(\.namingChildren)) }
    return values.first?.namingChildren ?? .null
  }

  /// The fields of an object, or of the record of a child.
  private static func opened(
    _ value: TreeValue, _ source: SnapshotSource
  ) throws -> TreeValue? {
    switch value {
    case .required(let value): try opened(value, source)
    case .reference(let identifier, let typeName):
      try source.tree(identifier, typeName)?.fields
    case .node(let node): node.fields
    default: value
    }
  }

  private static func elements(of value: TreeValue) -> [TreeValue] {
    switch value {
    case .required(let value): elements(of: value)
    case .array(let values): values
    case .object(let fields): fields.keys.ordered().map { fields[$0] ?? .null }
    case .entries(let entries):
      entries.map { ($0.key.json(.lossless), $0.value) }.ordered { $0.0 < $1.0 }.map(\.1)
    default: []
    }
  }
}

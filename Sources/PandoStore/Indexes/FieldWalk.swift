import PandoModels
import PandoSystem

/// Where a name that leads on into children finds their records.
///
/// - Note: What it gives lives as long as the version that is read, and in a transaction until the next
///   change.
protocol FieldChildren: AnyObject {
  /// The record that a reference leads to: of its own type, else the newest of the node; `nil` if it is
  /// not there.
  func record(_ reference: RecordReference) throws -> FieldChild?

  /// All records of a node: what one of them lacks another one may have.
  func records(ofNode node: UInt64) throws -> [FieldChild]

  /// The identifier of a node; `nil` if it is not there.
  func identifier(ofNode node: UInt64) throws -> String?

  /// The Swift type of records, if this process has used it.
  func swiftType(_ number: UInt32) throws -> (any SimpleModel.Type)?
}

/// The record of a child.
@safe struct FieldChild {
  let type: UInt32
  let body: UnsafeRawBufferPointer
}

/// A value at the end of a name.
enum FieldLeaf: Equatable {
  case value(QueryValue)
  /// A child, whose value is its identifier.
  case child(UInt64)

  func value(_ children: any FieldChildren) throws -> QueryValue {
    switch self {
    case .value(let value): value
    case .child(let node): try children.identifier(ofNode: node).map { .string($0) } ?? .null
    }
  }
}

/// What a name leads to in one record.
struct FieldFindings {
  /// One, or one for each element.
  fileprivate(set) var leaves: [FieldLeaf] = []
  /// The types of the records beside its own on the way there.
  fileprivate(set) var childTypes: [UInt32] = []
  /// Whether a record on the way is not at hand.
  fileprivate(set) var isBeyond = false
  /// Whether a record on the way has no such field.
  fileprivate(set) var isMissing = false
  /// Where the last field was looked for, or that with the elements; and which step it was.
  fileprivate(set) var lastMap: (map: CBORReader, step: Int)?

  fileprivate mutating func note(_ type: UInt32) {
    if !childTypes.contains(type) { childTypes.append(type) }
  }
}

extension FieldPath {
  /// The value of a field that may be a child, have elements, or lie in a child's record.
  @inline(never)
  func relatedValue(in body: Span<UInt8>, _ children: any FieldChildren) throws -> QueryValue {
    let leaves = try findings(in: body, children).leaves
    guard hasElements else { return try leaves.first?.value(children) ?? .null }
    return .elements(try leaves.map { try $0.value(children) })
  }

  /// What the name leads to in a body.
  ///
  /// - Throws: ``StoreError`` `damaged` when the bytes are no record body.
  func findings(in body: Span<UInt8>, _ children: any FieldChildren) throws -> FieldFindings {
    // Read during the call only.
    try unsafe body.withUnsafeBytes { bytes throws in
      var findings = FieldFindings()
      let start = unsafe CBORReader(bytes)
      do {
        var reader = start
        if try find(step: 0, in: &reader) {
          findings.leaves.append(try Self.leaf(&reader))
          findings.lastMap = (start, parts.count)
        } else if parts.isEmpty {
          findings.leaves.append(.value(.null))
          findings.isMissing = true
          findings.lastMap = (start, 0)
        } else {
          try walk(0, start, children, &findings)
        }
      } catch {
        throw (error as? CBORError).map(damaged) ?? error
      }
      return findings
    }
  }

  /// A child that a name leads to, and the step with which it goes on there.
  struct Source: Equatable {
    let child: RecordReference
    let step: Int
  }

  /// What alone of a body decides where the name leads to: the child that it leads through first.
  ///
  /// - Returns: `nil` if it leads to none, or into elements before it does.
  /// - Throws: ``StoreError`` `damaged` when the bytes are no record body.
  func source(in body: Span<UInt8>) throws -> Source? {
    // Read during the call only.
    try unsafe body.withUnsafeBytes { bytes throws in
      do throws(CBORError) {
        var reader = unsafe CBORReader(bytes)
        if try find(step: 0, in: &reader) { return nil }
        reader = unsafe CBORReader(bytes)
        for (step, part) in parts.enumerated() {
          guard try find(step: step + 1, in: &reader), !part.isEach else { return nil }
          if let (child, _) = try reader.peekReference() {
            return Source(child: child, step: step + 1)
          }
        }
        return nil
      } catch {
        throw damaged(error)
      }
    }
  }

  private static func leaf(_ reader: inout CBORReader) throws(CBORError) -> FieldLeaf {
    if let (reference, _) = try reader.peekReference() { return .child(reference.node) }
    return .value(try value(in: &reader))
  }

  /// Goes on from a value with the steps that are left.
  private func walk(
    _ step: Int, _ start: CBORReader, _ children: any FieldChildren,
    _ findings: inout FieldFindings
  ) throws {
    var reader = start
    guard step < parts.count else {
      findings.leaves.append(try Self.leaf(&reader))
      return
    }
    var others: UInt64?
    if let (reference, _) = try reader.peekReference() {
      findings.note(reference.type)
      others = reference.node
      guard let child = try children.record(reference) else {
        findings.isBeyond = true
        findings.leaves.append(.value(.null))
        return
      }
      findings.note(child.type)
      reader = unsafe CBORReader(child.body)
    }
    if !(findings.lastMap.map { $0.step < parts.count && parts[$0.step].isEach } ?? false) {
      findings.lastMap = (reader, step)
    }
    if let others { reader = try having(step, of: others, reader, children, &findings) }
    guard try find(step: step + 1, in: &reader) else {
      findings.leaves.append(.value(.null))
      findings.isMissing = true
      return
    }
    guard parts[step].isEach else { return try walk(step + 1, reader, children, &findings) }
    guard let elements = try Self.openElements(in: &reader) else {
      findings.leaves.append(.value(.null))
      return
    }
    try walkElements(elements, step + 1, reader, children, &findings)
  }

  /// The record of a node that has the field of a step: the one that is meant, else another one.
  ///
  /// Fields of one name are the same in all of them.
  private func having(
    _ step: Int, of node: UInt64, _ meant: CBORReader, _ children: any FieldChildren,
    _ findings: inout FieldFindings
  ) throws -> CBORReader {
    var probe = meant
    if try find(step: step + 1, in: &probe) { return meant }
    for other in try children.records(ofNode: node) {
      let start = unsafe CBORReader(other.body)
      var probe = start
      if try Self.find(parts[step].key, in: &probe) {
        findings.note(other.type)
        return start
      }
    }
    return meant
  }

  private func walkElements(
    _ elements: (count: Int, haveKeys: Bool), _ step: Int, _ start: CBORReader,
    _ children: any FieldChildren, _ findings: inout FieldFindings
  ) throws {
    var reader = start
    for _ in 0..<elements.count {
      if elements.haveKeys { try reader.skip() }
      try walk(step, reader, children, &findings)
      try reader.skip()
    }
  }

  /// Whether two bodies have the same under a key, byte by byte.
  static func isSame(_ key: FieldKey, _ one: Span<UInt8>, _ other: Span<UInt8>) -> Bool {
    func value(_ body: Span<UInt8>) -> [UInt8]? {
      // Read during the call only.
      unsafe body.withUnsafeBytes { bytes in
        var reader = unsafe CBORReader(bytes)
        guard (try? find(key, in: &reader)) == true else { return nil }
        let start = reader.offset
        guard (try? reader.skip()) != nil else { return nil }
        return unsafe Array(bytes[start..<reader.offset])
      }
    }
    return value(one) == value(other)
  }

  /// Under which keys of the last map the same is found.
  func keys(
    of findings: FieldFindings, _ value: QueryValue, _ children: any FieldChildren
  ) throws -> [String] {
    guard let (map, step) = findings.lastMap else { return [] }
    var reader = map
    guard let count = try Self.openMap(in: &reader) else { return [] }
    var keys: [String] = []
    for _ in 0..<count {
      guard try reader.peek().major == .text else { return keys }
      let key = try reader.text()
      var found = FieldFindings()
      if step < parts.count, parts[step].isEach {
        var list = reader
        if let elements = try Self.openElements(in: &list) {
          try walkElements(elements, step + 1, list, children, &found)
        }
      } else {
        var item = reader
        found.leaves = [try Self.leaf(&item)]
      }
      let values = try found.leaves.map { try $0.value(children) }
      if hasElements ? Self.haveSame(values, value) : values.first == value { keys.append(key) }
      try reader.skip()
    }
    return keys
  }

  /// Whether these are the values of the elements, in whatever order.
  static func haveSame(_ values: [QueryValue], _ value: QueryValue) -> Bool {
    guard case .elements(let others) = value else { return false }
    return values.count == others.count && values.ordered() == others.ordered()
  }

  /// Moves into the list or map that comes next; `nil` if something else comes.
  private static func openElements(
    in reader: inout CBORReader
  ) throws(CBORError) -> (count: Int, haveKeys: Bool)? {
    let head = try reader.peek()
    if head.major == .array {
      _ = try reader.head()
      return (Int(head.argument), false)
    }
    return try openMap(in: &reader).map { ($0, true) }
  }
}

import PandoModels
import PandoRecords
import PandoSystem

/// The records of children, for a name that leads into them.
///
/// - Note: The results live as long as the version, and in a transaction until the next change.
protocol FieldChildren: AnyObject {
  /// The record of a reference: of its own type, or the node's newest; `nil` if there is none.
  func record(_ reference: RecordReference) throws -> FieldChild?

  /// All records of a node: a field may be missing in one and present in another.
  func records(ofNode node: UInt64) throws -> [FieldChild]

  /// The identifier of a node; `nil` if it does not exist.
  func identifier(ofNode node: UInt64) throws -> String?

  /// The Swift type of a type number, if this process has used it.
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
  /// A child; its value is its identifier.
  case child(UInt64)

  func value(_ children: any FieldChildren) throws -> QueryValue {
    switch self {
    case .value(let value): value
    case .child(let node): try children.identifier(ofNode: node).map { .string($0) } ?? .null
    }
  }
}

/// The findings of a name in one record.
struct FieldFindings {
  /// One value, or one per element.
  fileprivate(set) var leaves: [FieldLeaf] = []
  /// The types of the other records on the path.
  fileprivate(set) var childTypes: [UInt32] = []
  /// Whether a record on the path is not available.
  fileprivate(set) var isBeyond = false
  /// Whether a record on the path does not have the field.
  fileprivate(set) var isMissing = false
  /// The map in which the last field, or the elements, were searched, and the step.
  fileprivate(set) var lastMap: (map: CBORReader, step: Int)?

  fileprivate mutating func note(_ type: UInt32) {
    if !childTypes.contains(type) { childTypes.append(type) }
  }
}

extension FieldPath {
  /// The value of a field that may be a child, have elements, or be in a child's record.
  @inline(never)
  func relatedValue(in body: Span<UInt8>, _ children: any FieldChildren) throws -> QueryValue {
    let leaves = try findings(in: body, children).leaves
    guard hasElements else { return try leaves.first?.value(children) ?? .null }
    return .elements(try leaves.map { try $0.value(children) })
  }

  /// The values of the elements of a list in the body itself; `nil` if a child or another list is on the way.
  func plainElements(in body: Span<UInt8>) throws -> QueryValue? {
    if areWords { return .elements(try wordValues(in: body)) }
    guard fallbacks.isEmpty, parts.count <= 2, parts[0].isEach, parts.count == 1 || !parts[1].isEach
    else { return nil }
    // Read during the call only.
    return try unsafe body.withUnsafeBytes { bytes in
      do throws(CBORError) {
        var reader = unsafe CBORReader(bytes)
        guard try Self.find(parts[0].key, in: &reader),
          let (count, haveKeys) = try Self.openElements(in: &reader)
        else { return nil }
        var values: [QueryValue] = []
        values.reserveCapacity(count)
        for _ in 0..<count {
          if haveKeys { try reader.skip() }
          var element = reader
          guard try element.peekReference() == nil else { return nil }
          var isFound = true
          if parts.count == 2 { isFound = try Self.find(parts[1].key, in: &element) }
          if isFound {
            guard try element.peekReference() == nil else { return nil }
            values.append(try leafValue(in: &element))
          } else {
            values.append(.null)
          }
          try reader.skip()
        }
        return .elements(values)
      } catch {
        throw damaged(error)
      }
    }
  }

  /// Finds the values of the name in a body.
  ///
  /// - Throws: ``StoreError`` `damaged` if the bytes are not a record body.
  func findings(in body: Span<UInt8>, _ children: any FieldChildren) throws -> FieldFindings {
    if areWords {
      var findings = FieldFindings()
      findings.leaves = try wordValues(in: body).map { .value($0) }
      return findings
    }
    // Read during the call only.
    return try unsafe body.withUnsafeBytes { bytes throws in
      var findings = FieldFindings()
      let start = unsafe CBORReader(bytes)
      do {
        var reader = start
        if try find(step: 0, in: &reader) {
          findings.leaves.append(try leaf(&reader))
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

  /// A child on the path of a name, and the step that continues in it.
  struct Source: Equatable {
    let child: RecordReference
    let step: Int
  }

  /// The first child on the path, which alone decides where the name leads to.
  ///
  /// - Returns: `nil` if there is none, or if elements come before it.
  /// - Throws: ``StoreError`` `damaged` if the bytes are not a record body.
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

  private func leaf(_ reader: inout CBORReader) throws(CBORError) -> FieldLeaf {
    if let (reference, _) = try reader.peekReference() { return .child(reference.node) }
    return .value(try leafValue(in: &reader))
  }

  /// Continues from a value with the remaining steps.
  private func walk(
    _ step: Int, _ start: CBORReader, _ children: any FieldChildren,
    _ findings: inout FieldFindings
  ) throws {
    var reader = start
    guard step < parts.count else {
      findings.leaves.append(try leaf(&reader))
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

  /// A record of a node with the field of a step: the referenced one, or else another.
  ///
  /// Fields of one name are equal in all records of a node.
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

  /// Whether two bodies have the same bytes under a key.
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

  /// The keys of the last map with the same value.
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
        found.leaves = [try leaf(&item)]
      }
      let values = try found.leaves.map { try $0.value(children) }
      if hasElements ? Self.haveSame(values, value) : values.first == value { keys.append(key) }
      try reader.skip()
    }
    return keys
  }

  /// Whether these are the values of the elements, in any order.
  static func haveSame(_ values: [QueryValue], _ value: QueryValue) -> Bool {
    guard case .elements(let others) = value else { return false }
    return values.count == others.count && values.ordered() == others.ordered()
  }

  /// Moves into the next list or map; `nil` if the next item is neither.
  static func openElements(
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

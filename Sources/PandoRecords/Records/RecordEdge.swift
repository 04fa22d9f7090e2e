/// The record of a child: the store's numbers for its identifier and its type.
package struct RecordReference: Hashable, Sendable {
  /// The number of the identifier.
  package let node: UInt64
  /// The number of the model type.
  package let type: UInt32

  package init(node: UInt64, type: UInt32) {
    self.node = node
    self.type = type
  }
}

/// The relation of a record to a child; a record has one edge per distinct child.
package struct RecordEdge: Equatable, Sendable {
  /// The child.
  package let child: RecordReference
  /// The ways in which the record can lose it.
  package let kinds: EdgeKinds

  package init(child: RecordReference, kinds: EdgeKinds) {
    self.child = child
    self.kinds = kinds
  }
}

extension [RecordEdge] {
  /// Sorts by child and joins the edges of each child.
  ///
  /// - Complexity: O(*n* log *n*).
  package mutating func normalize() {
    guard count > 1 else { return }
    sort { ($0.child.node, $0.child.type) < ($1.child.node, $1.child.type) }
    var last = 0
    for index in 1..<count {
      if self[index].child == self[last].child {
        self[last] = RecordEdge(
          child: self[last].child, kinds: self[last].kinds.union(self[index].kinds))
      } else {
        last += 1
        self[last] = self[index]
      }
    }
    removeSubrange((last + 1)...)
  }
}

/// The ways in which a parent can lose a child: the innermost slots of all references in one
/// record.
///
/// A reference in a required slot of a value without identifier is ``required``, even if the value
/// is an element of a list. The effect on the parent is determined from the record.
package struct EdgeKinds: OptionSet, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The surrounding value requires the child.
  package static let required = EdgeKinds(rawValue: 1)
  /// The slot becomes null.
  package static let optional = EdgeKinds(rawValue: 2)
  /// The element is removed from its list.
  package static let element = EdgeKinds(rawValue: 4)
  /// The entry is removed from its map.
  package static let entry = EdgeKinds(rawValue: 8)
}

/// Limits of the record coder.
package enum RecordLimits {
  /// The most nested values, lists, maps and models without identifier in one record.
  package static let maximumNestingDepth = 128

  /// The most nested nodes, including the root; lists between them do not count.
  ///
  /// All functions that make trees deeper use this limit. Coding recurses on a stack from
  /// `LargeStack`, but Swift also deallocates nested values recursively, on the caller's stack.
  package static let maximumNodeDepth = 1024
}

extension CBORReader {
  /// Reads a reference after its tag.
  package mutating func reference() throws(CBORError) -> RecordReference {
    let before = self
    guard try arrayHead() == 2 else { throw before.error(.wrongKind) }
    let node = try unsigned()
    guard let type = UInt32(exactly: try unsigned()) else {
      throw before.error(.numberOutOfRange)
    }
    return RecordReference(node: node, type: type)
  }

  /// The next reference and its number of bytes; `nil` for another item.
  package func peekReference() throws(CBORError) -> (reference: RecordReference, byteCount: Int)? {
    // The first of the three bytes of the tag's head begins tags only. In bounds: more than three
    // bytes are left.
    guard remaining > 3, unsafe position.load(as: UInt8.self) == 0xD9 else { return nil }
    let bits = unsafe position.loadUnaligned(fromByteOffset: 1, as: UInt16.self)
    let tag = UInt64(UInt16(bigEndian: bits))
    guard tag == RecordTag.requiredReference || tag == RecordTag.optionalReference else {
      return nil
    }
    var copy = self
    copy.advance(by: 3)
    if let reference = copy.shortReference() {
      return unsafe (reference, copy.position - position)
    }
    let reference = try copy.reference()
    return unsafe (reference, copy.position - position)
  }

  /// Reads a reference with small numbers after its tag; for other items nothing happens.
  private mutating func shortReference() -> RecordReference? {
    var copy = self
    // An array of two; in bounds, because a byte is left.
    guard copy.remaining > 0, unsafe copy.position.load(as: UInt8.self) == 0x82 else { return nil }
    copy.advance(by: 1)
    guard let node = copy.takeSmallUnsigned(), let number = copy.takeSmallUnsigned(),
      let type = UInt32(exactly: number)
    else { return nil }
    self = copy
    return RecordReference(node: node, type: type)
  }
}

extension CBORWriter {
  /// Appends a reference to a record.
  package mutating func append(reference: RecordReference, isOptional: Bool) {
    append(tag: isOptional ? RecordTag.optionalReference : RecordTag.requiredReference)
    append(arrayHead: 2)
    append(reference.node)
    append(UInt64(reference.type))
  }
}

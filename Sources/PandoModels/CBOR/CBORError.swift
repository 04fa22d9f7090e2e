/// Bytes that are not the CBOR a record is made of.
package struct CBORError: Error, Hashable {
  /// The kind of failure.
  package enum Code: UInt8, Sendable {
    /// The bytes end inside an item.
    case endOfBytes
    /// A head that RFC 8949 reserves or forbids.
    case badHead
    /// An item of indefinite length, which no record holds.
    case indefiniteLength
    /// An item of another kind than was asked for.
    case wrongKind
    /// A number that does not fit the type asked for.
    case numberOutOfRange
    /// A text that is not UTF-8.
    case badText
    /// Arrays, maps and tags nested deeper than the limit.
    case nestingTooDeep
    /// Bytes after the item.
    case trailingBytes
  }

  /// The kind of failure.
  package let code: Code
  /// Where it was met: bytes from the beginning of what the reader was given.
  package let offset: Int

  package init(_ code: Code, offset: Int) {
    self.code = code
    self.offset = offset
  }
}

extension CBORError: CustomStringConvertible {
  package var description: String { "\(explanation) at byte \(offset)" }

  /// What the code means, in words.
  package var explanation: String {
    switch code {
    case .endOfBytes: "the bytes end too early"
    case .badHead: "not a CBOR item"
    case .indefiniteLength: "an item of indefinite length"
    case .wrongKind: "an item of another kind"
    case .numberOutOfRange: "a number out of range"
    case .badText: "a text that is not UTF-8"
    case .nestingTooDeep: "nested too deep"
    case .trailingBytes: "bytes after the end"
    }
  }
}

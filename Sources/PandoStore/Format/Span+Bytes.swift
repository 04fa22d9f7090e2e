import PandoModels
import PandoRecords
import PandoSystem

extension Span<UInt8> {
  /// Decodes a UTF-8 text; `what` is its name in the error.
  func text(_ what: String) throws -> String {
    guard let text = String(validating: self, as: UTF8.self) else {
      throw StoreError.damaged(what, "it is not UTF-8")
    }
    return text
  }

  /// Whether both spans have the same bytes.
  func hasSameBytes(as other: Span<UInt8>) -> Bool {
    guard count == other.count else { return false }
    // Both pointers are read for `count` bytes during the call.
    return unsafe withUnsafeBytes { mine in
      unsafe other.withUnsafeBytes { theirs in
        guard let mine = mine.baseAddress, let theirs = theirs.baseAddress else { return true }
        return unsafe memcmp(mine, theirs, count) == 0
      }
    }
  }
}

/// The record functions over spans, whose lifetime the compiler checks; each reads them during the
/// call only.
extension RecordBody {
  static func edges(in body: Span<UInt8>) throws -> [RecordEdge] {
    try unsafe body.withUnsafeBytes { try unsafe edges(in: $0) }
  }

  static func losing(
    _ children: Set<UInt64>, in body: Span<UInt8>, keeping kept: [Range<Int>] = []
  ) throws -> RecordLoss {
    try unsafe body.withUnsafeBytes {
      try unsafe losing(children: children, in: $0, keeping: kept)
    }
  }

  static func merging(
    _ new: Span<UInt8>, into old: Span<UInt8>, policy: RecordMerge.Policy,
    leaving names: Set<String> = []
  ) throws -> RecordMerge {
    try unsafe new.withUnsafeBytes { new in
      try unsafe old.withUnsafeBytes { old in
        try unsafe merging(new, into: old, policy: policy, leaving: names)
      }
    }
  }

  static func validate(_ body: Span<UInt8>) throws {
    try unsafe body.withUnsafeBytes { try unsafe validate($0) }
  }
}

extension RecordHeader {
  /// Whether the checksum matches a body.
  func matches(_ body: Span<UInt8>) -> Bool {
    unsafe body.withUnsafeBytes { unsafe matches($0) }
  }
}

extension XXHash64 {
  /// The hash of bytes.
  package static func hash(_ bytes: Span<UInt8>, seed: UInt64 = 0) -> UInt64 {
    unsafe bytes.withUnsafeBytes { unsafe hash($0, seed: seed) }
  }
}

extension [UInt8] {
  package init(copying bytes: Span<UInt8>) {
    // The pointer does not leave the closure, and the array copies the bytes.
    self = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
  }

  mutating func append(copying bytes: Span<UInt8>) {
    // As above.
    unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
  }
}

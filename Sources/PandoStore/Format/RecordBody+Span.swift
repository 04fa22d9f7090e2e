import PandoModels

/// The record functions over bytes whose lifetime the compiler watches. Each reads them during the
/// call only.
extension RecordBody {
  static func edges(in body: Span<UInt8>) throws -> [RecordEdge] {
    try unsafe body.withUnsafeBytes { try unsafe edges(in: $0) }
  }

  static func losing(_ children: Set<UInt64>, in body: Span<UInt8>) throws -> RecordLoss {
    try unsafe body.withUnsafeBytes { try unsafe losing(children: children, in: $0) }
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
  /// Whether the checksum is that of a body.
  func matches(_ body: Span<UInt8>) -> Bool {
    unsafe body.withUnsafeBytes { unsafe matches($0) }
  }
}

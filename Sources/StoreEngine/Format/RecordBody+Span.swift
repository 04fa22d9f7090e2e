import ModelCore

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
  /// The header of a stored record; `nil` if there are fewer bytes than a header has.
  init?(_ record: Span<UInt8>) {
    guard record.count >= Self.byteCount else { return nil }
    let header = unsafe record.withUnsafeBytes { unsafe RecordHeader(record: $0) }
    guard let header else { return nil }
    self = header
  }

  /// Whether the checksum is that of the body of a stored record.
  func isIntact(_ record: Span<UInt8>) -> Bool {
    unsafe record.withUnsafeBytes { record in
      guard let body = unsafe RecordHeader.body(of: record) else { return false }
      return unsafe matches(body)
    }
  }

  /// The bytes of a record: its header, then the body.
  static func record(commitNumber: UInt64, body: ArraySlice<UInt8>) -> [UInt8] {
    let header = unsafe body.withUnsafeBytes { body in
      unsafe RecordHeader(commitNumber: commitNumber, body: body)
    }
    return header.bytes + body
  }
}

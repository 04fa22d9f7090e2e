import PandoModels
import PandoStore

/// The time of a server's last answer to a question.
struct AnswerTime: Sendable, Equatable {
  /// A hash of the question's text, which identifies it among the questions about a type.
  let key: UInt64
  /// Milliseconds since 1970, by the clock of this machine.
  var time: Int64
  /// Whether the answer was empty.
  var isEmpty: Bool
}

/// The times of the newest answers, for one of the parts into which the questions about a type are divided.
///
/// ```
/// property answered/TYPE/BUCKET, per answer:
///   offset  size
///        0     8  key, big-endian
///        8     8  milliseconds since 1970, big-endian
///       16     1  1 if the answer was empty, else 0
/// ```
/// The bucket is the lowest six bits of the key, as two hexadecimal digits. A limit for each bucket limits
/// the type, and a new time writes one small row.
struct AnswerBucket: Sendable {
  static let bucketCount: UInt64 = 64
  /// The largest number of times in a bucket; above it the oldest one is removed.
  static let countMaximum = 16
  private static let byteCount = 17

  private(set) var times: [AnswerTime] = []

  init() {}

  /// Reads a bucket; ignores an incomplete time at its end.
  init(_ bytes: [UInt8]) {
    func number(_ offset: Int) -> UInt64 { bytes.span.bigEndian(at: offset) ?? 0 }
    for offset in stride(from: 0, to: bytes.count - Self.byteCount + 1, by: Self.byteCount) {
      times.append(
        AnswerTime(
          key: number(offset), time: Int64(bitPattern: number(offset + 8)),
          isEmpty: bytes[offset + 16] != 0))
    }
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for time in times {
      bytes.append(bigEndian: time.key)
      bytes.append(bigEndian: UInt64(bitPattern: time.time))
      bytes.append(time.isEmpty ? 1 : 0)
    }
    return bytes
  }

  subscript(key: UInt64) -> AnswerTime? { times.first { $0.key == key } }

  mutating func note(_ time: AnswerTime) {
    times.removeAll { $0.key == time.key }
    times.append(time)
    guard times.count > Self.countMaximum,
      let oldest = times.indices.min(by: { times[$0].time < times[$1].time })
    else { return }
    times.remove(at: oldest)
  }

  static func number(of key: UInt64) -> UInt64 { key % bucketCount }

  fileprivate static func property(_ typeName: String, _ number: UInt64) -> String {
    "answered/\(typeName)/\(number < 16 ? "0" : "")\(String(number, radix: 16))"
  }
}

extension ModelTransaction {
  /// Stores the times of answers, unless everything has been removed since the request.
  ///
  /// - Parameters:
  ///   - times: The times.
  ///   - typeName: The type of the entities.
  ///   - asOf: The sequence number of the request.
  /// - Throws: `StoreError`, `LMDBError`.
  mutating func note(_ times: [AnswerTime], of typeName: String, asOf: UInt64) throws {
    // An identifier that was never stored has the state of the last removal of everything.
    let removal = try snapshot.sequenceState(of: "answered/\(typeName)").sequenceNumber
    guard removal <= asOf else { return }
    var buckets: [UInt64: AnswerBucket] = [:]
    for time in times {
      let number = AnswerBucket.number(of: time.key)
      var bucket = try buckets[number] ?? snapshot.answers(typeName, number)
      bucket.note(time)
      buckets[number] = bucket
    }
    for (number, bucket) in buckets {
      try setProperty(AnswerBucket.property(typeName, number), to: bucket.bytes)
    }
  }

  /// Removes the times of answers.
  mutating func forgetAnswerTimes() throws { try forgetProperties("answered/") }
}

extension ModelSnapshot {
  fileprivate func answers(_ typeName: String, _ number: UInt64) throws -> AnswerBucket {
    try property(AnswerBucket.property(typeName, number)).map { AnswerBucket($0) }
      ?? AnswerBucket()
  }

  /// The time of the last answer to a question; `nil` if it is unknown.
  func answerTime(_ key: UInt64, of typeName: String) throws -> AnswerTime? {
    try answers(typeName, AnswerBucket.number(of: key))[key]
  }
}

import PandoModels
import PandoStore

/// When a server has answered a question last.
struct AnswerTime: Sendable, Equatable {
  /// What tells the question from the others of a type: a hash of its text.
  let key: UInt64
  /// Milliseconds since 1970, by the clock of this machine.
  var time: Int64
  /// Whether the server had nothing.
  var isEmpty: Bool
}

/// The newest answers of a part of all questions of a type.
///
/// ```
/// property answered/TYPE/BUCKET, per answer:
///   offset  size
///        0     8  key, big-endian
///        8     8  milliseconds since 1970, big-endian
///       16     1  1 if the server had nothing, else 0
/// ```
/// The bucket is the lowest six bits of the key, two hexadecimal digits. Each has a limit, so a type has a
/// limit, and noting an answer touches one small row.
struct AnswerBucket: Sendable {
  static let bucketCount: UInt64 = 64
  /// How many answers are known in each; the oldest one goes.
  static let countMaximum = 16
  private static let byteCount = 17

  private(set) var times: [AnswerTime] = []

  init() {}

  /// Reads it; what is damaged is forgotten.
  init(_ bytes: [UInt8]) {
    func number(_ offset: Int) -> UInt64 {
      bytes[offset..<offset + 8].reduce(0) { $0 << 8 | UInt64($1) }
    }
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
      for number in [time.key, UInt64(bitPattern: time.time)] {
        for shift in stride(from: 56, through: 0, by: -8) {
          bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
        }
      }
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
  /// Notes when a server has answered, unless everything has been removed since it was asked.
  ///
  /// - Parameters:
  ///   - times: What was answered.
  ///   - typeName: The type of the entities.
  ///   - asOf: The place at which the server was asked.
  /// - Throws: `StoreError`, `LMDBError`.
  mutating func note(_ times: [AnswerTime], of typeName: String, asOf: UInt64) throws {
    // The state of what was never there is the last removal of everything.
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

  /// Forgets when servers have answered.
  mutating func forgetAnswerTimes() throws { try forgetProperties("answered/") }
}

extension ModelSnapshot {
  fileprivate func answers(_ typeName: String, _ number: UInt64) throws -> AnswerBucket {
    try property(AnswerBucket.property(typeName, number)).map { AnswerBucket($0) }
      ?? AnswerBucket()
  }

  /// When a server has answered a question last; `nil` if that is not known.
  func answerTime(_ key: UInt64, of typeName: String) throws -> AnswerTime? {
    try answers(typeName, AnswerBucket.number(of: key))[key]
  }
}

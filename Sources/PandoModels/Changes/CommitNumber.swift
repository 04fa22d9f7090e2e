/// The number of a commit, and the history that it belongs to.
///
/// ```swift
/// let last = try store.read { try $0.commitNumber }
/// try String(describing: last).write(toFile: "last", atomically: true, encoding: .utf8)  // 41.6f3a90c2d1e4b577
/// …
/// let known = CommitNumber(try String(contentsOfFile: "last", encoding: .utf8)) ?? .zero
/// let changes = try store.read { try $0.changes(since: known) }
/// ```
/// A store numbers its commits. If a backup replaces it, the store continues from the backup's last
/// commit and reuses numbers that other programs may have kept. So each opening that writes marks
/// its commits with a random ``history``. A number from another history is refused:
/// `changes(since:)` throws `changesExpired`, and `write(expecting:)` throws `changedMeanwhile`.
///
/// To keep it beyond the process, store all of it, as text or encoded.
public struct CommitNumber: Hashable, Sendable {
  /// The number of commits up to this one.
  public let value: UInt64
  /// The mark of the commits of the same opening; 0 if unknown.
  ///
  /// A number without a mark matches any history.
  public let history: UInt64

  /// Makes a number.
  ///
  /// - Parameters:
  ///   - value: The number of commits.
  ///   - history: The mark of its history; 0 for any history.
  public init(value: UInt64, history: UInt64 = 0) {
    self.value = value
    self.history = history
  }

  /// The number before the first commit.
  public static let zero = CommitNumber(value: 0)
}

extension CommitNumber: Comparable {
  /// Whether a commit is earlier: by ``value``, then by history.
  public static func < (left: CommitNumber, right: CommitNumber) -> Bool {
    (left.value, left.history) < (right.value, right.history)
  }
}

extension CommitNumber: LosslessStringConvertible {
  /// The value, a point and the history in 16 hexadecimal digits; only the value if the history is
  /// unknown.
  public var description: String {
    if history == 0 { return "\(value)" }
    let digits = String(history, radix: 16)
    return "\(value).\(String(repeating: "0", count: 16 - digits.utf8.count))\(digits)"
  }

  /// Reads a number from its ``description``; `nil` for any other text.
  ///
  /// - Parameter description: The text.
  public init?(_ description: String) {
    let parts = description.split(separator: ".", omittingEmptySubsequences: false)
    guard let value = UInt64(parts[0]) else { return nil }
    if parts.count == 1 {
      self.init(value: value)
    } else {
      guard parts.count == 2, parts[1].utf8.count == 16, let history = UInt64(parts[1], radix: 16)
      else { return nil }
      self.init(value: value, history: history)
    }
    guard self.description == description else { return nil }
  }
}

extension CommitNumber: Codable {
  /// Decodes a number from its text or an integer.
  ///
  /// - Parameter decoder: The decoder to read from.
  /// - Throws: The error of the decoder; `DecodingError` for another text.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let value = try? container.decode(UInt64.self) {
      self.init(value: value)
      return
    }
    let text = try container.decode(String.self)
    guard let number = CommitNumber(text) else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "“\(text)” is no commit number, such as 41.6f3a90c2d1e4b577")
    }
    self = number
  }

  /// Encodes the number as its text; without a history, as an integer.
  ///
  /// - Parameter encoder: The encoder to write to.
  /// - Throws: The error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if history == 0 { try container.encode(value) } else { try container.encode(description) }
  }
}

/// The number of a commit, and the history that it belongs to.
///
/// ```swift
/// let last = try store.read { try $0.commitNumber }
/// try String(describing: last).write(toFile: "last", atomically: true, encoding: .utf8)  // 41.6f3a90c2d1e4b577
/// …
/// let known = CommitNumber(try String(contentsOfFile: "last", encoding: .utf8)) ?? .zero
/// let changes = try store.read { try $0.changes(since: known) }
/// ```
/// A store counts its commits. If a backup is put in its place, it counts on from the backup's last commit, and gives
/// numbers again that others may know. So each opening of a store that writes gives its commits a mark of their
/// own, the ``history``, and a number that is not of this store's past is refused: `changes(since:)` throws
/// `changesExpired`, and `write(expecting:)` throws `changedMeanwhile`.
///
/// Keep the whole of it, as text or encoded, where it has to outlive the process.
public struct CommitNumber: Hashable, Sendable {
  /// How many commits there were, this one included.
  public let value: UInt64
  /// The mark of the commits that were made together with this one; 0 where it is not known.
  ///
  /// A number without a mark is taken for one of the store that it is given to.
  public let history: UInt64

  /// Makes a number.
  ///
  /// - Parameters:
  ///   - value: How many commits there were.
  ///   - history: The mark of its history; 0 for whatever history the store has.
  public init(value: UInt64, history: UInt64 = 0) {
    self.value = value
    self.history = history
  }

  /// The number before the first commit.
  public static let zero = CommitNumber(value: 0)
}

extension CommitNumber: Comparable {
  /// Whether a commit came earlier: by its ``value``, then by its history.
  public static func < (left: CommitNumber, right: CommitNumber) -> Bool {
    (left.value, left.history) < (right.value, right.history)
  }
}

extension CommitNumber: LosslessStringConvertible {
  /// The value, and behind a point the history in 16 hexadecimal digits; without them where it is not known.
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
  /// Decodes a number from its text, or from an integer.
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

  /// Encodes the number as its text; one without a history as an integer.
  ///
  /// - Parameter encoder: The encoder to write to.
  /// - Throws: The error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if history == 0 { try container.encode(value) } else { try container.encode(description) }
  }
}

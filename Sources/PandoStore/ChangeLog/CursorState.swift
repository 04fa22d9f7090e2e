public import FoundationEssentials
import PandoModels

/// The state of a cursor: a row of the `meta` table under `cursor:` and its name.
///
/// ```swift
/// for cursor in try store.cursors() {
///   print(cursor.name, "has read up to", cursor.position, "at", cursor.date)
/// }
/// ```
///
/// ```
/// offset 0           8            16
///        ┌───────────┬────────────┬─────────┐
///        │ position  │ date, bits │ history │   little endian; the date in seconds since 2001
///        └───────────┴────────────┴─────────┘
/// ```
/// The history is there where it is none of the store's: a copy has replaced what the cursor had come to.
public struct CursorState: Equatable, Sendable {
  static let prefix = Array("cursor:".utf8)
  /// The longest name, in bytes; leaves room for the prefix in LMDB's 511.
  static let nameByteCountMaximum = 400

  /// The name of the cursor.
  public let name: String
  /// The last acknowledged commit.
  public let position: CommitNumber
  /// When it was created, or last acknowledged.
  public let date: Date

  init(name: String, position: CommitNumber, date: Date) {
    self.name = name
    self.position = position
    self.date = date
  }

  init(_ bytes: Span<UInt8>, name: String, _ histories: Histories) throws {
    var row = RowReader(bytes, "cursor \(name)")
    self.name = name
    let number = try row.number()
    date = Date(timeIntervalSinceReferenceDate: Double(bitPattern: try row.number()))
    position =
      row.restByteCount == 0
      ? histories.number(number) : CommitNumber(value: number, history: try row.number())
    try row.end()
  }

  var bytes: [UInt8] {
    [UInt8](littleEndian: position.value, date.timeIntervalSinceReferenceDate.bitPattern)
  }

  static func key(_ name: String) -> [UInt8] { prefix + Array(name.utf8) }

  /// Refuses a name that can't be a key.
  static func check(_ name: String) throws {
    guard !name.isEmpty, name.utf8.count <= nameByteCountMaximum else {
      throw StoreError(
        .emptyIdentifier, String(name.prefix(40)),
        "the name of a cursor has 1 to \(nameByteCountMaximum) bytes, this one has "
          + "\(name.utf8.count)")
    }
  }
}

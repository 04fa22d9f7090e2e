import CPeerLMDB
import Foundation
import Pando
import PandoLMDB

/// A row with a number, in an environment that several processes have open.
final class SharedRows: Sendable {
  static let mapSizeInBytes = 1 << 30
  private static let key: [UInt8] = Array("number of commit".utf8)
  private static let valueByteCount = 16

  private let environment: Environment
  private let table: RawTable

  /// Opens it; nothing is flushed.
  init(_ path: String) throws {
    var configuration = Environment.Configuration()
    configuration.mapSizeInBytes = Self.mapSizeInBytes
    configuration.durability = .unsynchronized
    environment = try Environment(path: path, configuration: configuration)
    table = try environment.rawTable("rows")
  }

  /// The row with a number.
  static func row(_ number: Int) -> KeyValueRows {
    let value = withUnsafeBytes(of: UInt64(number)) { Array($0) }
    return KeyValueRows(
      keys: key, values: value + value, keyByteCount: key.count, valueByteCount: valueByteCount)
  }

  /// Commits a number.
  ///
  /// - Returns: When all was written but the commit.
  @discardableResult
  func write(_ number: Int) throws -> UInt64 {
    let row = Self.row(number)
    return try environment.write { transaction in
      try transaction.put(row.values.span, forKey: row.keys.span, in: table)
      return DispatchTime.now().uptimeNanoseconds
    }
  }

  /// The number that is committed; 0 if there is none.
  func number() throws -> Int {
    try environment.read { snapshot in
      guard let value = try snapshot.bytes(forKey: Self.key.span, in: table) else { return 0 }
      return Int(value.bytes.unsafeLoadUnaligned(as: UInt64.self))
    }
  }

  /// The number that liblmdb gave to the last commit.
  func version() throws -> UInt64 { try environment.read { $0.transactionID } }

  /// Waits for a commit of whatever process; `nil` if there is none for long.
  func wait(after version: UInt64) throws -> UInt64? {
    try environment.waitForCommit(after: version, timeout: .seconds(1_000))
  }

  /// Keeps all processes from writing, and says so.
  func holdLock(_ milliseconds: Int, _ say: () -> Void) throws {
    try environment.write { _ in
      say()
      usleep(UInt32(milliseconds) * 1_000)
    }
  }

  func close() { environment.close() }
}

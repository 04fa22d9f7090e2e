import Glibc
import PandoLMDB

extension Scenario {
  static let versionCount: UInt64 = 200
  static let keyCount: UInt64 = 64

  /// Writes versions that hold the same number under every key of two tables.
  static func writeVersions(_ path: String) throws {
    let environment = try Environment(path: path, configuration: configuration)
    let (left, right) = try tables(environment)
    for version in 1...versionCount {
      // Values grow, so that the map has to grow while the others read.
      let value = [UInt64](repeating: version, count: 1 + Int(version) / 4)
      try environment.write { transaction in
        for key in 0..<keyCount {
          try transaction.put(value, forKey: key, in: left)
          try transaction.put(value, forKey: keyCount - 1 - key, in: right)
        }
      }
    }
  }

  /// Reads until the last version has come; each read must be one whole version.
  static func readVersions(_ path: String) throws {
    let environment = try Environment(path: path, configuration: configuration)
    let (left, right) = try tables(environment)
    say("ready")
    var seen: Set<UInt64> = []
    var last: UInt64 = 0
    while last < versionCount {
      let version = try environment.read { try wholeVersion($0, left, right) }
      expect(version >= last, "version \(version) after \(last)")
      last = version
      seen.insert(version)
    }
    say("\(seen.count)")
  }

  private static func tables(
    _ environment: Environment
  ) throws -> (Table<UInt64, [UInt64]>, Table<UInt64, [UInt64]>) {
    (
      try environment.table("left", keys: .uint64, values: .codable([UInt64].self)),
      try environment.table("right", keys: .uint64, values: .codable([UInt64].self))
    )
  }

  /// The version that a snapshot shows; ends the process if it shows two.
  private static func wholeVersion(
    _ snapshot: Snapshot, _ left: Table<UInt64, [UInt64]>, _ right: Table<UInt64, [UInt64]>
  ) throws -> UInt64 {
    let count = try snapshot.count(of: left)
    if count == 0 { return 0 }
    let version = try snapshot.value(forKey: 0, in: left)?.first ?? 0
    let expected = [UInt64](repeating: version, count: 1 + Int(version) / 4)
    for table in [left, right] {
      var visited: UInt64 = 0
      try snapshot.scan(table) { entry in
        let value = try entry.value
        expect(value == expected, "version \(version), key \(visited): \(value.first ?? 0)")
        visited += 1
        return true
      }
      expect(visited == keyCount, "\(visited) keys in version \(version)")
    }
    return version
  }
}

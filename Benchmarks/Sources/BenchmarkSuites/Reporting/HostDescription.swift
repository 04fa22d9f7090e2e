import CPeerLMDB
import CSystemSQLite
import Foundation

/// The machine and the libraries, as far as they explain the figures.
struct HostDescription: Codable {
  let processor: String
  let coreCount: Int
  let memoryInBytes: UInt64
  let operatingSystem: String
  let fileSystem: String
  /// By name of the library or tool.
  let versions: [String: String]
  /// When the benchmark began, ISO 8601.
  let date: String

  /// Looks around.
  ///
  /// - Parameter directory: Where the databases are.
  init(directory: String) {
    processor = Self.field("model name", of: "/proc/cpuinfo") ?? "unknown"
    coreCount = ProcessInfo.processInfo.activeProcessorCount
    memoryInBytes = ProcessInfo.processInfo.physicalMemory
    operatingSystem = ProcessInfo.processInfo.operatingSystemVersionString
    fileSystem = Self.fileSystem(of: directory)
    versions = [
      "LMDB": String(cString: peer_lmdb_version()),
      "SQLite": String(cString: sqlite3_libversion()),
      "Swift": Self.swiftVersion,
      "Linux": Self.line(of: "/proc/sys/kernel/osrelease") ?? "unknown",
    ]
    date = ISO8601DateFormatter().string(from: Date())
  }

  /// The first value of a `name : value` file.
  private static func field(_ name: String, of path: String) -> String? {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
    let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
    return line?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces)
  }

  private static func line(of path: String) -> String? {
    try? String(contentsOfFile: path, encoding: .utf8)
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// The type of the file system that is mounted nearest above a directory.
  private static func fileSystem(of directory: String) -> String {
    let path = URL(fileURLWithPath: directory).resolvingSymlinksInPath().path + "/"
    let mounts = line(of: "/proc/self/mounts")?.split(separator: "\n") ?? []
    var nearest: (point: Substring, type: Substring)?
    for mount in mounts {
      let fields = mount.split(separator: " ")
      guard fields.count > 2, fields[1] == "/" || path.hasPrefix(fields[1] + "/") else { continue }
      if fields[1].count >= nearest?.point.count ?? 0 { nearest = (fields[1], fields[2]) }
    }
    return nearest.map { String($0.type) } ?? "unknown"
  }

  /// The compiler this program was made with.
  private static var swiftVersion: String {
    #if compiler(>=6.4)
      "6.4 or later"
    #elseif compiler(>=6.3)
      "6.3"
    #else
      "6.2 or earlier"
    #endif
  }
}

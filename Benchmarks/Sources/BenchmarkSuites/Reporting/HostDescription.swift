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
  /// Systems whose library or header is not there.
  let absentSystems: [String]
  /// How many threads ran or waited to run in the minute before: above 0, others were at work.
  let loadAverage: Double
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
      "Swift": Self.swiftVersion,
      "Linux": Self.line(of: "/proc/sys/kernel/osrelease") ?? "unknown",
    ].merging(Self.libraryVersions) { $1 }
    absentSystems = System.allCases.filter { !$0.isPresent }.map(\.title)
    loadAverage =
      Self.line(of: "/proc/loadavg")
      .flatMap { $0.split(separator: " ").first }.flatMap { Double($0) } ?? 0
    date = ISO8601DateFormatter().string(from: Date())
  }

  private static var libraryVersions: [String: String] {
    var versions: [String: String] = [:]
    for system in System.allCases {
      guard let version = system.version else { continue }
      versions[system == .lmdb ? "LMDB" : system.title] = version
    }
    #if NATS
      versions["nats-server"] = NATSCluster.version ?? "not installed"
    #endif
    return versions
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

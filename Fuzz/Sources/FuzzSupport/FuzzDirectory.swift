internal import Foundation
internal import Glibc

/// A directory of this process, in memory where the machine offers that.
///
/// libFuzzer ends the process without warning, so each start removes what processes that have ended
/// left.
public enum FuzzDirectory {
  /// Makes the directory.
  public static func make(_ name: String) -> String {
    let parent = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : "/tmp"
    for entry in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [] {
      guard entry.hasPrefix("\(name)-"), let process = Int32(entry.dropFirst(name.count + 1)),
        kill(process, 0) != 0
      else { continue }
      try? FileManager.default.removeItem(atPath: "\(parent)/\(entry)")
    }
    let path = "\(parent)/\(name)-\(ProcessInfo.processInfo.processIdentifier)"
    try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
  }
}

import CPeerSupport
import Foundation

/// The counters of the system for this process.
enum ProcessCounters {
  /// The processor time of all threads so far.
  static var processorTime: Duration {
    .nanoseconds(process_time())
  }

  /// The bytes that the process has caused to be written to disks; `nil` if the system hides it.
  ///
  /// Whole pages, counted when they become dirty.
  static var writtenByteCount: Int? {
    value("write_bytes", of: "/proc/self/io")
  }

  /// Memory that is resident now, in bytes.
  static var residentByteCount: Int? {
    value("VmRSS", of: "/proc/self/status").map { $0 << 10 }
  }

  /// The most memory that was resident since ``resetPeak()``, in bytes.
  static var peakResidentByteCount: Int? {
    value("VmHWM", of: "/proc/self/status").map { $0 << 10 }
  }

  /// How often each thread that there is has gone to sleep so far, by its number; empty if the system
  /// hides it.
  static var voluntarySwitchesOfThreads: [String: Int] {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    var counts: [String: Int] = [:]
    for thread in threads {
      counts[thread] = value("voluntary_ctxt_switches", of: "/proc/self/task/\(thread)/status")
    }
    return counts
  }

  /// Memory that is allocated now, in bytes.
  static var allocatedByteCount: Int { Int(process_heap()) }

  /// Gives free memory back and lets the peak begin anew.
  static func resetPeak() {
    process_trim()
    // A system that does not know the file leaves the peak as it is.
    guard let file = fopen("/proc/self/clear_refs", "w") else { return }
    fputs("5", file)
    fclose(file)
  }

  /// The room that the files of a directory take on the disk, in bytes.
  static func byteCount(ofDirectory path: String) -> Int {
    let files = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
    return files.reduce(0) { $0 + Int(process_file_size(path + "/" + $1)) }
  }

  /// The number in a line `name: number …`.
  private static func value(_ name: String, of path: String) -> Int? {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
    let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
  }
}

import Foundation

/// The same service in a process of its own, on the same store.
///
/// It asks no network, so what it shows is what the store has.
final class SecondService: @unchecked Sendable {
  // Sendable because the text is used under the condition's lock only; the rest is set once.
  private let process = Process()
  private let condition = NSCondition()
  private var text = ""
  private var hasEnded = false
  private(set) var port: UInt16 = 0

  /// Starts it, and waits until it listens and shows what there is.
  ///
  /// - Parameter directory: Where the store is.
  /// - Throws: A ``StoryError`` when it ends instead.
  init(directory: String) async throws {
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["--serve", "--offline", "--directory", directory]
    process.standardOutput = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
    Thread.detachNewThread { [self] in
      while true {
        let data = output.fileHandleForReading.availableData
        condition.withLock {
          text += String(decoding: data, as: UTF8.self)
          hasEnded = data.isEmpty
        }
        condition.broadcast()
        if data.isEmpty { return }
      }
    }
    try await says("has fetched everything")
    let line = condition.withLock {
      text.split(separator: "\n").first { $0.contains("listens on") }
    }
    guard let port = line?.firstMatch(of: /127.0.0.1:([0-9]+),/).flatMap({ UInt16($0.1) }) else {
      throw StoryError("the second process does not say where it listens")
    }
    self.port = port
  }

  /// Waits until it has printed something.
  ///
  /// - Parameter part: What.
  /// - Throws: A ``StoryError`` when it ends before.
  func says(_ part: String) async throws {
    let isThere = await withCheckedContinuation { continuation in
      Thread.detachNewThread { [self] in
        let isThere = condition.withLock {
          while !text.contains(part), !hasEnded { condition.wait() }
          return text.contains(part)
        }
        continuation.resume(returning: isThere)
      }
    }
    if !isThere { throw StoryError("the second process has not said “\(part)”") }
  }

  /// Sends SIGTERM, and waits until it has closed its store.
  func stop() async throws {
    process.terminate()
    try await says("has closed its store in order")
  }
}

import Foundation
import Glibc
import PandoSystem

/// What Swift Testing tells about its run, as lines of JSON (its ABI, version 0).
final class TestEvents: Sendable {
  private struct Record: Decodable {
    struct Payload: Decodable {
      struct Message: Decodable {
        let text: String
      }

      let kind: String?
      let testID: String?
      let messages: [Message]?
    }

    let payload: Payload
  }

  private struct State {
    var count = 0
    /// By the test's identifier: its place in the order of beginning, and how many of its cases run.
    var running: [String: (place: Int, caseCount: Int)] = [:]
  }

  private let state = Locked(State())

  /// How many tests and cases have begun or ended.
  var count: Int { state.withLock { $0.count } }

  /// The tests that have begun and not ended, in the order in which they began.
  ///
  /// A test begins before it is its turn: of many, the last ones may wait for it.
  var running: [String] {
    state.withLock { state in
      state.running.sorted { $0.value.place < $1.value.place }
        .map { $0.value.caseCount > 0 ? "\($0.key), \($0.value.caseCount) cases" : $0.key }
    }
  }

  /// Reads all events; does not return while the tests run.
  func follow(_ descriptor: CInt) {
    var line: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    let decoder = JSONDecoder()
    while true {
      let count = read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      var rest = chunk[..<count]
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        line += rest[..<end]
        if let record = try? decoder.decode(Record.self, from: Data(line)) { note(record.payload) }
        line = []
        rest = rest[(end + 1)...]
      }
      line += rest
    }
  }

  private func note(_ payload: Record.Payload) {
    // A suite has no place in a file behind its name.
    guard let kind = payload.kind, let test = payload.testID, test.contains(".swift:") else {
      return
    }
    state.withLock { state in
      state.count += 1
      switch kind {
      case "testStarted": state.running[test] = (state.count, 0)
      case "testEnded", "testSkipped": state.running[test] = nil
      case "testCaseStarted": state.running[test]?.caseCount += 1
      case "testCaseEnded": state.running[test]?.caseCount -= 1
      default: state.count -= 1
      }
    }
  }
}

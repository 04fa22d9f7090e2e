import PandoFixtures
import PandoLMDB
import Testing

/// A caller's mistakes stop the process and say what was wrong.
@Suite struct PreconditionTests {
  /// Checks what a process said before it stopped.
  static func expect(_ result: ExitTest.Result?, says text: String) {
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains(text), "\(output)")
  }

  @Test func `a write inside a write of the same thread`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try withEnvironment { environment in
        try environment.write { _ in try environment.write { _ in } }
      }
    }
    Self.expect(result, says: "write inside a write of the same environment")
  }

  @Test func `opening a table inside a write of the same thread`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try withEnvironment { environment in
        try environment.write { _ in _ = try environment.rawTable("t") }
      }
    }
    Self.expect(result, says: "rawTable inside a write of the same environment")
  }

  @Test func `closing inside a read`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try withEnvironment { environment in try environment.read { _ in environment.close() } }
    }
    Self.expect(result, says: "close inside a read")
  }

  @Test func `reading a table of another environment`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try withEnvironment { environment in
        try withEnvironment { other in
          let table = try other.rawTable("t")
          try environment.read { _ = try $0.bytes(forKey: [1].span, in: table) }
        }
      }
    }
    Self.expect(result, says: "the table was opened in another environment")
  }

  @Test func `writing a table of another environment`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try withEnvironment { environment in
        try withEnvironment { other in
          let table = try other.rawTable("t")
          try environment.write { try $0.put([1].span, forKey: [1].span, in: table) }
        }
      }
    }
    Self.expect(result, says: "the table was opened in another environment")
  }

  @Test func `a map size of zero stops the process`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      var configuration = Environment.Configuration()
      configuration.mapSizeInBytes = 0
      _ = try Environment(path: "/nonexistent", configuration: configuration)
    }
    Self.expect(result, says: "mapSizeInBytes is 0")
  }
}

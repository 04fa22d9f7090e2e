import PandoFixtures
import Testing

/// Code in which a value outlives its read or write of a store does not compile.
@Suite struct StoreLifetimeTests {
  private static func compile(_ body: String) throws -> (status: Int32, output: String) {
    try PandoFixtures.compile(
      """
      import PandoStore
      func test(_ store: ModelStore) throws {
      \(body)
      }
      """)
  }

  @Test func `proper use compiles`() throws {
    let (status, output) = try Self.compile(
      """
        let number = try store.read { try $0.commitNumber.value }
        try store.write { transaction in
          let before = try transaction.snapshot.commitNumber.value
          if before == number { try transaction.deleteIfPresent("a") }
        }
      """)
    #expect(status == 0, "\(output)")
  }

  @Test(arguments: [
    ("returning a snapshot", "let kept: ModelSnapshot = try store.read { $0 }"),
    (
      "storing a snapshot",
      """
        var kept: ModelSnapshot?
        try store.read { kept = $0 }
        _ = kept
      """
    ),
    (
      "using a snapshot in a task",
      "try store.read { snapshot in Task { _ = try snapshot.commitNumber.value } }"
    ),
    (
      "awaiting inside a read",
      """
        func pause() async {}
        try store.read { _ in await pause() }
      """
    ),
    (
      "awaiting inside a write",
      """
        @Sendable func pause() async {}
        try store.write { _ in await pause() }
      """
    ),
    (
      "moving a transaction to a task",
      "try store.write { transaction in Task { try transaction.deleteIfPresent(\"a\") } }"
    ),
    (
      "returning a transaction",
      "let kept: ModelTransaction = try store.write { $0 }"
    ),
    (
      "returning the snapshot of a transaction",
      "let kept: ModelSnapshot = try store.write { $0.snapshot }"
    ),
  ])
  func `this is a compile error`(what: String, body: String) throws {
    let (status, output) = try Self.compile(body)
    #expect(status != 0, "\(what) compiles")
    #expect(lifetimeErrors.contains { output.contains($0) }, "\(what): \(output)")
  }
}

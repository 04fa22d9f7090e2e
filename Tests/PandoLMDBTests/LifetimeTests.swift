import PandoFixtures
import Testing

/// What must not outlive a transaction does not compile.
@Suite struct LifetimeTests {
  private static func compile(_ body: String) throws -> (status: Int32, output: String) {
    try PandoFixtures.compile(
      """
      import PandoLMDB
      func test(_ environment: Environment, _ table: RawTable, _ key: [UInt8]) throws {
      \(body)
      }
      """)
  }

  @Test func `proper use compiles`() throws {
    let (status, output) = try Self.compile(
      """
        let count = try environment.read { try $0.bytes(forKey: key.span, in: table)?.count }
        try environment.write { transaction in
          let old = try transaction.bytes(forKey: key.span, in: table)?.count
          try transaction.put([UInt8(old ?? count ?? 0)].span, forKey: key.span, in: table)
        }
      """)
    #expect(status == 0, "\(output)")
  }

  @Test(arguments: [
    (
      "returning a snapshot",
      "let kept: Snapshot = try environment.read { $0 }"
    ),
    (
      "returning its bytes",
      """
        let kept: Span<UInt8>? = try environment.read {
          try $0.bytes(forKey: key.span, in: table)
        }
      """
    ),
    (
      "storing a snapshot",
      """
        var kept: Snapshot?
        try environment.read { kept = $0 }
        _ = kept
      """
    ),
    (
      "storing its bytes",
      """
        var kept: Span<UInt8>?
        try environment.read { kept = try $0.bytes(forKey: key.span, in: table) }
        _ = kept
      """
    ),
    (
      "using a snapshot in a task",
      "try environment.read { snapshot in Task { _ = snapshot.transactionID } }"
    ),
    (
      "awaiting inside a read",
      """
        func pause() async {}
        try environment.read { _ in await pause() }
      """
    ),
    (
      "using bytes after a put",
      """
        try environment.write { transaction in
          let old = try transaction.bytes(forKey: key.span, in: table)
          try transaction.put([1].span, forKey: key.span, in: table)
          _ = old?.count
        }
      """
    ),
    (
      "using a snapshot after a put",
      """
        try environment.write { transaction in
          let snapshot = transaction.snapshot
          try transaction.put([1].span, forKey: key.span, in: table)
          _ = snapshot.transactionID
        }
      """
    ),
    (
      "moving a write transaction to a task",
      """
        try environment.write { transaction in
          Task { try transaction.removeAll(in: table) }
        }
      """
    ),
    (
      "keeping a write transaction",
      """
        var kept: WriteTransaction?
        try environment.write { transaction in kept = transaction }
      """
    ),
    (
      "using the outer transaction inside a nested one",
      """
        try environment.write { outer in
          try outer.nested { _ in try outer.put([1].span, forKey: key.span, in: table) }
        }
      """
    ),
    (
      "returning a cursor",
      "let kept: Cursor = try environment.read { try $0.cursor(in: table) }"
    ),
    (
      "storing the entry of a scan",
      """
        let typed = Table(table, keys: .string, values: .string)
        var kept: Span<UInt8>?
        try environment.read { try $0.scan(typed) { kept = $0.valueBytes; return true } }
        _ = kept
      """
    ),
  ])
  func `this is a compile error`(what: String, body: String) throws {
    let (status, output) = try Self.compile(body)
    #expect(status != 0, "\(what) compiles")
    #expect(lifetimeErrors.contains { output.contains($0) }, "\(what): \(output)")
  }
}

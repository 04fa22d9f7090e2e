import PandoFixtures
import Testing

/// What must not outlive a transaction does not compile.
@Suite struct LifetimeTests {
  /// Compiles a source against the built module.
  ///
  /// - Returns: The compiler's status and what it said.
  static func compile(_ body: String) throws -> (status: Int32, output: String) {
    let source = """
      import PandoLMDB
      func test(_ environment: Environment, _ table: RawTable, _ key: [UInt8]) throws {
      \(body)
      }
      """
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    // Lifetimes are checked after type checking, so the compiler has to go as far as SIL.
    let command = """
      exec swiftc -frontend -emit-sil -parse-as-library -swift-version 6 -o /dev/null - \
      -package-name pando-test -module-name Test -I '\(ChildProcess.productFolder)/Modules' \
      -Xcc -fmodule-map-file='/\(root)/Sources/CPandoLMDB/module.modulemap' 2>&1
      """
    let run = try ChildProcess.run("/bin/sh", ["-c", command], input: source)
    return (run.status, run.output)
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
      "storing a lazy value",
      """
        let typed = Table(table, keys: StringCodec(), values: StringCodec())
        var kept: LazyValue<String>?
        try environment.read { kept = try $0.lazyValue(forKey: "a", in: typed) }
        _ = try kept?.value
      """
    ),
    (
      "storing the entry of a scan",
      """
        let typed = Table(table, keys: StringCodec(), values: StringCodec())
        var kept: Span<UInt8>?
        try environment.read { try $0.scan(typed) { kept = $0.valueBytes; return true } }
        _ = kept
      """
    ),
  ])
  func `this is a compile error`(what: String, body: String) throws {
    let (status, output) = try Self.compile(body)
    #expect(status != 0, "\(what) compiles")
    let reasons = [
      "escap", "overlapping access", "noncopyable", "~Copyable", "Escapable", "async",
      "data race", "lifetime", "consum",
    ]
    #expect(reasons.contains { output.contains($0) }, "\(what): \(output)")
  }
}

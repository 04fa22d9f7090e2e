import PandoFixtures
import PandoModels
import PandoRecords
import Testing

/// Imports into stores with unique indexes.
@Suite struct UniqueImportTests {
  private static let rules = ["--lines", "--root", "User:id", "--map", "boss=User:id"]

  /// A store with users of unique addresses: 1 has a, 2 has b.
  private func withStore(_ body: (_ store: String) throws -> Void) throws {
    try withTemporaryDirectory { directory throws in
      let store = directory + "/store"
      let input = "{\"id\":1,\"mail\":\"a\"}\n{\"id\":2,\"mail\":\"b\"}\n"
      let outcome = try PandoProcess.run(["import", store, "-"] + Self.rules, input: input)
      try #require(outcome.status == 0, "\(outcome)")
      try PandoProcess.output("index", store, "add", "User", "mail", "--unique")
      try body(store)
    }
  }

  private func run(
    _ store: String, _ lines: [String], _ options: String...
  ) throws -> PandoProcess.Outcome {
    try PandoProcess.run(
      ["import", store, "-"] + Self.rules + options, input: lines.joined(separator: "\n"))
  }

  private func mails(_ store: String) throws -> String {
    try PandoProcess.output("query", store, "User", "all").split(separator: "\n").map { name in
      let user = try TreeValue(
        json: PandoProcess.output("get", store, String(name), "--depth", "0"))
      return "\(name.dropFirst(5)):\(user["mail"]?.stringValue ?? "-")"
    }.joined(separator: " ")
  }

  /// Lines, the lines that are refused with what is said of each, and the addresses afterwards.
  private static let files: [([String], [String], String)] = [
    (
      [#"{"id":3,"mail":"c"}"#, #"{"id":4,"mail":"a"}"#, #"{"id":5,"mail":"e"}"#],
      [#"line 2, User:4: mail of a User is unique, and "a" is that of User:1"#],
      "1:a 2:b 3:c 5:e"
    ),
    (
      [#"{"id":3,"mail":"c"}"#, #"{"id":4,"mail":"c"}"#, #"{"id":5,"mail":"c"}"#],
      [
        #"line 2, User:4: mail of a User is unique, and "c" is that of User:3"#,
        #"line 3, User:5: mail of a User is unique, and "c" is that of User:3"#,
      ],
      "1:a 2:b 3:c"
    ),
    // A line can't have a value that is free only if a refused one is imported.
    (
      [#"{"id":1,"mail":"c"}"#, #"{"id":9,"mail":"a"}"#, #"{"id":3,"mail":"c"}"#],
      [#"line 3, User:3: mail of a User is unique, and "c" is that of User:1"#],
      "1:c 2:b 9:a"
    ),
    (
      [#"{"id":3,"mail":"c"}"#, #"{"id":9,"mail":"a"}"#, #"{"id":1,"mail":"c"}"#],
      [
        #"line 2, User:9: mail of a User is unique, and "a" is that of User:1"#,
        #"line 3, User:1: mail of a User is unique, and "c" is that of User:3"#,
      ],
      "1:a 2:b 3:c"
    ),
    // A line that is refused itself takes no value from a later one.
    (
      [#"{"id":3,"mail":"c","boss":{"id":4,"mail":"a"}}"#, #"{"id":5,"mail":"c"}"#],
      [#"line 1, User:4: mail of a User is unique, and "a" is that of User:1"#],
      "1:a 2:b 5:c"
    ),
    // Two that change their values with one another are no conflict.
    (
      [#"{"id":1,"mail":"b"}"#, #"{"id":2,"mail":"a"}"#, #"{"id":9,"mail":"a"}"#],
      [#"line 3, User:9: mail of a User is unique, and "a" is that of User:2"#],
      "1:b 2:a"
    ),
    // The last line that writes a node is the one that is refused.
    (
      [#"{"id":3,"mail":"c"}"#, #"{"id":3,"mail":"a"}"#],
      [#"line 2, User:3: mail of a User is unique, and "a" is that of User:1"#],
      "1:a 2:b 3:c"
    ),
    // A node inside the one of the line.
    (
      [
        #"{"id":3,"mail":"c","boss":{"id":4,"mail":"b"}}"#, #"{"id":5,"boss":{"id":6,"mail":"f"}}"#,
      ],
      [#"line 1, User:4: mail of a User is unique, and "b" is that of User:2"#],
      "1:a 2:b 5:- 6:f"
    ),
    (
      [#"{"id":3,"mail":"c","boss":{"id":4,"mail":"c"}}"#, #"{"id":5,"mail":"c"}"#],
      [#"line 1, User:4: mail of a User is unique, and "c" is that of User:3"#],
      "1:a 2:b 5:c"
    ),
  ]

  @Test(arguments: 0..<files.count)
  func `lines that a unique index refuses are named, and the others are imported`(
    file: Int
  ) throws {
    let (lines, refused, mails) = Self.files[file]
    try withStore { store throws in
      let outcome = try run(store, lines, "--keep-going", "--collection", "list", "--json")
      try #require(outcome.status == 0, "\(outcome)")
      #expect(
        outcome.errors.split(separator: "\n").map(String.init)
          == refused.map { "pando import: standard input, \($0); skipped" })
      #expect(try self.mails(store).split(separator: " ").sorted().joined(separator: " ") == mails)
      let report = try TreeValue(json: outcome.output)
      #expect(report["skippedLines"]?.integerValue == Int64(refused.count))
      #expect(report["trees"]?.integerValue == Int64(lines.count - refused.count))
      #expect(report["lines"]?.integerValue == Int64(lines.count))
      if lines.count > refused.count {
        #expect(
          try PandoProcess.output("collection", store, "list", "--count")
            == "\(lines.count - refused.count)\n")
      }
      #expect(try PandoProcess.output("verify", store).hasPrefix("clean: "))
    }
  }

  @Test func `without keep-going the import ends at the line`() throws {
    try withStore { store throws in
      let lines = [#"{"id":3,"mail":"c"}"#, #"{"id":4,"mail":"b"}"#, #"{"id":5,"mail":"a"}"#]
      let outcome = try run(store, lines)
      #expect(outcome.status == 3)
      #expect(
        outcome.errors
          == "pando import: standard input, line 2, User:4: mail of a User is unique, and \"b\" is "
          + "that of User:2; nothing was imported\n")
      #expect(try PandoProcess.output("ls", store, "--count") == "2\n")
      #expect(
        try PandoProcess.failure(
          3, "import", store, "-", input: #"[{"id":3},{"id":4,"mail":"b"}]"#)
          == "pando import: standard input, User:4: mail of a User is unique, and \"b\" is that of "
          + "User:2; nothing was imported")
      #expect(
        try PandoProcess.failure(3, "set", store, "User:4", #"{"id":4,"mail":"b"}"#)
          == "pando set: \(store): User:4: mail of a User is unique, and \"b\" is that of User:2; "
          + "nothing of the write is kept")
    }
  }

  @Test func `a unique index of a field of children refuses the line that changes the child`()
    throws
  {
    try withStore { store throws in
      try PandoProcess.output("index", store, "drop", "User", "mail")
      try PandoProcess.output(
        "import", store, "-", "--map", "boss=User:id", "--lines",
        input: #"{"id":1,"boss":{"id":11,"mail":"x"}}"# + "\n"
          + #"{"id":2,"boss":{"id":12,"mail":"y"}}"#)
      try PandoProcess.output("index", store, "add", "User", "boss.mail", "--unique")
      let outcome = try run(
        store, [#"{"id":3,"mail":"z"}"#, #"{"id":12,"mail":"x"}"#, #"{"id":4}"#], "--keep-going")
      #expect(outcome.status == 0)
      #expect(
        outcome.errors.hasPrefix("pando import: standard input, line 2, User:"), "\(outcome.errors)"
      )
      #expect(outcome.errors.contains("boss.mail of a User is unique, and \"x\" is that of User:"))
      #expect(try PandoProcess.output("query", store, "User", #"boss.mail == "y""#) == "User:2\n")
      #expect(try PandoProcess.output("ls", store, "--count") == "6\n")
      #expect(try PandoProcess.output("verify", store).hasPrefix("clean: "))
    }
  }

  @Test func `many refused lines of many are named or counted`() throws {
    try withStore { store throws in
      // Every third has a value that another one has, or one that is taken.
      let lines = (10..<12_010).map { #"{"id":\#($0),"mail":"\#($0 % 3 == 0 ? "a" : "m\($0)")"}"# }
      let outcome = try run(store, lines, "--keep-going", "--json")
      #expect(outcome.status == 0)
      #expect(try TreeValue(json: outcome.output)["skippedLines"] == 4_000)
      #expect(
        outcome.errors.hasPrefix(
          "pando import: standard input, line 3, User:12: mail of a User is unique, and \"a\" is that "
            + "of User:1; skipped\n"))
      #expect(try PandoProcess.output("ls", store, "--count") == "8002\n")
    }
  }

  @Test func `lines that each need the next one to be imported are all refused`() throws {
    try withStore { store throws in
      // Everybody takes the address of the next one, and that of the last one stays taken.
      let first = (10..<510).map { #"{"id":\#($0),"mail":"m\#($0)"}"# }
      #expect(try run(store, first).status == 0)
      let next = (10..<510).map {
        #"{"id":\#($0),"mail":"\#($0 == 509 ? "a" : "m\($0 + 1)")"}"#
      }
      let outcome = try run(store, next + [#"{"id":600,"mail":"z"}"#], "--keep-going", "--json")
      #expect(outcome.status == 0)
      #expect(try TreeValue(json: outcome.output)["skippedLines"] == 500)
      #expect(try PandoProcess.output("query", store, "User", #"mail == "z""#) == "User:600\n")
      #expect(try PandoProcess.output("query", store, "User", #"mail == "m10""#) == "User:10\n")
    }
  }
}

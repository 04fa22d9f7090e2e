import Foundation
import PandoFixtures
import PandoModels
import PandoRecords
import Testing

@Suite struct ImportTests {
  private func withStore(_ body: (_ store: String, _ file: String) throws -> Void) throws {
    try withTemporaryDirectory { directory throws in
      try body(directory + "/store", directory + "/input.json")
    }
  }

  private func write(_ text: String, to file: String) throws {
    try text.write(toFile: file, atomically: true, encoding: .utf8)
  }

  @Test func `the report lists the effects of the import`() throws {
    try withStore { store, file throws in
      try write(
        #"{"users":[{"id":1,"n":1},{"id":2},{"id":1,"n":2}],"page":1,"meta":{"a":1}}"#, to: file)
      let text = try PandoProcess.output("import", store, file, "--map", "users=User:id")
      let lines = text.split(separator: "\n").map(String.init)
      #expect(lines[0].hasPrefix("imported   3  trees from \(file), 1 commit, "))
      #expect(
        Array(lines.dropFirst()) == [
          "nodes      3  met: 2 inserted, 0 updated",
          "User       2  in the store now",
          "differing  1  identifiers met with differing content (the last one counts)",
          "left out   2  values outside every node: meta, page",
        ])
      #expect(try TreeValue(json: PandoProcess.output("get", store, "User:1"))["n"] == 2)
    }
  }

  @Test func `standard input is read like a file`() throws {
    try withStore { store, _ throws in
      try PandoProcess.output(
        "import", store, "-", "--root", "T:id", input: #"[{"id":"a"},{"id":"b"}]"#)
      #expect(try PandoProcess.output("ls", store) == "T:a\nT:b\n")
    }
  }

  @Test(arguments: [
    ("{\"users\":[\n  {\"id\":1},\n  {\"id\" 2}]}", "line 3, column 9: not JSON: "),
    (#"{"users":[{"id":1},{"name":"x"}]}"#, "users[1]: a User without “id”, the field that"),
    (#"{"users":[{"id":1,"users":{"id":1}}]}"#, "users[0].users: User:1 lies inside itself"),
    ("", "line 1, column 1: not JSON: "),
  ])
  func `a bad file names place and reason and leaves nothing`(text: String, message: String) throws
  {
    try withStore { store, file throws in
      try write(text, to: file)
      let line = try PandoProcess.failure(3, "import", store, file, "--map", "users=User:id")
      #expect(line.hasPrefix("pando import: \(file), \(message)"), "\(line)")
      #expect(line.hasSuffix("; nothing was imported"))
      #expect(!FileManager.default.fileExists(atPath: store))
    }
  }

  @Test func `a bad file changes nothing in a store that is there`() throws {
    try withStore { store, file throws in
      try PandoProcess.output("import", store, "-", "--root", "T:id", input: #"{"id":1}"#)
      let before = try PandoProcess.output("dump", store)
      try write(#"[{"id":1,"x":1},{"id":null}]"#, to: file)
      let line = try PandoProcess.failure(3, "import", store, file)
      #expect(line.contains("[1]: “id” identifies a T, so it must be a text or a number, not null"))
      #expect(try PandoProcess.output("dump", store) == before)
    }
  }

  @Test func `strict refuses data outside every node`() throws {
    try withStore { store, file throws in
      try write(#"{"page":7,"users":[{"id":1}]}"#, to: file)
      let line = try PandoProcess.failure(
        3, "import", store, file, "--map", "users=User:id", "--strict")
      #expect(
        line == "pando import: \(file), page: data outside every node; map the property around "
          + "it, or leave out --strict; nothing was imported")
    }
  }

  @Test func `lines are counted, and a bad one names the last line kept`() throws {
    try withStore { store, file throws in
      var lines = (1...25_000).map { #"{"id":\#($0)}"# }
      lines[23_000 - 1] = #"{"id":23000"#
      try write(lines.joined(separator: "\n"), to: file)
      let line = try PandoProcess.failure(
        3, "import", store, file, "--lines", "--root", "N:id", "--collection", "all")
      #expect(line.hasPrefix("pando import: \(file), line 23000, column 12: not JSON: "))
      #expect(line.hasSuffix("; lines 1 to 20000 are kept"))
      #expect(try PandoProcess.output("ls", store, "--count") == "20000\n")
      #expect(try PandoProcess.output("collection", store, "all", "--count") == "20000\n")
      #expect(
        try PandoProcess.output("collection", store, "all", "--from", "19999") == "N:20000\n")
      #expect(try PandoProcess.output("verify", store).hasPrefix("clean: commit 2, "))
    }
  }

  @Test func `a bad line in the first ten thousand leaves nothing`() throws {
    try withStore { store, _ throws in
      let line = try PandoProcess.failure(
        3, "import", store, "-", "--lines", "--root", "N:id", input: "{\"id\":1}\n{}\n")
      #expect(line.hasPrefix("pando import: standard input, line 2, the top: a N without “id”"))
      #expect(line.hasSuffix("; nothing was imported"))
      #expect(try PandoProcess.output("ls", store) == "")
    }
  }

  @Test func `bad lines are skipped, reported and counted on request`() throws {
    try withStore { store, _ throws in
      let input = "{\"id\":1}\n\n{\"id\":\n{\"x\":1}\n  \r\n{\"id\":2}"
      let outcome = try PandoProcess.run(
        "import", store, "-", "--lines", "--root", "N:id", "--keep-going", "--json",
        input: input)
      #expect(outcome.status == 0)
      let errors = outcome.errors.split(separator: "\n")
      #expect(errors.count == 2)
      #expect(errors[0].hasPrefix("pando import: standard input, line 3, column 7: not JSON: "))
      #expect(errors[1].hasPrefix("pando import: standard input, line 4, the top: a N without"))
      #expect(errors.allSatisfy { $0.hasSuffix("; skipped") })
      let report = try TreeValue(json: outcome.output)
      #expect(report["skippedLines"] == 2)
      #expect(report["lines"] == 6)
      #expect(try PandoProcess.output("ls", store) == "N:1\nN:2\n")
    }
  }

  @Test func `many bad lines are only counted`() throws {
    try withStore { store, _ throws in
      let input = String(repeating: "x\n", count: 100) + "{\"id\":1}\n"
      let outcome = try PandoProcess.run(
        "import", store, "-", "--lines", "--root", "N:id", "--keep-going", input: input)
      #expect(outcome.status == 0)
      #expect(outcome.errors.count { $0 == "\n" } == 20)
      #expect(outcome.errors.hasSuffix("skipped; further bad lines are only counted\n"))
      #expect(outcome.output.contains("\nskipped    100  bad lines\n"))
    }
  }

  @Test func `roots are appended to a collection in order`() throws {
    try withStore { store, _ throws in
      for input in [#"[{"id":3},{"id":1}]"#, #"[{"id":2}]"#] {
        try PandoProcess.output(
          "import", store, "-", "--root", "N:id", "--collection", "list", input: input)
      }
      #expect(try PandoProcess.output("collection", store, "list") == "N:3\nN:1\nN:2\n")
    }
  }

  @Test func `a required node takes its holder along`() throws {
    try withStore { store, _ throws in
      try PandoProcess.output(
        "import", store, "-", "--root", "Post:id", "--map", "author=Person:id",
        "--map", "editor=Person:id", "--map", "likes=Person:id", "--require", "author",
        input: """
          [{"id":1,"author":{"id":1},"editor":{"id":2},"likes":[{"id":1},{"id":2}]},
           {"id":2,"meta":{"author":{"id":2}},"likes":[{"id":3}]}]
          """)
      #expect(
        try PandoProcess.output("delete", store, "Person:2")
          == "deleted\tPerson:2\ndeleted\tPost:2\nupdated\tPost:1\n")
      #expect(
        try TreeValue(json: PandoProcess.output("get", store, "Post:1"))
          == ["id": 1, "author": ["id": 1], "editor": .null, "likes": [["id": 1]]])
      #expect(try PandoProcess.output("verify", store).hasPrefix("clean: "))
    }
  }

  @Test func `the rules stay in the store, and later imports use and extend them`() throws {
    try withStore { store, _ throws in
      try PandoProcess.output(
        "import", store, "-", "--root", "Post:id", "--map", "author=Person:id",
        input: #"{"id":1,"author":{"id":1,"n":"a"}}"#)
      try PandoProcess.output(
        "import", store, "-", input: #"{"id":2,"author":{"id":1,"n":"b"}}"#)
      try PandoProcess.output(
        "set", store, "Post:1", #"{"id":1,"author":{"id":3},"editor":{"id":1}}"#)
      #expect(try PandoProcess.output("parents", store, "Person:1") == "Post:2\n")
      #expect(try PandoProcess.output("parents", store, "Person:3") == "Post:1\n")
      try PandoProcess.output(
        "import", store, "-", "--map", "editor=Person:id",
        input: #"{"id":1,"author":{"id":3},"editor":{"id":1,"n":"c"}}"#)
      #expect(try PandoProcess.output("parents", store, "Person:1") == "Post:1\nPost:2\n")
    }
  }

  @Test func `maps of nodes lose their entries one by one`() throws {
    try withStore { store, _ throws in
      try PandoProcess.output(
        "import", store, "-", "--root", "Post:id", "--map", "sizes=Size:key",
        input: #"{"id":1,"sizes":{"s":{"key":"a"},"l":{"key":"b"}}}"#)
      try PandoProcess.output("delete", store, "Size:a")
      #expect(
        try PandoProcess.output("get", store, "Post:1", "--compact")
          == #"{"id":1,"sizes":{"l":{"key":"b"}}}"# + "\n")
    }
  }

  @Test func `a terminal sees a progress bar, a file does not`() throws {
    try withStore { store, file throws in
      try write(#"[{"id":1},{"id":2}]"#, to: file)
      let outcome = try PandoProcess.shell(
        "script -qec \"'\(PandoProcess.path)' import \(store) \(file) --root N:id\" /dev/null")
      try #require(outcome.status == 0, "\(outcome)")
      #expect(outcome.output.contains("importing \(file) "))
      #expect(outcome.output.contains(" left"))
      let again = try PandoProcess.run("import", store, file)
      #expect(again.errors == "")
    }
  }

  @Test func `a file of lines that is read as one document brings --lines to mind`() throws {
    try withStore { store, file throws in
      try write("{\"id\":1}\n{\"id\":2}\n", to: file)
      #expect(
        try PandoProcess.failure(3, "import", store, file, "--root", "N:id")
          == "pando import: \(file), line 2, column 1: not JSON: expected nothing more after the "
          + "value, found {; add --lines if each line is a value of its own; nothing was imported")
    }
  }

  /// A node that holds a node, and so on, deeper than the store takes.
  private static let deepNode =
    (1...1_025).reversed().reduce("null") { inner, number in #"{"id":\#(number),"child":\#(inner)}"#
    }

  @Test func `a tree of a thousand levels goes through all commands`() throws {
    try withStore { store, _ throws in
      let tree = (1...1_000).reversed().reduce("null") { inner, number in
        #"{"child":\#(inner),"id":\#(number)}"#
      }
      let imported = try PandoProcess.run(
        "import", store, "-", "--root", "N:id", "--map", "child=N:id", input: tree)
      #expect(imported.status == 0, "\(imported)")
      let shown = try PandoProcess.output("get", store, "N:1")
      #expect(shown.contains("1000"))
      let dump = try PandoProcess.output("dump", store)
      let copy = store + ".copy"
      try PandoProcess.output("load", copy, "-", input: dump)
      #expect(try PandoProcess.output("get", copy, "N:1") == shown)
      #expect(try PandoProcess.output("dump", copy) == dump)
      try PandoProcess.output("verify", copy)
      try PandoProcess.output("delete", copy, "N:1000")
      #expect(try PandoProcess.output("get", copy, "N:999").contains("null"))
    }
  }

  @Test func `a line that the store refuses is named, or skipped`() throws {
    try withStore { store, _ throws in
      let input = "{\"id\":\"a\"}\n\(ImportTests.deepNode)\n{\"id\":\"b\"}\n"
      let arguments = [
        "import", store, "-", "--lines", "--root", "N:id", "--map", "child=N:id",
        "--collection", "list",
      ]
      let refused = try PandoProcess.run(arguments, input: input)
      #expect(refused.status == 3)
      #expect(
        refused.errors.hasPrefix("pando import: standard input, line 2: "), "\(refused.errors)")
      #expect(
        refused.errors.hasSuffix(
          ": nodes are nested deeper than 1024 levels; nothing was imported\n"))
      #expect(try PandoProcess.output("ls", store) == "")
      let skipped = try PandoProcess.run(arguments + ["--keep-going"], input: input)
      #expect(skipped.status == 0)
      #expect(
        skipped.errors.hasPrefix("pando import: standard input, line 2: "), "\(skipped.errors)")
      #expect(skipped.errors.hasSuffix("; skipped\n"))
      #expect(try PandoProcess.output("collection", store, "list") == "N:a\nN:b\n")
      #expect(try PandoProcess.output("ls", store, "--count") == "2\n")
      #expect(try PandoProcess.output("verify", store).hasPrefix("clean: "))
    }
  }

  @Test func `files that may not grow are an error and leave the lines before`() throws {
    try withStore { store, file throws in
      let lines = (0..<30_000).map {
        #"{"id":\#($0),"text":"\#(String(repeating: "x", count: 99))"}"#
      }
      try write(lines.joined(separator: "\n"), to: file)
      // A limit on the size of files, in blocks of 1024 bytes: some transactions fit, not all.
      let outcome = try PandoProcess.shell(
        "ulimit -f 5000; pando import \(store) \(file) --lines --root N:id")
      #expect(outcome.status == 4, "\(outcome)")
      #expect(outcome.errors.count { $0 == "\n" } == 1, "\(outcome.errors)")
      let count = try PandoProcess.output("ls", store, "--count").dropLast()
      #expect(["10000", "20000"].contains(count))
      #expect(
        outcome.errors.hasSuffix(
          "; allow larger files (ulimit -f); lines 1 to \(count) are kept\n"))
      #expect(try PandoProcess.output("verify", store).hasPrefix("clean: "))
      try PandoProcess.output("import", store, file, "--lines")
      #expect(try PandoProcess.output("ls", store, "--count") == "30000\n")
    }
  }

  @Test func `identifiers may be long and hold any character`() throws {
    try withStore { store, _ throws in
      let long = String(repeating: "k", count: 2000)
      let input: TreeValue = [
        ["id": .string(long)], ["id": "a\nb\u{1B}[31m"], ["id": "é"], ["id": "e\u{301}"],
      ]
      try PandoProcess.output("import", store, "-", "--root", "N:id", input: input.json())
      let list = try TreeValue(json: PandoProcess.output("ls", store, "--json"))
      #expect(
        list == [
          "N:a\nb\u{1B}[31m", "N:e\u{301}", .string("N:" + long), "N:é",
        ])
      #expect(try PandoProcess.output("ls", store).hasPrefix("N:a\\nb\\u{1b}[31m\n"))
      #expect(
        try PandoProcess.output("get", store, "N:" + long, "--compact")
          == "{\"id\":\"\(long)\"}\n")
    }
  }
}

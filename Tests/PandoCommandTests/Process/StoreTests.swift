import Foundation
import PandoFixtures
import PandoModels
import PandoStore
import Testing

/// collections, changes, stat, verify, dump, load, copy, demo.
@Suite struct StoreTests {
  private func withStore(
    _ body: (_ store: String, _ directory: String) throws -> Void
  ) throws {
    try withTemporaryDirectory { directory throws in
      let store = directory + "/store"
      try PandoProcess.output(
        "import", store, "-", "--root", "N:id", "--map", "child=N:id", "--collection", "list",
        input: #"[{"id":1,"child":{"id":9}},{"id":2},{"id":3}]"#)
      try body(store, directory)
    }
  }

  @Test func `a collection is listed and changed by position`() throws {
    try withStore { store, _ throws in
      func list() throws -> [String] {
        try PandoProcess.run("collection", store, "list").lines
      }
      #expect(try PandoProcess.output("collections", store) == "list\n")
      #expect(
        try PandoProcess.output("collections", store, "--json")
          == "[\n  {\"count\":3,\"key\":\"list\"}\n]\n")
      #expect(try list() == ["N:1", "N:2", "N:3"])
      try PandoProcess.output("collection", store, "list", "append", "N:9", "N:2")
      try PandoProcess.output("collection", store, "list", "insert", "0", "N:9")
      #expect(try list() == ["N:9", "N:1", "N:2", "N:3", "N:9", "N:2"])
      try PandoProcess.output("collection", store, "list", "move", "0", "5")
      #expect(try list() == ["N:1", "N:2", "N:3", "N:9", "N:2", "N:9"])
      try PandoProcess.output("collection", store, "list", "remove", "1", "2")
      try PandoProcess.output("collection", store, "list", "remove", "3")
      #expect(try list() == ["N:1", "N:9", "N:2"])
      #expect(
        try PandoProcess.output("collection", store, "list", "--from", "1", "--limit", "1")
          == "N:9\n")
      try PandoProcess.output("delete", store, "N:9")
      #expect(try list() == ["N:1", "N:2"])
      try PandoProcess.output("collection", store, "list", "remove", "all")
      #expect(try PandoProcess.output("collections", store) == "")
      #expect(try PandoProcess.output("verify", store).hasPrefix("clean: "))
    }
  }

  @Test func `a collection takes values without identifier`() throws {
    try withStore { store, _ throws in
      try PandoProcess.output(
        "collection", store, "new", "insert", "0", #"{"a":1.0}"#, #""text""#, "--values")
      try PandoProcess.output("collection", store, "new", "append", "N:1")
      #expect(
        try PandoProcess.output("collection", store, "new") == "{\"a\":1.0}\n\"text\"\nN:1\n")
    }
  }

  @Test(arguments: [
    (["none"], "there is no collection none"),
    (["none", "move", "0", "0"], "none: there is no such collection"),
    (["list", "append", "N:1", "N:8"], "there is no node N:8"),
    (
      ["list", "insert", "4", "N:1"], "list: there is no position 4; the collection has 3 elements"
    ),
    (["list", "move", "0", "3"], "list: there is no position 3"),
    (["list", "remove", "2", "2"], "list: there is no position 3"),
  ])
  func `positions and nodes that are not there are status 1`(
    arguments: [String], message: String
  ) throws {
    try withStore { store, _ throws in
      let dump = try PandoProcess.output("dump", store)
      let outcome = try PandoProcess.run(["collection", store] + arguments)
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains(message), "\(outcome.errors)")
      #expect(try PandoProcess.output("dump", store) == dump)
    }
  }

  @Test func `changes are a line each`() throws {
    try withStore { store, _ throws in
      try PandoProcess.output("set", store, "N:9", #"{"id":9,"x":1}"#)
      try PandoProcess.output("delete", store, "N:3")
      #expect(
        try PandoProcess.output("changes", store) == """
          1\tinserted\tN:1
          1\tinserted\tN:2
          1\tinserted\tN:3
          1\tinserted\tN:9
          1\tcollection\tlist
          2\tupdated\tN:9
          3\tdeleted\tN:3
          3\tcollection\tlist

          """)
      #expect(try PandoProcess.output("changes", store, "--since", "3") == "")
      let json = try TreeValue(json: PandoProcess.output("changes", store, "--since=2", "--json"))
      #expect(json[0]?["commit"] == 3)
      #expect(json[0]?["deleted"] == ["N:3"])
      #expect(json[0]?["collections"]?["list"] == [["delete": 2]])
      #expect(json.arrayValue?.count == 1)
    }
  }

  @Test func `stat counts nodes, records and bytes`() throws {
    try withStore { store, _ throws in
      let text = try PandoProcess.output("stat", store)
      let words = text.split(separator: "\n").map { line in
        line.split(separator: " ").joined(separator: " ")
      }
      for line in ["commit 1", "nodes 4", "records of N 4", "edges 4", "collections 1"] {
        #expect(words.contains(line), "no “\(line)” in: \(text)")
      }
      let json = try TreeValue(json: PandoProcess.output("stat", store, "--json"))
      #expect(json["nodes"] == 4)
      #expect(json["records"] == ["N": 4])
      #expect(json["edges"] == 4)
      #expect(json["collections"] == 1)
      #expect(json["commit"] == 1)
      #expect((json["fileBytes"]?.integerValue ?? 0) > 0)
      let free = try #require(json["freeBytes"]?.integerValue)
      #expect(free >= 0 && free < json["usedBytes"]?.integerValue ?? 0)
    }
  }

  @Test func `stat and top name the process that writes`() throws {
    try withTemporaryDirectory { directory throws in
      let path = directory + "/store"
      let store = try ModelStore(path: path)
      try store.write { _ in
        let process = ProcessInfo.processInfo.processIdentifier
        let lines = try PandoProcess.output("stat", path).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("writes now") })
        #expect(line.hasSuffix(" process \(process)"))
        let top = try PandoProcess.output("top", path, "--count", "1")
        #expect(top.contains("\n  process \(process) writes now\n"))
        for output in [
          try PandoProcess.output("stat", path, "--json"),
          try PandoProcess.output("top", path, "--count", "1", "--json"),
        ] {
          #expect(try TreeValue(json: output)["writerProcess"]?.integerValue == Int64(process))
        }
      }
      #expect(try !PandoProcess.output("stat", path).contains("writes now"))
      let json = try TreeValue(json: PandoProcess.output("stat", path, "--json"))
      #expect(json["writerProcess"] == .null)
      store.close()
    }
  }

  @Test func `stat says what the mark of a store with checkpoints means`() throws {
    try withTemporaryDirectory { directory throws in
      let path = directory + "/store"
      for (durability, format) in [
        (Durability.unsynchronized, "6"), (.relaxed(), "6 with checkpoints, marked 5"),
      ] {
        var configuration = ModelStore.Configuration()
        configuration.durability = durability
        try ModelStore(path: path, configuration: configuration).close()
        let line = try PandoProcess.output("stat", path).split(separator: "\n")
          .first { $0.hasPrefix("format") }
        #expect(line?.drop { $0 != " " }.drop { $0 == " " } == format[...])
      }
    }
  }

  @Test func `a dump loads to a store with the same dump`() throws {
    try withTemporaryDirectory { directory throws in
      let (store, copy) = (directory + "/store", directory + "/copy")
      let document = TweetFixture.document.json()
      let outcome = try PandoProcess.run(
        ["import", store, "-", "--collection", "all"] + TweetFixture.mapping, input: document)
      try #require(outcome.status == 0, "\(outcome)")
      let dump = try PandoProcess.output("dump", store)
      let report = try PandoProcess.output("load", copy, "-", input: dump)
      #expect(report.hasPrefix("loaded standard input: "))
      #expect(try PandoProcess.output("dump", copy) == dump)
      #expect(try PandoProcess.output("verify", copy).hasPrefix("clean: "))
      let piped = try PandoProcess.shell(
        "pando dump \(store) | pando load \(directory)/piped - > /dev/null; "
          + "cmp <(pando dump \(store)) <(pando dump \(directory)/piped) && echo same")
      #expect(piped.output == "same\n", "\(piped)")
    }
  }

  @Test(arguments: [("", "line"), ("{\"pando\":1}\n", "line 1"), ("{]\n", "line 1")])
  func `a dump that is none is bad input and loads nothing`(text: String, place: String) throws {
    try withTemporaryDirectory { directory throws in
      let line = try PandoProcess.failure(3, "load", directory + "/s", "-", input: text)
      #expect(line.hasPrefix("pando load: standard input"), "\(line)")
      #expect(line.contains(place), "\(line)")
      #expect(try PandoProcess.output("ls", directory + "/s") == "")
    }
  }

  /// Was: a store made elsewhere was refused, as its file asks for the map that it had there.
  @Test(
    .disabled(if: isSanitized, "a sanitizer has signals and address space of its own"),
    arguments: ["ulimit -v 16000000", "true"])
  func `a limited address space makes the map smaller and nothing else`(before: String) throws {
    try withTemporaryDirectory { directory throws in
      let outcome = try PandoProcess.shell(
        "\(before); echo '{\"id\":1}' | pando import \(directory)/s - --root T:id > /dev/null; "
          + "ulimit -v 16000000; pando set \(directory)/s T:2 '{\"id\":2}' > /dev/null; "
          + "pando ls \(directory)/s")
      #expect(outcome.output == "T:1\nT:2\n" && outcome.errors.isEmpty, "\(outcome)")
    }
  }

  @Test func `a bad line of a dump is named`() throws {
    try withStore { store, directory throws in
      var lines = try PandoProcess.output("dump", store).split(separator: "\n").map(String.init)
      lines[3] = #"{"node":}"#
      #expect(
        try PandoProcess.failure(
          3, "load", directory + "/s", "-", input: lines.joined(separator: "\n"))
          == "pando load: standard input: line 4: column 9: expected a value, found }; "
          + "nothing was loaded")
    }
  }

  @Test func `an environment of others is no store, and the error says how to look into it`() throws
  {
    try withTemporaryDirectory { directory throws in
      try PandoProcess.output("kv", directory + "/e", "t", "put", "k", "v")
      for command in ["ls", "stat", "verify"] {
        #expect(
          try PandoProcess.failure(4, command, directory + "/e")
            == "pando \(command): \(directory)/e: is an LMDB file with rows of its own and no "
            + "Pando store; look into its tables with: pando kv \(directory)/e '' scan")
      }
      // An empty table, as a process leaves it that ended while it made a store.
      try PandoProcess.output("kv", directory + "/m", "meta", "put", "k", "v")
      try PandoProcess.output("kv", directory + "/m", "meta", "delete", "k")
      let line = try PandoProcess.failure(4, "ls", directory + "/m")
      #expect(line.contains("it is no Pando store, or one whose creation was cut short"), "\(line)")
    }
  }

  @Test func `a file in the place of a store is named`() throws {
    try withTemporaryDirectory { directory throws in
      let file = directory + "/file"
      try Data("text".utf8).write(to: URL(fileURLWithPath: file))
      let line = try PandoProcess.failure(4, "set", file, "N:1", "{}")
      #expect(line.hasSuffix("; a store is a directory; give another path"), "\(line)")
    }
  }

  @Test func `a dump that was cut off is bad input`() throws {
    try withStore { store, directory throws in
      let lines = try PandoProcess.output("dump", store).split(separator: "\n")
      let cut = lines.dropLast().joined(separator: "\n")
      try PandoProcess.failure(3, "load", directory + "/s", "-", input: cut)
      #expect(try PandoProcess.output("ls", directory + "/s", "--count") == "0\n")
    }
  }

  @Test(arguments: [[], ["--compact"]])
  func `a copy is a store of its own`(options: [String]) throws {
    try withStore { store, directory throws in
      let outcome = try PandoProcess.run(["copy", store, directory + "/copy"] + options)
      #expect(outcome.status == 0, "\(outcome)")
      #expect(outcome.output.hasPrefix("copied \(store) to \(directory)/copy, "))
      #expect(
        try PandoProcess.output("dump", directory + "/copy")
          == PandoProcess.output("dump", store))
      let again = try PandoProcess.failure(4, "copy", store, directory + "/copy")
      #expect(again.contains("there is a store already"))
    }
  }

  @Test func `reading works while another process writes`() throws {
    try withStore { path, _ throws in
      let store = try ModelStore(path: path, configuration: .forTests)
      defer { store.close() }
      // The write transaction is open while the command runs.
      try store.write { transaction in
        try transaction.set(TreeNode("N:5", type: "N", fields: ["id": 5]))
        #expect(try PandoProcess.output("ls", path, "--count") == "4\n")
        #expect(try PandoProcess.output("verify", path).hasPrefix("clean: commit 1, "))
        #expect(try PandoProcess.output("get", path, "N:2", "--compact") == "{\"id\":2}\n")
      }
      #expect(try PandoProcess.output("ls", path, "--count") == "5\n")
    }
  }

  @Test func `the demo tells its story and leaves nothing behind`() throws {
    let text = try PandoProcess.output("demo")
    for part in [
      "Message:demo-1", "Ada Lovelace", "1 record written",
      "list notified:     row 1 inserted: demo-1, demo-4, demo-2, demo-3",
      "provider notified: demo-2 from Grace Hopper",
      "list notified:     row 2 updated: demo-1, demo-4, demo-2, demo-3",
      "deleted     Person:demo-ada", "verified clean",
      #""updated":["Person:demo-grace"]}"#, "Its lines were here ",
    ] {
      #expect(text.contains(part), "no “\(part)” in: \(text)")
    }
    let path = try #require(
      text.split(separator: "\n").first?.split(separator: " ").last.map(String.init))
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `the demo can run again in a store of the caller`() throws {
    try withStore { store, _ throws in
      for _ in 0..<2 {
        let text = try PandoProcess.output("demo", store)
        #expect(text.contains("row 1 inserted: demo-1, demo-4, demo-2, demo-3"))
        #expect(text.contains("verified clean"))
      }
      #expect(try PandoProcess.output("get", store, "N:2", "--compact") == "{\"id\":2}\n")
    }
  }
}

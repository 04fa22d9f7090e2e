import Foundation
import PandoFixtures
import PandoModels
import PandoRecords
import Testing

/// get, set, delete, parents, ls.
@Suite struct NodeTests {
  private func withStore(_ body: (_ store: String) throws -> Void) throws {
    try withTemporaryDirectory { directory throws in
      let store = directory + "/store"
      try PandoProcess.output(
        "import", store, "-", "--root", "Post:id", "--map", "author=Person:id",
        "--map", "image=Image:key",
        input: """
          [{"id":1,"text":"one","author":{"id":7,"name":"Ada","image":{"key":"i","w":1}}},
           {"id":2,"text":"two","author":{"id":7,"name":"Ada","image":{"key":"i","w":1}}}]
          """)
      try body(store)
    }
  }

  @Test func `get prints a tree, as deep as asked for`() throws {
    try withStore { store throws in
      #expect(
        try PandoProcess.output("get", store, "Post:1") == """
          {
            "author": {
              "id": 7,
              "image": {
                "key": "i",
                "w": 1
              },
              "name": "Ada"
            },
            "id": 1,
            "text": "one"
          }

          """)
      #expect(
        try PandoProcess.output("get", store, "Post:1", "--depth", "1", "--compact")
          == #"{"author":{"id":7,"image":{"$reference":["Image:i","Image"]},"name":"Ada"},"#
          + #""id":1,"text":"one"}"# + "\n")
      #expect(
        try PandoProcess.output("get", store, "Post:1", "--depth=0", "--compact")
          == #"{"author":{"$reference":["Person:7","Person"]},"id":1,"text":"one"}"# + "\n")
    }
  }

  @Test func `get of a missing node is status 1`() throws {
    try withStore { store throws in
      #expect(
        try PandoProcess.failure(1, "get", store, "Post:3")
          == "pando get: \(store): there is no node Post:3; list them with: pando ls \(store)")
      try PandoProcess.failure(1, "get", store, "Post:1", "--type", "Person")
      try PandoProcess.failure(1, "parents", store, "Post:3")
      try PandoProcess.failure(1, "delete", store, "Post:3")
    }
  }

  @Test func `set merges or replaces, in every tree at once`() throws {
    try withStore { store throws in
      #expect(
        try PandoProcess.output("set", store, "Person:7", #"{"name":"Grace"}"#, "--merge")
          == "2\tupdated\tPerson:7\n")
      #expect(
        try PandoProcess.output("get", store, "Post:2", "--compact")
          == #"{"author":{"id":7,"image":{"key":"i","w":1},"name":"Grace"},"id":2,"text":"two"}"#
          + "\n")
      #expect(
        try PandoProcess.output("set", store, "Person:7", "-", input: #"{"id":7}"#)
          == "3\tupdated\tPerson:7\n")
      #expect(
        try PandoProcess.output("get", store, "Post:1", "--compact")
          == #"{"author":{"id":7},"id":1,"text":"one"}"# + "\n")
      #expect(try PandoProcess.output("set", store, "Person:7", #"{"id":7}"#) == "")
    }
  }

  @Test func `set accepts the output of get`() throws {
    try withStore { store throws in
      let dump = try PandoProcess.output("dump", store)
      for options in [[], ["--depth", "0"], ["--lossless"], ["--lossless", "--depth=1"]] {
        let got = try PandoProcess.run(["get", store, "Post:1"] + options)
        let lossless = options.filter { $0 == "--lossless" }
        let set = try PandoProcess.run(["set", store, "Post:1", "-"] + lossless, input: got.output)
        #expect(set.status == 0, "\(options): \(set)")
        #expect(set.output == "", "\(options) changed something")
      }
      #expect(try PandoProcess.output("dump", store) == dump)
    }
  }

  @Test(arguments: [
    (["Post:1", "{"], 3, "JSON, line 1, column 2: not JSON: "),
    (["Post:1", "[]"], 3, "Post:1: a node is a JSON object, not an array"),
    (["Post:1", #"{"text":"x"}"#], 3, "Post:1: a Post without “id”, which identifies it"),
    (["Post:1", #"{"id":2}"#], 3, "Post:1: “id” is 2, which says otherwise"),
    (["Post:1", #"{"id":1,"author":{"n":1}}"#], 3, "Post:1, author: a Person without “id”"),
    (["Post:1", #"{"id":1,"author":{"$reference":["Person:9","Person"]}}"#], 1, "Person:9"),
    (["Nobody", "{}"], 2, "Nobody: nothing says which type the new node has"),
    (["", "{}"], 3, "ID is empty"),
  ])
  func `set refuses values that it cannot keep`(
    arguments: [String], status: Int32, message: String
  ) throws {
    try withStore { store throws in
      let dump = try PandoProcess.output("dump", store)
      let line = try PandoProcess.failure(status, "set", store, arguments[0], arguments[1])
      #expect(line.contains(": \(message)"), "\(line)")
      #expect(try PandoProcess.output("dump", store) == dump)
    }
  }

  @Test func `set creates nodes, also of types that no import has named`() throws {
    try withStore { store throws in
      #expect(
        try PandoProcess.output("set", store, "Topic:x", #"{"a":[1.0,null]}"#)
          == "2\tinserted\tTopic:x\n")
      try PandoProcess.output("set", store, "odd", #"{"a":1}"#, "--type", "Topic")
      #expect(try PandoProcess.output("ls", store, "--type", "Topic") == "Topic:x\nodd\n")
      #expect(
        try PandoProcess.output("get", store, "Topic:x", "--compact") == #"{"a":[1.0,null]}"# + "\n"
      )
    }
  }

  @Test(arguments: [
    (2, ["X", "{}"]), (3, ["N:1", "[1]"]), (3, ["N:1", "{"]), (3, ["", "{}", "--type", "N"]),
  ])
  func `a node that cannot be set leaves no store behind`(
    status: Int, arguments: [String]
  ) throws {
    try withTemporaryDirectory { directory throws in
      let store = directory + "/absent"
      #expect(try PandoProcess.run(["set", store] + arguments).status == Int32(status))
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
    }
  }

  @Test func `delete prints the effects of the cascade`() throws {
    try withStore { store throws in
      let line = try PandoProcess.output("delete", store, "Person:7", "--json")
      #expect(
        try TreeValue(json: line)
          == ["deleted": ["Person:7"], "updated": ["Post:1", "Post:2"], "collections": []])
      #expect(
        try PandoProcess.output("get", store, "Post:1", "--compact")
          == #"{"author":null,"id":1,"text":"one"}"# + "\n")
    }
  }

  @Test func `parents are one a line, nearest first with all`() throws {
    try withStore { store throws in
      #expect(try PandoProcess.output("parents", store, "Image:i") == "Person:7\n")
      #expect(
        try PandoProcess.output("parents", store, "Image:i", "--all")
          == "Person:7\nPost:1\nPost:2\n")
      #expect(
        try PandoProcess.output("parents", store, "Person:7", "--json")
          == "[\n  \"Post:1\",\n  \"Post:2\"\n]\n")
      #expect(try PandoProcess.output("parents", store, "Post:1") == "")
    }
  }

  @Test func `ls lists by type and prefix, counts and stops`() throws {
    try withStore { store throws in
      #expect(try PandoProcess.output("ls", store) == "Image:i\nPerson:7\nPost:1\nPost:2\n")
      #expect(try PandoProcess.output("ls", store, "--type", "Post") == "Post:1\nPost:2\n")
      #expect(
        try PandoProcess.output("ls", store, "--prefix", "P", "--limit", "2", "--json")
          == "[\n  \"Person:7\",\n  \"Post:1\"\n]\n")
      #expect(try PandoProcess.output("ls", store, "--limit", "0") == "")
      #expect(try PandoProcess.output("ls", store, "--type", "None", "--json") == "[]\n")
      #expect(try PandoProcess.output("ls", store, "--count") == "4\n")
      #expect(try PandoProcess.output("ls", store, "--prefix", "Po", "--count") == "2\n")
      #expect(try PandoProcess.output("ls", store, "--type", "Post", "--count") == "2\n")
      #expect(try PandoProcess.output("ls", store, "--count", "--json") == "{\"count\":4}\n")
    }
  }

  @Test func `lists work with other tools`() throws {
    try withStore { store throws in
      let outcome = try PandoProcess.shell(
        "pando ls \(store) | wc -l; pando ls \(store) | grep Post | xargs -n 1 \(PandoProcess.path)"
          + " get \(store) --compact | wc -l")
      #expect(outcome.lines.map { $0.trimmingCharacters(in: .whitespaces) } == ["4", "2"])
    }
  }

  @Test func `a reader that goes away ends the command quietly`() throws {
    try withTemporaryDirectory { directory throws in
      let store = directory + "/store"
      let lines = (0..<20_000).map { #"{"id":"\#($0)-\#(String(repeating: "x", count: 40))"}"# }
      try PandoProcess.output(
        "import", store, "-", "--lines", "--root", "N:id", input: lines.joined(separator: "\n"))
      let outcome = try PandoProcess.shell("pando ls \(store) | head -n 1; echo ${PIPESTATUS[0]}")
      #expect(outcome.errors == "")
      #expect(outcome.lines.count == 2)
      #expect(outcome.lines.last == "0")
    }
  }

  @Test func `output that cannot be written is an error`() throws {
    try withStore { store throws in
      let outcome = try PandoProcess.shell("pando get \(store) Post:1 > /dev/full")
      #expect(outcome.status == 4)
      #expect(
        outcome.errors
          == "pando get: standard output: No space left on device; the output is not complete\n")
    }
  }
}

import PandoFixtures
import PandoModels
import Testing

/// Data that looks like a reference, on its way through get and set.
@Suite struct ReferenceTests {
  private static let rules = ["--root", "Post:id", "--map", "author=Person:id"]

  private func withStore(
    _ input: String, _ body: (_ store: String) throws -> Void
  ) throws {
    try withTemporaryDirectory { directory throws in
      let store = directory + "/store"
      let outcome = try PandoProcess.run(["import", store, "-"] + Self.rules, input: input)
      try #require(outcome.status == 0, "\(outcome)")
      try body(store)
    }
  }

  /// Posts whose data looks like a reference, and how get prints it.
  private static let posts = [
    (
      #"{"id":1,"x":{"$reference":["Person:7","Person"]}}"#,
      #"{"id":1,"x":{"$$reference":["Person:7","Person"]}}"#
    ),
    (
      #"{"id":1,"x":{"$reference":["no such","node"]}}"#,
      #"{"id":1,"x":{"$$reference":["no such","node"]}}"#
    ),
    (
      #"{"id":1,"x":[{"$reference":["a","b"]},[{"$$reference":["a","b"]}]]}"#,
      #"{"id":1,"x":[{"$$reference":["a","b"]},[{"$$$reference":["a","b"]}]]}"#
    ),
    (
      #"{"author":{"id":7,"x":{"y":{"$reference":["Post:1","Post"]}}},"id":1}"#,
      #"{"author":{"id":7,"x":{"y":{"$$reference":["Post:1","Post"]}}},"id":1}"#
    ),
    // What can't be taken for a reference stands as it is.
    (
      #"{"id":1,"x":[{"$reference":5},{"$reference":["a"]},{"$reference":["a",1]},{"$other":["a","b"]}]}"#,
      #"{"id":1,"x":[{"$reference":5},{"$reference":["a"]},{"$reference":["a",1]},{"$other":["a","b"]}]}"#
    ),
    (
      #"{"id":1,"x":{"$reference":["a","b"],"y":1},"reference":["a","b"]}"#,
      #"{"id":1,"reference":["a","b"],"x":{"$reference":["a","b"],"y":1}}"#
    ),
  ]

  @Test(arguments: posts)
  func `imported data that looks like a reference is the same after get and set`(
    post: String, printed: String
  ) throws {
    try withStore(post) { store throws in
      try PandoProcess.output("set", store, "Person:7", #"{"id":7,"x":null}"#, "--merge")
      let before = try PandoProcess.output("dump", store)
      let text = try PandoProcess.output("get", store, "Post:1", "--compact")
      if !post.contains("author") { #expect(text == printed + "\n") }
      for options in [[], ["--merge"]] {
        let outcome = try PandoProcess.run(["set", store, "Post:1", "-"] + options, input: text)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.output == "", "nothing has changed: \(outcome.output)")
      }
      #expect(try PandoProcess.output("dump", store) == before)
      // As a new node of another store, too.
      try PandoProcess.output("set", store + "2", "Post:1", text)
      #expect(try PandoProcess.output("get", store + "2", "Post:1", "--compact") == text)
    }
  }

  @Test func `a node whose only field looks like a reference is the same after get and set`() throws
  {
    try withStore(#"{"id":1}"#) { store throws in
      try PandoProcess.output(
        "set", store, "Box:1", #"{"$$reference":["Post:1","Post"]}"#, "--type", "Box")
      let text = try PandoProcess.output("get", store, "Box:1", "--compact")
      #expect(text == #"{"$$reference":["Post:1","Post"]}"# + "\n")
      #expect(
        try PandoProcess.output("get", store, "Box:1", "--lossless", "--compact")
          == #"{"$node":["Box:1","Box",{"$$reference":["Post:1","Post"]}]}"# + "\n")
      #expect(try PandoProcess.output("set", store, "Box:1", "-", input: text) == "")
      #expect(try PandoProcess.output("parents", store, "Post:1") == "")
    }
  }

  @Test func `a reference that get prints is still an edge`() throws {
    try withStore(#"{"id":1,"author":{"id":7},"x":{"$reference":["Person:7","Person"]}}"#) {
      store throws in
      let text = try PandoProcess.output("get", store, "Post:1", "--depth", "0", "--compact")
      #expect(
        text
          == #"{"author":{"$reference":["Person:7","Person"]},"id":1,"#
          + #""x":{"$$reference":["Person:7","Person"]}}"# + "\n")
      let before = try PandoProcess.output("dump", store)
      #expect(try PandoProcess.output("set", store, "Post:1", "-", input: text) == "")
      #expect(try PandoProcess.output("dump", store) == before)
      try PandoProcess.output("delete", store, "Person:7")
      #expect(
        try PandoProcess.output("get", store, "Post:1", "--compact")
          == #"{"author":null,"id":1,"x":{"$$reference":["Person:7","Person"]}}"# + "\n")
    }
  }

  @Test func `elements of a collection that look like references are data`() throws {
    try withStore(#"{"id":1}"#) { store throws in
      let value = #"{"$$reference":["Post:1","Post"]}"#
      try PandoProcess.output("collection", store, "list", "append", "--values", value)
      #expect(try PandoProcess.output("collection", store, "list") == value + "\n")
      // The lossless form has one more for each name that begins so, and the name has one alone.
      #expect(try PandoProcess.output("dump", store).contains("[\(value)]"))
      try PandoProcess.output("delete", store, "Post:1")
      #expect(try PandoProcess.output("collection", store, "list") == value + "\n")
    }
  }
}

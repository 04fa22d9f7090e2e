import PandoFixtures
import PandoModels
import PandoRecords
import Testing

/// Files whose nodes are identified by the keys of a map.
@Suite struct KeyedImportTests {
  private func withStore(_ body: (_ store: String) throws -> Void) throws {
    try withTemporaryDirectory { try body($0 + "/store") }
  }

  /// Imports a document twice, and expects nothing of the second time.
  private func importTwice(_ store: String, _ input: String, _ rules: String...) throws {
    let first = try PandoProcess.run(["import", store, "-"] + rules, input: input)
    try #require(first.status == 0, "\(first)")
    let dump = try PandoProcess.output("dump", store)
    let commit = try TreeValue(json: PandoProcess.output("stat", store, "--json"))["commit"]
    let again = try PandoProcess.run(["import", store, "-", "--json"] + rules, input: input)
    let report = try TreeValue(json: again.output)
    #expect(report["inserted"] == 0 && report["updated"] == 0, "\(report)")
    // The rules in the store say the same.
    try PandoProcess.output("import", store, "-", input: input)
    #expect(try PandoProcess.output("dump", store) == dump)
    #expect(try TreeValue(json: PandoProcess.output("stat", store, "--json"))["commit"] == commit)
    try PandoProcess.output("load", store + ".copy", "-", input: dump)
    try PandoProcess.output("import", store + ".copy", "-", input: input)
    #expect(try PandoProcess.output("dump", store + ".copy") == dump)
    #expect(try PandoProcess.output("verify", store).hasPrefix("clean: "))
  }

  @Test func `the top object is a map of nodes`() throws {
    try withStore { store throws in
      try importTwice(
        store, #"{"Ulm":{"area":118},"Bonn":{"area":141},"a b":{}}"#, "--root", "City:@key")
      #expect(try PandoProcess.output("ls", store) == "City:Bonn\nCity:Ulm\nCity:a b\n")
      #expect(try PandoProcess.output("get", store, "City:Ulm", "--compact") == "{\"area\":118}\n")
      #expect(try PandoProcess.output("query", store, "City", "area > 120") == "City:Bonn\n")
    }
  }

  @Test func `each line and each element of a top array is a map of nodes`() throws {
    try withStore { store throws in
      try PandoProcess.output(
        "import", store, "-", "--lines", "--root", "City:@key", "--collection", "all",
        input: "{\"b\":{\"n\":1},\"a\":{}}\n{\"c\":{}}\n")
      #expect(try PandoProcess.output("collection", store, "all") == "City:a\nCity:b\nCity:c\n")
      try PandoProcess.output("import", store, "-", input: #"[{"d":{}},{"e":{"n":1}}]"#)
      #expect(try PandoProcess.output("ls", store, "--count") == "5\n")
    }
  }

  @Test func `a property outside every node is a map of nodes`() throws {
    try withStore { store throws in
      let input = #"{"data":{"grid":{"stats":{"x":{"1":"y"}}},"none":7},"version":1}"#
      try importTwice(store, input, "--map", "data=Feature:@key")
      #expect(
        try PandoProcess.output("get", store, "Feature:grid", "--compact")
          == #"{"stats":{"x":{"1":"y"}}}"# + "\n")
      let report = try PandoProcess.output("import", store, "-", "--json", input: input)
      #expect(try TreeValue(json: report)["leftOut"] == ["data.none": 1, "version": 1])
      #expect(
        try PandoProcess.failure(3, "import", store, "-", "--strict", input: input).contains(
          ", data.none: data outside every node"))
    }
  }

  @Test func `maps inside maps come back as they went in`() throws {
    try withStore { store throws in
      let land =
        #"{"name":"Land","towns":{"Bonn":{"parts":{"1":{"n":1},"2":{"n":2}}},"Ulm":{"parts":{}}},"#
        + #""x":{"towns":null}}"#
      try importTwice(
        store,
        #"{"lands":{"de":\#(land),"at":{"towns":{"Wien":{"parts":{"3":{}}},"y":[1,null]}}}}"#,
        "--map", "lands=Land:@key", "--map", "towns=Town:@key", "--map", "parts=Part:@key")
      #expect(
        try PandoProcess.output("ls", store)
          == "Land:at\nLand:de\nPart:1\nPart:2\nPart:3\nTown:Bonn\nTown:Ulm\nTown:Wien\n")
      let text = try PandoProcess.output("get", store, "Land:de", "--compact")
      #expect(text == land + "\n")
      #expect(try PandoProcess.output("set", store, "Land:de", "-", input: text) == "")
      let short = try PandoProcess.output("get", store, "Land:de", "--depth", "0", "--compact")
      #expect(
        short.contains(#""towns":{"Bonn":{"$reference":["Town:Bonn","Town"]},"#), "\(short)")
      #expect(try PandoProcess.output("set", store, "Land:de", "-", input: short) == "")
      #expect(
        try PandoProcess.output(
          "set", store, "Town:Bonn", #"{"parts":{"1":{"n":3},"2":{"n":2}}}"#
        )
        .contains("\tupdated\tPart:1\n"))
      try PandoProcess.output("delete", store, "Town:Bonn")
      #expect(
        try PandoProcess.output("parents", store, "Town:Ulm") == "Land:de\n",
        "only one entry is lost")
      #expect(
        try PandoProcess.output("get", store, "Land:at", "--compact")
          == #"{"towns":{"Wien":{"parts":{"3":{}}},"y":[1,null]}}"# + "\n")
    }
  }

  @Test func `a key may be empty or hold any character`() throws {
    try withStore { store throws in
      let packages = #"{"":{"name":"a"},"@x/y":{"n":1},"node_modules/é \n":{"n":2}}"#
      try importTwice(
        store, #"{"root":{"id":1,"packages":\#(packages)}}"#, "--map", "root=Root:id", "--map",
        "packages=Package:@key")
      #expect(
        try PandoProcess.output("ls", store)
          == "Package:\nPackage:@x/y\nPackage:node_modules/é \\n\nRoot:1\n")
      #expect(
        try PandoProcess.output("get", store, "Package:", "--compact") == "{\"name\":\"a\"}\n")
      let text = try PandoProcess.output("get", store, "Root:1", "--compact")
      #expect(text == #"{"id":1,"packages":\#(packages)}"# + "\n")
      #expect(try PandoProcess.output("set", store, "Root:1", "-", input: text) == "")
      #expect(
        try PandoProcess.output("set", store, "Package:", #"{"name":"b"}"#)
          .hasSuffix("\tupdated\tPackage:\n"))
    }
  }

  @Test func `a key that occurs in two maps is one node, and the last one counts`() throws {
    try withStore { store throws in
      let input = """
        {"dependencies":{"x":{"version":"1","dependencies":{"y":{"version":"2","z":{"a":1}}}},
         "y":{"version":"1"},"z":{"dependencies":{"y":{"version":"3"}}}}}
        """
      try importTwice(store, input, "--map", "dependencies=Package:@key")
      #expect(
        try PandoProcess.output("get", store, "Package:y", "--compact") == "{\"version\":\"3\"}\n")
      let lines = "{\"y\":{\"version\":\"8\"}}\n{\"y\":{\"version\":\"3\"}}\n"
      let dump = try PandoProcess.output("dump", store)
      for _ in 0..<2 {
        try PandoProcess.output(
          "import", store, "-", "--lines", "--root", "Package:@key", input: lines)
      }
      #expect(try PandoProcess.output("changes", store, "--since", "2") == "")
      #expect(try PandoProcess.output("dump", store) != dump, "the rules have got a root")
      try PandoProcess.output(
        "import", store, "-", "--lines", "--collection", "list", input: lines)
      #expect(try PandoProcess.output("collection", store, "list", "--count") == "2\n")
    }
  }

  @Test func `keys and fields identify nodes side by side`() throws {
    try withStore { store throws in
      try importTwice(
        store, #"{"all":{"ada":{"id":7,"boss":{"id":8}}},"list":[{"id":"x"}]}"#,
        "--map", "all=Person:@key", "--map", "list=Person:id", "--map", "boss=Boss:id")
      #expect(try PandoProcess.output("ls", store) == "Boss:8\nPerson:ada\nPerson:x\n")
      // A field says nothing of what a key identifies.
      #expect(try PandoProcess.output("set", store, "Person:ada", #"{"id":9}"#) != "")
    }
  }

  @Test func `a field that is named like the word for keys is written with one more at sign`()
    throws
  {
    try withStore { store throws in
      try importTwice(
        store, #"[{"@key":"a","in":{"@id":1,"@@key":"b"}}]"#, "--root", "Row:@@key", "--map",
        "in=Cell:@id")
      #expect(try PandoProcess.output("ls", store) == "Cell:1\nRow:a\n")
    }
  }

  @Test(arguments: [
    (
      #"{"data":[{"x":1}]}"#,
      "data[0]: a Row is identified by its key in a map, and an array has none"
    ),
    (
      #"{"data":{"a":{"data":{"a":{}}}}}"#, "data.a.data.a: Row:a lies inside itself"
    ),
    (
      #"{"data":{"a":{"rows":{"data":[{}]}}}}"#,
      "data.a.rows.data[0]: a Row is identified by its key in a map, and an array has none"
    ),
  ])
  func `an error names the place of a value without a key`(input: String, message: String) throws {
    try withStore { store throws in
      let line = try PandoProcess.failure(
        3, "import", store, "-", "--map", "data=Row:@key", input: input)
      #expect(line.hasPrefix("pando import: standard input, \(message)"), "\(line)")
      #expect(line.hasSuffix("; nothing was imported"))
    }
  }
}

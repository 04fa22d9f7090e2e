import Testing

@testable import PandoCommand

@Suite struct ImportMappingTests {
  private func mapping(_ arguments: String..., from old: ImportMapping = .init()) throws
    -> ImportMapping
  {
    var mapping = old
    let parser = ArgumentParser(declaration: ImportCommand.declaration)
    try mapping.add(try parser.parse(["store", "file"] + arguments))
    return mapping
  }

  @Test func `options become rules`() throws {
    let mapping = try mapping(
      "--root", "Status:id", "--map", "user=User:id_str", "--map=owner=User:id:x",
      "--require", "user")
    #expect(mapping.root == NodeType(typeName: "Status", field: "id"))
    #expect(mapping.properties["user"] == NodeType(typeName: "User", field: "id_str"))
    #expect(mapping.properties["owner"] == NodeType(typeName: "User", field: "id:x"))
    #expect(mapping.required == ["user"])
    #expect(mapping.fields(ofType: "User") == ["id_str", "id:x"])
    #expect(mapping.typeName(ofIdentifier: "Status:9:8") == "Status")
    #expect(mapping.typeName(ofIdentifier: "Stat:9") == nil)
  }

  @Test(arguments: [
    ["--root", "Status"], ["--root", ":id"], ["--root", "Status:"], ["--map", "user"],
    ["--map", "user=User"], ["--map", "=User:id"], ["--require", "user"],
    ["--map", "a=A:id", "--map", "a=B:id"],
  ])
  func `rules that say nothing are usage errors`(arguments: [String]) throws {
    let parser = ArgumentParser(declaration: ImportCommand.declaration)
    let parsed = try parser.parse(["store", "file"] + arguments)
    #expect {
      var mapping = ImportMapping()
      try mapping.add(parsed)
    } throws: {
      ($0 as? CommandError)?.exitCode == .usage
    }
  }

  @Test func `a later import adds to the rules of earlier ones`() throws {
    let first = try mapping("--root", "A:id", "--map", "x=X:id", "--map", "y=Y:id")
    let second = try mapping("--root", "B:id", "--map", "x=X:key", "--require", "y", from: first)
    #expect(second.root == NodeType(typeName: "B", field: "id"))
    #expect(second.formerRoots == [NodeType(typeName: "A", field: "id")])
    #expect(second.properties["x"]?.field == "key")
    #expect(second.required == ["y"])
    #expect(second.typeName(ofIdentifier: "A:1") == "A")
  }

  @Test func `a mapping is decoded from its bytes`() throws {
    let first = try mapping("--root", "A:id", "--map", "x=X:id", "--require", "x")
    let second = try mapping("--root", "B:\"é", from: first)
    #expect(try ImportMapping(encoded: second.encoded()) == second)
    #expect(try ImportMapping(encoded: ImportMapping().encoded()) == ImportMapping())
    #expect(throws: CommandError.self) { try ImportMapping(encoded: Array("{".utf8)) }
  }
}

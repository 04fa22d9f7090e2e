import Foundation
import PandoFixtures
import PandoLMDB
import Testing

@testable import PandoCommand
@testable import PandoStore

@Suite struct KeyValueTests {
  @Test func `entries are put, read, listed and deleted`() throws {
    try withTemporaryDirectory { directory throws in
      let path = directory + "/environment"
      try PandoProcess.output("kv", path, "t", "put", "b", "2")
      try PandoProcess.output("kv", path, "t", "put", "a", "-", input: "one\n")
      try PandoProcess.output("kv", path, "t", "put", "ba", "")
      #expect(try PandoProcess.output("kv", path, "t", "get", "b") == "2\n")
      #expect(try PandoProcess.output("kv", path, "t", "get", "a") == "one\n\n")
      #expect(try PandoProcess.output("kv", path, "t", "scan") == "a\tone\\n\nb\t2\nba\t\n")
      #expect(
        try PandoProcess.output("kv", path, "t", "scan", "--prefix", "b", "--reversed")
          == "ba\t\nb\t2\n")
      #expect(try PandoProcess.output("kv", path, "t", "scan", "--limit", "1") == "a\tone\\n\n")
      #expect(try PandoProcess.output("kv", path, "t", "scan", "--count") == "3\n")
      #expect(
        try PandoProcess.output("kv", path, "t", "scan", "--prefix", "b", "--limit=1", "--json")
          == "[\n  {\"key\":\"b\",\"value\":\"2\"}\n]\n")
      try PandoProcess.output("kv", path, "t", "delete", "b")
      #expect(
        try PandoProcess.failure(1, "kv", path, "t", "get", "b")
          == "pando kv: \(path): there is no key b in table t")
      try PandoProcess.failure(1, "kv", path, "t", "delete", "b")
      #expect(
        try PandoProcess.failure(1, "kv", path, "u", "get", "b").hasPrefix(
          "pando kv: \(path): there is no table u"))
    }
  }

  @Test func `hexadecimal digits reach every byte`() throws {
    try withTemporaryDirectory { directory throws in
      let path = directory + "/environment"
      try PandoProcess.output("kv", path, "t", "put", "00ff", "C3a9fe", "--hex")
      #expect(try PandoProcess.output("kv", path, "t", "get", "00ff", "--hex") == "c3a9fe\n")
      #expect(try PandoProcess.output("kv", path, "t", "scan", "--hex") == "00ff\tc3a9fe\n")
      #expect(try PandoProcess.output("kv", path, "t", "scan") == "\\u{0}\\xff\té\\xfe\n")
    }
  }

  @Test func `JSON has texts as they are, and other bytes as digits`() throws {
    try withTemporaryDirectory { directory throws in
      let path = directory + "/environment"
      try PandoProcess.output("kv", path, "t", "put", "a\\n", "-", input: "one\n\u{1}")
      try PandoProcess.output("kv", path, "t", "put", "62", "ff00", "--hex")
      #expect(
        try PandoProcess.output("kv", path, "t", "scan", "--json")
          == #"""
          [
            {"key":"a\\n","value":"one\n\u0001"},
            {"key":"b","value":{"hex":"ff00"}}
          ]

          """#)
      #expect(
        try PandoProcess.output("kv", path, "t", "get", "b", "--json") == #"{"hex":"ff00"}"# + "\n")
      #expect(
        try PandoProcess.output("kv", path, "t", "get", "62", "--json", "--hex") == "\"ff00\"\n")
    }
  }

  @Test(arguments: ["", String(repeating: "k", count: 512)])
  func `a key that LMDB cannot take is bad input`(key: String) throws {
    try withTemporaryDirectory { directory throws in
      let line = try PandoProcess.failure(3, "kv", directory + "/e", "t", "put", key, "v")
      #expect(line.hasPrefix("pando kv: "))
    }
  }

  @Test func `any environment can be read`() throws {
    try withTemporaryDirectory { directory throws in
      let environment = try Environment(path: directory + "/e", configuration: .forTests)
      let table = try environment.rawTable(nil, create: true)
      try environment.write { transaction in
        try transaction.put([UInt8(ascii: "v")].span, forKey: [UInt8(ascii: "k")].span, in: table)
      }
      environment.close()
      #expect(try PandoProcess.output("kv", directory + "/e", "", "get", "k") == "v\n")
      try PandoProcess.output("kv", directory + "/e", "", "put", "k", "w")
      #expect(try PandoProcess.output("kv", directory + "/e", "", "scan") == "k\tw\n")
    }
  }

  @Test func `tables of models are read and not written`() throws {
    try withTemporaryDirectory { directory throws in
      let store = directory + "/store"
      try PandoProcess.output("import", store, "-", "--root", "N:id", input: #"{"id":1}"#)
      #expect(
        try PandoProcess.output("kv", store, "identifiers", "scan", "--hex").hasPrefix("4e3a31\t"))
      for table in ["meta", "nodes", "nodesByType", "changes"] {
        let line = try PandoProcess.failure(2, "kv", store, table, "put", "k", "v")
        #expect(
          line == "pando kv: \(store): \(table) is a table of Pando's own, whose rows depend on "
            + "each other; change models with pando set and pando delete")
      }
      try PandoProcess.failure(2, "kv", store, "", "put", "k", "v")
      try PandoProcess.failure(2, "kv", store, "nodes", "delete", "k")
      try PandoProcess.output("kv", store, "mine", "put", "k", "v")
      #expect(try PandoProcess.output("kv", store, "mine", "get", "k") == "v\n")
      #expect(try PandoProcess.output("verify", store).hasPrefix("clean: "))
    }
  }

  @Test func `the tables that are not written are those of the store`() {
    #expect(KeyValueAccess.ownTableNames == StoreTables.names)
  }
}

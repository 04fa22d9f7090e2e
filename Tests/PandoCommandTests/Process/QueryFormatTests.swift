import Foundation
import PandoFixtures
import PandoModels
import PandoRecords
import Testing

/// Formats, fields and groups of `pando query`, and formats of other lists.
@Suite struct QueryFormatTests {
  private static let orders = #"""
    {"id":1,"region":"north","total":10,"created":0,"note":"a, \"b\"","tags":["x","y"],"customer":{"id":7,"name":"Ada","city":{"name":"Ulm"}}}
    {"id":2,"region":"south","total":5,"created":86400.5,"note":null,"tags":[],"customer":{"id":8,"name":"日本","city":null}}
    {"id":3,"region":"north","total":18446744073709551616,"created":90000,"note":"two\nlines\t\\ |","customer":null}
    {"id":4,"region":null,"total":-1,"created":63113904000,"note":"","tags":["x"],"customer":{"id":7,"name":"Ada","city":{"name":"Ulm"}}}
    """#

  private func withStore(_ body: (_ store: String) throws -> Void) throws {
    try withTemporaryDirectory { directory throws in
      let store = directory + "/store"
      try PandoProcess.output(
        "import", store, "-", "--lines", "--root", "Order:id", "--map", "customer=Person:id",
        input: QueryFormatTests.orders)
      try body(store)
    }
  }

  private func query(_ store: String, _ options: String...) throws -> String {
    let outcome = try PandoProcess.run(["query", store, "Order", "all"] + options)
    try #require(outcome.status == 0 && outcome.errors.isEmpty, "\(options): \(outcome)")
    return outcome.output
  }

  @Test func `CSV quotes as RFC 4180 says, and tells null from an empty text`() throws {
    try withStore { store throws in
      #expect(
        try query(store, "--fields", "id,note,total,tags", "--format", "csv") == #"""
          id,note,total,tags
          1,"a, ""b""",10,"[""x"",""y""]"
          2,,5,[]
          3,"two
          lines	\ |",18446744073709551616,
          4,"",-1,"[""x""]"

          """#)
      #expect(
        try query(store, "--fields", "note", "--format", "csv", "--no-header", "--null", "NULL")
          == "\"a, \"\"b\"\"\"\nNULL\n\"two\nlines\t\\ |\"\n\"\"\n")
    }
  }

  @Test func `TSV, Markdown and lines keep a row on its line`() throws {
    try withStore { store throws in
      #expect(
        try query(store, "--fields", "id,note", "--format", "tsv")
          == "id\tnote\n1\ta, \"b\"\n2\t\n3\ttwo\\nlines\\t\\\\ |\n4\t\n")
      #expect(
        try query(store, "--fields", "id,note", "--format", "markdown", "--null", "-")
          == #"""
          | id | note |
          | --- | --- |
          | 1 | a, "b" |
          | 2 | - |
          | 3 | two<br>lines\t\\ \| |
          | 4 |  |

          """#)
      #expect(
        try query(store, "--fields", "id,note")
          == "1\ta, \"b\"\n2\t\n3\ttwo\\nlines\\t\\ |\n4\t\n")
    }
  }

  @Test func `a mark that combines with a separator does not hide it`() throws {
    try withTemporaryDirectory { directory throws in
      let store = directory + "/store"
      // A combining accent after each of the signs that a format escapes.
      try PandoProcess.output(
        "import", store, "-", "--root", "T:id",
        input: #"[{"id":1,"t":"\"\u0301|\u0301\\\u0301\t\u0301"}]"#)
      func text(_ format: String) throws -> String {
        try PandoProcess.output(
          "query", store, "T", "all", "--fields", "t", "--format", format, "--no-header")
      }
      #expect(
        try Array(text("csv").utf8) == Array("\"\"\"\u{301}|\u{301}\\\u{301}\t\u{301}\"\n".utf8))
      #expect(try Array(text("tsv").utf8) == Array("\"\u{301}|\u{301}\\\\\u{301}\\t\u{301}\n".utf8))
      #expect(
        try Array(text("markdown").utf8)
          == Array("| \"\u{301}\\|\u{301}\\\\\u{301}\\t\u{301} |\n".utf8))
    }
  }

  @Test func `a table aligns wide characters and numbers`() throws {
    try withStore { store throws in
      #expect(
        try query(store, "--fields", "customer.name,total,customer", "--format", "table") == """
          customer.name                 total  customer
          -------------  --------------------  --------
          Ada                              10  Person:7
          日本                              5  Person:8
                         18446744073709551616
          Ada                              -1  Person:7

          """)
      #expect(
        try PandoProcess.output(
          "query", store, "Person", "all", "--fields", "name,id", "--format", "table",
          "--no-header") == "Ada   7\n日本  8\n")
    }
  }

  @Test func `JSON has exact numbers, a value for each field, and one row a line on request`()
    throws
  {
    try withStore { store throws in
      let fields = "id,total,tags[],customer.city.name"
      let lines = try query(store, "--fields", fields, "--format", "jsonl").split(separator: "\n")
      #expect(lines.count == 4)
      #expect(
        lines[0]
          == #"{"customer.city.name":"Ulm","id":1,"tags[]":["x","y"],"total":10}"#)
      #expect(lines[2].contains(#""total":18446744073709551616}"#))
      let array = try TreeValue(json: query(store, "--fields", fields, "--json"))
      #expect(array == .array(try lines.map { try TreeValue(json: String($0)) }))
      #expect(
        try query(store, "--fields", fields, "--format", "json")
          == query(store, "--fields", fields, "--json"))
      #expect(try query(store, "--format", "jsonl").hasPrefix("\"Order:1\"\n\"Order:2\"\n"))
    }
  }

  @Test func `a date is printed in ISO 8601 if the field says so`() throws {
    try withStore { store throws in
      #expect(
        try query(store, "--fields", "id,created:date", "--format", "csv") == """
          id,created
          1,2001-01-01T00:00:00Z
          2,2001-01-02T00:00:00.5Z
          3,2001-01-02T01:00:00Z
          4,4001-01-01T00:00:00Z

          """)
      #expect(
        try query(store, "--count-by", "created:day", "--format", "csv") == """
          created:day,count
          2001-01-01T00:00:00Z,1
          2001-01-02T00:00:00Z,2
          4001-01-01T00:00:00Z,1

          """)
    }
  }

  @Test(arguments: [false, true])
  func `groups are counted and added exactly, with and without indexes`(withIndexes: Bool) throws {
    try withStore { store throws in
      if withIndexes {
        try PandoProcess.output("index", store, "add", "Order", "region", "total")
        try PandoProcess.output("index", store, "add", "Order", "region", "--sum", "total")
      }
      #expect(
        try query(store, "--count-by", "region", "--null", "none")
          == "none\t1\nnorth\t2\nsouth\t1\n")
      #expect(try query(store, "--count-by", "region", "--top", "1") == "north\t2\n")
      #expect(
        try query(store, "--sum", "total", "--by", "region", "--top", "2", "--format", "csv")
          == "region,sum\nnorth,18446744073709551626\nsouth,5\n")
      #expect(
        try query(store, "--count-by", "region,customer.name", "--sum", "total", "--format", "csv")
          == """
          region,customer.name,count,sum
          ,Ada,1,-1
          north,,1,18446744073709551616
          north,Ada,1,10
          south,日本,1,5

          """)
      #expect(try query(store, "--sum", "total") == "18446744073709551630\n")
      #expect(
        try query(store, "--sum", "total", "--json") == #"{"sum":18446744073709551630}"# + "\n")
      #expect(try query(store, "--count", "--format", "csv") == "count\n4\n")
      #expect(try query(store, "--count-by", "tags[]") == "\t1\nx\t2\ny\t1\n")
      #expect(try query(store, "--count-by", "region", "--explain").contains(" in all)"))
    }
  }

  private static let contradictions: [([String], String)] = [
    (["--top", "3"], "--top is for groups: --count-by or --by"),
    (["--by", "region"], "--by is for --sum; to count, use --count-by"),
    (
      ["--sum", "total", "--count-by", "region", "--by", "region"],
      "--by goes without --count-by, which gives the groups too"
    ),
    (["--sum", "total", "--limit", "3"], "--limit is for nodes; the first groups are --top N"),
    (
      ["--count-by", "region", "--order", "id"],
      "--order is for nodes; the first groups are --top N"
    ),
    (["--count-by", "region", "--fields", "id"], "--fields goes without --count-by and --sum"),
    (["--fields", "id", "--count"], "--fields goes without --count"),
    (["--follow", "--explain"], "--explain goes without --follow"),
    (["--no-header"], "--no-header is for table, csv, tsv and markdown"),
    (["--json", "--null", "x"], "--null is not for JSON, which has null"),
  ]

  @Test(arguments: contradictions)
  func `options that contradict each other are an error`(options: [String], reason: String) throws {
    let outcome = try PandoProcess.run(["query", "store", "Order", "all"] + options)
    #expect(outcome.status == 2)
    #expect(outcome.errors == "pando query: \(reason); see: pando query --help\n")
  }

  private static let mistakes: [(Int32, [String], String)] = [
    (
      2, ["--format", "xml"],
      "--format takes one of line, table, json, jsonl, csv, tsv, markdown, not “xml”"
    ),
    (2, ["--format", "csv", "--json"], "--json is --format json, and --format says csv"),
    (2, ["--fields", "id,"], "--fields takes FIELD or FIELD,FIELD, not “id,”"),
    (2, ["--fields", "id,id"], "--fields names “id” twice"),
    (
      2, ["--fields", "created:day"],
      "--fields takes FIELD:date for a date; :day is for --count-by and --by"
    ),
    (2, ["--sum", "$id"], "--sum takes a field with numbers, not $id"),
    (
      3, ["--sum", "region"],
      "STORE: “region” has texts, which can't be added; --sum takes a field with numbers"
    ),
    (
      3, ["--sum", "tags", "--by", "region"],
      "STORE: no Order has a number in “tags”; --sum takes a field with numbers"
    ),
    (
      3, ["--count-by", "tags"],
      "STORE: “tags” has lists or objects, which are no keys of groups; name a field in them, or "
        + "their elements: tags[]"
    ),
    (
      1, ["--fields", "id,totl"],
      "STORE: no Order has a field “totl”; it has: created, customer, id, note, region, tags, total"
    ),
  ]

  @Test(arguments: mistakes)
  func `a wrong format or field is a clear error`(
    status: Int32, options: [String], reason: String
  ) throws {
    try withStore { store throws in
      let outcome = try PandoProcess.run(["query", store, "Order", "all"] + options)
      #expect(outcome.status == status)
      #expect(
        outcome.errors
          == "pando query: " + reason.replacingOccurrences(of: "STORE", with: store) + "\n")
    }
  }

  @Test func `each list has the formats`() throws {
    try withStore { store throws in
      try PandoProcess.output("index", store, "add", "Order", "region", "total")
      for (arguments, first) in [
        (["ls", store, "--type", "Person"], "id\nPerson:7\nPerson:8\n"),
        (["parents", store, "Person:7"], "id\nOrder:1\nOrder:4\n"),
        (["collections", store], "key,count\n"), (["queue", store], "number,state,"),
        (
          ["index", store, "list"],
          "type,fields,unique,sums\nOrder,\"[\"\"region\"\",\"\"total\"\"]\",false,\n"
        ),
        (["changes", store], "commit,date,kind,name\n1,20"),
        (["cursors", store], "name,commit,behind,date,lost\n"),
        (["kv", store, "identifiers", "scan", "--limit", "1"], "key,value\nOrder:1,"),
      ] {
        let outcome = try PandoProcess.run(arguments + ["--format", "csv"])
        #expect(outcome.status == 0 && outcome.output.hasPrefix(first), "\(arguments): \(outcome)")
      }
    }
  }

  @Test func `a followed count goes down to none, although its field goes with the last node`()
    throws
  {
    try withStore { store throws in
      try PandoProcess.output("set", store, "Order:2", #"{"fault":"late"}"#, "--merge")
      let process = try ChildProcess(
        "pando", ["query", store, "Order", "fault != null", "--count", "--follow"])
      #expect(process.nextLine() == "1")
      try PandoProcess.output("delete", store, "Order:2")
      #expect(process.nextLine() == "0")
      process.send(SIGINT)
      #expect(process.wait() == 0)
    }
  }

  @Test func `a sum that totals tell needs no field among the first nodes`() throws {
    try withTemporaryDirectory { directory throws in
      let store = directory + "/store"
      let lines = (1...1_001).map { number in
        #"{"id":\#(number),"total":\#(number)\#(number == 1_001 ? #","rare":1"# : "")}"#
      }
      try PandoProcess.output(
        "import", store, "-", "--lines", "--root", "Order:id", input: lines.joined(separator: "\n"))
      try PandoProcess.output("index", store, "add", "Order", "rare", "--sum", "total")
      let sum = try PandoProcess.output("query", store, "Order", "rare == 1", "--sum", "total")
      #expect(sum == "1001\n")
    }
  }

  @Test func `a followed query prints each version, until its reader ends`() throws {
    try withStore { store throws in
      let process = try ChildProcess(
        "pando",
        [
          "query", store, "Order", "total < 100", "--sum", "total", "--by", "region", "--follow",
          "--json",
        ])
      #expect(
        process.nextLine()
          == #"[{"region":null,"sum":-1},{"region":"north","sum":10},{"region":"south","sum":5}]"#)
      // A commit that changes other nodes, or other fields, prints nothing.
      try PandoProcess.output("set", store, "Order:2", #"{"note":"x"}"#, "--merge")
      try PandoProcess.output("set", store, "Order:2", #"{"total":6}"#, "--merge")
      #expect(
        process.nextLine()
          == #"[{"region":null,"sum":-1},{"region":"north","sum":10},{"region":"south","sum":6}]"#)
      process.send(SIGINT)
      #expect(process.wait() == 0)
      let outcome = try PandoProcess.shell(
        "pando query \(store) Order all --count --follow | head -n 1; echo ${PIPESTATUS[0]}")
      #expect(outcome.output == "4\n0\n")
    }
  }
}

import Foundation
import PandoFixtures
import PandoModels
import PandoRecords
import Testing

/// `pando watch`, `pando cursors` and `pando retention`.
@Suite struct WatchTests {
  private func withStore(_ body: (String) throws -> Void) throws {
    try withTemporaryDirectory { directory throws in
      let store = directory + "/store"
      try PandoProcess.output(
        "import", store, "-", "--root", "Person:id", "--collection", "people",
        input: #"[{"id":1,"name":"Ada"}]"#)
      try body(store)
    }
  }

  private func set(_ store: String, _ identifier: String, _ name: String) throws {
    let id = identifier.suffix(1)
    try PandoProcess.output("set", store, identifier, #"{"id":\#(id),"name":"\#(name)"}"#)
  }

  private func next(_ process: ChildProcess) throws -> TreeValue {
    try TreeValue(json: #require(process.nextLine()))
  }

  private func watch(_ arguments: String...) throws -> ChildProcess {
    try ChildProcess("pando", ["watch"] + arguments)
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `each commit of others is a line, until it is interrupted`(signal: Int32) throws {
    try withStore { store in
      let process = try watch(store, "--since", "0")
      let first = try next(process)
      #expect(first["commit"] == 1)
      #expect(first["inserted"] == ["Person:1"])
      #expect(first["collections"] == ["people": [["insert": 0]]])
      #expect(first["records"] == nil)
      for round in 2...4 {
        try set(store, "Person:1", "Ada \(round)")
        let line = try next(process)
        #expect(line["commit"] == .integer(Int64(round)))
        #expect(line["updated"] == ["Person:1"])
      }
      try PandoProcess.output("delete", store, "Person:1")
      #expect(try next(process)["deleted"] == ["Person:1"])
      process.send(signal)
      #expect(process.wait() == 0)
      #expect(process.nextLine() == nil)
    }
  }

  @Test func `watch ends when the reader of its output has ended`() throws {
    try withStore { store in
      // Nothing is committed while it waits.
      let outcome = try PandoProcess.shell(
        "pando watch \(store) --since 0 | head -n 1; echo ${PIPESTATUS[0]}")
      let lines = outcome.output.split(separator: "\n")
      #expect(lines.count == 2)
      #expect(lines.last == "0")
      #expect(outcome.errors.isEmpty)
    }
  }

  @Test func `watch prints the requested commits only`() throws {
    try withStore { store in
      try set(store, "Person:2", "Bob")
      try PandoProcess.output("set", store, "Place:1", #"{"name":"Rome"}"#, "--type", "Place")
      try set(store, "Person:2", "Bob B.")
      try PandoProcess.output("delete", store, "Person:1")
      func lines(_ arguments: String...) throws -> [TreeValue] {
        try PandoProcess.run(["watch", store, "--since", "0"] + arguments).output
          .split(separator: "\n").map { try TreeValue(json: String($0)) }
      }
      let places = try lines("--type", "Place", "--values", "--count", "3")
      // Of what is gone nobody knows the type.
      #expect(places.map { $0["commit"] } == [1, 3, 5])
      #expect(
        places[1]["records"] == [
          ["node": "Place:1", "type": "Place", "commit": 5, "fields": ["name": "Rome"]]
        ])
      let both = try lines("--type", "Place", "--type", "Person", "--count", "5")
      #expect(both.map { $0["commit"] } == [1, 2, 3, 4, 5])
      #expect(both.first?["collections"] == [:])
      let bob = try lines("--prefix", "Person:2", "--values", "--count", "2")
      #expect(bob.map { $0["commit"] } == [2, 4])
      #expect(bob.first?["records"]?[0]?["fields"]?["name"] == "Bob B.")
      #expect(try lines("--prefix", "peop", "--count", "1").first?["inserted"] == [])
      #expect(try lines("--count", "0") == [])
    }
  }

  @Test func `a cursor goes on where it has stopped`() throws {
    try withStore { store in
      func run() throws -> [TreeValue?] {
        let text = try PandoProcess.output(
          "watch", store, "--cursor", "mailer", "--since", "0", "--count", "2")
        return try text.split(separator: "\n").map { try TreeValue(json: String($0))["commit"] }
      }
      for round in 2...6 { try set(store, "Person:1", "Ada \(round)") }
      #expect(try run() == [1, 2])
      #expect(try run() == [3, 4])
      #expect(try PandoProcess.output("cursors", store).hasPrefix("mailer\t4\t2\t"))
      // One that is killed shows again what it had not noted.
      let process = try watch(store, "--cursor", "mailer")
      #expect(try next(process)["commit"] == 5)
      process.kill()
      let json = try TreeValue(json: PandoProcess.output("cursors", store, "--json"))
      let position = try #require(json[0]?["commit"]?.integerValue)
      #expect((4...5).contains(position))
      #expect(json[0]?["lost"] == false)
      try PandoProcess.output("cursors", store, "--remove", "mailer")
      #expect(try PandoProcess.output("cursors", store) == "")
      let error = try PandoProcess.failure(1, "cursors", store, "--remove", "mailer")
      #expect(error.contains("there is no cursor mailer"))
    }
  }

  @Test func `where the log does not reach back it says so and goes on`() throws {
    try withStore { store in
      try PandoProcess.output("retention", store, "--commits", "2", "--cursor-commits", "0")
      for round in 2...6 { try set(store, "Person:1", "Ada \(round)") }
      let process = try watch(store, "--since", "1")
      let reload = try next(process)["reload"]
      #expect(reload?["from"] == 1 && reload?["to"] == 6)
      #expect(reload?["history"]?.stringValue?.count == 16)
      // Another opening asks for more: what has gone stays gone.
      try set(store, "Person:1", "Ada")
      #expect(try next(process)["commit"] == 7)
      process.send(SIGTERM)
      #expect(process.wait() == 0)
    }
  }

  @Test func `retention sets the limits of the change log`() throws {
    try withStore { store in
      let before = try PandoProcess.output("retention", store)
      #expect(before.hasPrefix("commits               10 000\n"))
      let set = try PandoProcess.output(
        "retention", store, "--commits", "20000", "--records", "on", "--json")
      #expect(
        try TreeValue(json: set) == [
          "commits": 20_000, "cursorCommits": 100_000, "records": true,
        ])
      try self.set(store, "Person:1", "Bob")
      try self.set(store, "Person:1", "Cy")
      let line = try PandoProcess.output(
        "watch", store, "--since", "1", "--values", "--count", "1")
      let record = try TreeValue(json: line)["records"]?[0]
      #expect(record?["commit"] == 2)
      #expect(record?["fields"]?["name"] == "Bob")
      #expect(try PandoProcess.output("verify", store).hasPrefix("clean: "))
      for arguments in [["--commits", "0"], ["--records", "yes"], ["--commits", "x"]] {
        #expect(try PandoProcess.run(["retention", store] + arguments).status == 2)
      }
    }
  }

  @Test func `a reader that does not read does not keep it from ending`() throws {
    try withStore { store in
      // One line that is longer than a pipe is.
      let people = (0..<20_000).map { #"{"id":\#($0)}"# }.joined(separator: ",")
      try PandoProcess.output("import", store, "-", "--root", "Person:id", input: "[\(people)]")
      let process = try watch(store, "--since", "0")
      #expect(try next(process)["commit"] == 1)
      // Was: it waited in the middle of the line, and only a second signal ended it.
      process.send(SIGTERM)
      #expect(process.wait() == 0)
    }
  }

  @Test func `watch ends with status 1 when its cursor was removed`() throws {
    try withStore { store in
      let process = try watch(store, "--cursor", "mailer", "--since", "0")
      #expect(try next(process)["commit"] == 1)
      try PandoProcess.output("cursors", store, "--remove", "mailer")
      // Was: it printed on, and said so when it was ended.
      try set(store, "Person:1", "B")
      #expect(process.wait() == 1)
    }
  }

  @Test func `on a terminal it is a table, coloured unless that is refused`() throws {
    try withStore { store in
      try set(store, "Person:2", "Bob")
      func printed(_ environment: String) throws -> String {
        try PandoProcess.shell(
          "unset NO_COLOR; export \(environment); script -qec \"'\(PandoProcess.path)' watch '\(store)' --since 0"
            + " --count 2 --values\" /dev/null </dev/null"
        ).output.replacingOccurrences(of: "\r", with: "")
      }
      let plain = try printed("TERM=xterm NO_COLOR=1").split(separator: "\n").map(String.init)
      #expect(plain.count == 3)
      #expect(plain[0].contains("Z  inserted  Person:1  Person {"))
      #expect(plain[0].hasSuffix("} as of 2"))
      #expect(plain[1].hasSuffix("  list      people  [{\"insert\":0}]"))
      #expect(plain[1].prefix { $0 == " " }.count == plain[0].distance(to: "inserted"))
      #expect(plain[2].hasPrefix("       2  20"))
      #expect(plain[2].hasSuffix("inserted  Person:2  Person {\"id\":2,\"name\":\"Bob\"}"))
      #expect(try printed("TERM=xterm").contains("\u{1B}[32minserted\u{1B}[0m  Person:1"))
      #expect(try !printed("TERM=dumb").contains("\u{1B}"))
    }
  }

  @Test func `watch reports a missing store, wrong options and missing commits`() throws {
    try withStore { store in
      #expect(try PandoProcess.failure(1, "watch", store + "x").contains("there is no store"))
      #expect(try PandoProcess.failure(2, "watch", store, "--since", "x").contains("--since"))
      // A number that is not there may be one that a restore has taken.
      let process = try watch(store, "--since", "2")
      #expect(try next(process)["reload"]?["to"] == 1)
      try set(store, "Person:1", "B")
      #expect(try next(process)["commit"] == 2)
      process.send(SIGINT)
      #expect(process.wait() == 0)
    }
  }
}

extension String {
  fileprivate func distance(to text: String) -> Int {
    range(of: text).map { distance(from: startIndex, to: $0.lowerBound) } ?? -1
  }
}

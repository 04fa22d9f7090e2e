import Foundation
import FoundationNetworking
import Pando
import PandoFixtures
import ServiceFixtures
import Testing

@testable import inbox

@Suite struct ServiceTests {
  private static let ada = #"{"id":12,"isOnline":true,"name":"Ada"}"#
  private static let grace = #"{"id":13,"isOnline":true,"name":"Grace"}"#
  private static let alan = #"{"id":14,"isOnline":false,"name":"Alan"}"#
  private static let linus = #"{"id":15,"isOnline":false,"name":"Linus"}"#

  @Test func `a person who changes is changed in the message and in the list`() async throws {
    try await withService { service, _ in
      #expect(
        try await service.ask("GET", "/inbox/34")
          == #"200 {"author":\#(Self.ada),"id":34,"readers":[\#(Self.grace),\#(Self.linus)],"#
          + #""title":"Lunch?"}"#)
      #expect(
        try await service.ask("GET", "/contacts") == "200 [\(Self.ada),\(Self.grace),\(Self.alan)]")
      let answer = try await service.ask(
        "PUT", "/people/12", #"{"name":"Ada L.","isOnline":false}"#)
      #expect(
        answer.hasPrefix(#"200 {"commit":"#) && answer.contains(#""updated":["Person:12"]"#))
      let changed = #"{"id":12,"isOnline":false,"name":"Ada L."}"#
      #expect(try await service.ask("GET", "/inbox/34").contains(#""author":\#(changed)"#))
      #expect(try await service.ask("GET", "/contacts").hasPrefix("200 [\(changed),"))
      try await service.output(containing: "row 0 updated")
      let told = service.log.split(separator: "\n").filter { $0.contains("← PUT /people/12") }
      #expect(told.map { $0.contains(" notified ") } == [true, true, false])
    }
  }

  @Test func `a push appends to the list, a deletion takes out of it`() async throws {
    try await withService { service, _ in
      let answer = try await service.ask(
        "POST", "/push",
        #"[{"id":15,"name":"Linus","isOnline":true},{"id":16,"name":"Barbara","isOnline":true}]"#)
      #expect(answer.contains(#""inserted":["Person:16"]"#) && answer.contains("Person:15"))
      try await service.output(containing: "row 3 inserted, row 4 inserted")
      #expect(try await service.ask("DELETE", "/people/13").hasPrefix("200 "))
      let contacts = try await service.ask("GET", "/contacts")
      #expect(!contacts.contains("Grace") && contacts.contains("Barbara"), "\(contacts)")
      #expect(!(try await service.ask("GET", "/inbox/34").contains("Grace")))
      try await service.output(containing: "row 1 deleted")
    }
  }

  @Test func `a message goes with its author, and can be stored again`() async throws {
    try await withService { service, _ in
      let message = try await service.ask("GET", "/inbox/34").dropFirst(4)
      let answer = try await service.ask("DELETE", "/people/12")
      #expect(answer.contains(#""deleted":["Person:12","Message:34"]"#), "\(answer)")
      #expect(
        try await service.ask("GET", "/inbox/34") == #"404 {"error":"there is no message 34 now"}"#)
      try await service.output(containing: "shows nothing  ← DELETE /people/12")
      #expect(
        try await service.ask("PUT", "/inbox/34", String(message)).contains("Message:34"))
      #expect(try await service.ask("GET", "/inbox/34") == "200 \(message)")
    }
  }

  @Test func `the metrics for Prometheus have the service's figures`() async throws {
    try await withService { service, _ in
      _ = try await service.ask("PUT", "/people/12", #"{"name":"Ada L.","isOnline":false}"#)
      let text = try await service.ask("GET", "/metrics")
      for line in [
        "# TYPE pando_commits_total counter\n", "# TYPE pando_flush_duration_seconds histogram\n",
        "\npando_live_views{manager=\"main\"} ", "\npando_nodes ", "\npando_queued_writes 0\n",
      ] { #expect(text.contains(line), "\(text)") }
    }
  }

  @Test func `a bad request changes nothing and gets the reason`() async throws {
    try await withService { service, _ in
      let before = try await service.ask("GET", "/contacts")
      for (method, path, body, status, reason) in [
        ("GET", "/nothing", "", 404, "there is nothing here; GET / lists what there is"),
        ("GET", "/inbox/35", "", 404, "there is no message 35 now"),
        ("GET", "/inbox/first", "", 404, "“first” is no number"),
        ("DELETE", "/people/99", "", 404, "there is no person 99"),
        ("PATCH", "/people/12", "x", 405, "PATCH is not for this path"),
        ("PUT", "/people/12", "x", 400, "the content is not JSON"),
        ("PUT", "/people/12", "[]", 400, "the content is not an object"),
        ("PUT", "/people/12", #"{"name":"Ada"}"#, 400, "isOnline is missing"),
        ("PUT", "/people/12", #"{"name":7,"isOnline":true}"#, 400, "name is not a string"),
        ("POST", "/push", "[\(Self.ada),{\"id\":2}]", 400, "[1].name is missing"),
        (
          "PUT", "/inbox/34", #"{"id":35,"title":"","author":\#(Self.ada),"readers":[]}"#, 400,
          "id is 35, the path says 34"
        ),
      ] {
        let answer = try await service.ask(method, path, body)
        #expect(answer == "\(status) {\"error\":\"\(reason)\"}")
      }
      let (response, _) = try await service.response("PUT", "/contacts")
      #expect(response.value(forHTTPHeaderField: "Allow") == "GET")
      #expect(try await service.ask("GET", "/contacts") == before)
    }
  }

  @Test func `two processes on one store show each other's changes`() async throws {
    try await withService { service, directory in
      let second = try await ServiceProcess(directory: directory, "--offline")
      for (writer, reader, name) in [(service, second, "One"), (second, service, "Two")] {
        _ = try await writer.ask("PUT", "/people/12", #"{"name":"\#(name)","isOnline":true}"#)
        try await reader.output(containing: "row 0 updated: shows \(name) (online)")
        let message = try await reader.ask("GET", "/inbox/34")
        #expect(message.contains(#""author":{"id":12,"isOnline":true,"name":"\#(name)"}"#))
      }
      #expect(try await second.ask("DELETE", "/people/13").hasPrefix("200 "))
      try await service.output(containing: "row 1 deleted")
      #expect(await second.terminate() == 0)
    }
  }

  @Test func `a change to what is there already commits nothing`() async throws {
    try await withService { service, _ in
      let answer = try await service.ask(
        "PUT", "/people/12", #"{"name":"Ada","isOnline":true}"#)
      #expect(answer == #"200 {"deleted":[],"inserted":[],"updated":[]}"#)
    }
  }

  /// Puts many people, several at a time, until the service is gone.
  ///
  /// - Returns: The identifiers of the people that it has acknowledged.
  private func putPeople(_ service: ServiceProcess) async -> [Int] {
    await withTaskGroup(of: [Int].self) { group in
      for writer in 0..<8 {
        group.addTask {
          var acknowledged: [Int] = []
          for id in (0..<1000).map({ 1000 + 8 * $0 + writer }) {
            let answer = try? await service.ask(
              "PUT", "/people/\(id)", #"{"name":"\#(id)","isOnline":true}"#)
            guard answer?.hasPrefix("200 ") == true else { break }
            acknowledged.append(id)
          }
          return acknowledged
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
  }

  @Test func `a change acknowledged before SIGTERM is there at the next start`() async throws {
    try await withTemporaryDirectory { directory in
      let service = try await ServiceProcess(directory: directory)
      let writers = Task { await putPeople(service) }
      try await service.output(containing: "← PUT /people/1050")
      #expect(await service.terminate() == 0)
      let acknowledged = await writers.value
      #expect(!acknowledged.isEmpty)
      let store = try ModelStore(path: directory, configuration: .forTests)
      for id in acknowledged {
        let person = try await store.get(Person.key(id))
        #expect(person == Person(id: id, name: "\(id)", isOnline: true))
      }
      #expect(try store.verify().isClean)
      await store.close()
    }
  }

  @Test func `a port of another program is one line on standard error`() async throws {
    try await withService { service, _ in
      let run = try await Shell.run("inbox --serve --port \(service.port)")
      #expect(run.status == 1)
      #expect(
        run.errors == "inbox: can't listen on 127.0.0.1:\(service.port): Address already in use; "
          + "choose another port with --port\n")
    }
  }
}

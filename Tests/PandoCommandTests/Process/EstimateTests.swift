import Foundation
import PandoFixtures
import PandoLMDB
import PandoStore
import Testing

/// estimate, compared with stores of other types, keys and write sizes than those of its samples.
@Suite struct EstimateTests {
  @Model fileprivate struct Note {
    @Key var id: UUID
    var text: String
    var created: Date
  }

  @Model(indexed: [\.author]) fileprivate struct Message {
    @Key var id: UUID
    @Indexed var title: String
    var text: String
    var author: Key<Message>
    var answers: [Note]
  }

  /// The estimate may be this much too low or too high.
  private static let tolerance = 0.85...1.15

  private struct Estimate: Decodable {
    var bytesPerNode: Double
    var fileBytes: Int
    var changeLogBytes: Int
    var tables: [String: Double]
  }

  private func estimate(_ arguments: String...) throws -> Estimate {
    let outcome = try PandoProcess.run(["estimate", "--json"] + arguments)
    try #require(outcome.status == 0, "\(outcome)")
    return try JSONDecoder().decode(Estimate.self, from: Data(outcome.output.utf8))
  }

  /// The bytes of the pages in use, without the change log.
  private func byteCount(of store: ModelStore) throws -> Int {
    let report = try PageWalker(path: store.path).verify()
    let pages = report.pages
    let log = report.tables.first { $0.name == "changes" }?.sizeInBytes ?? 0
    return Int(pages.meta + pages.branch + pages.leaf + pages.overflow) * report.pageSizeInBytes
      - Int(log)
  }

  private func fill(_ store: ModelStore, from start: Int = 0, upTo count: Int) throws {
    for start in stride(from: start, to: count, by: 700) {
      try store.write { transaction in
        for number in start..<min(start + 700, count) {
          let text = String(repeating: "text \(number) ", count: 20)
          try transaction.set(
            Note(id: UUID(), text: String(text.prefix(150)), created: .now))
        }
      }
    }
  }

  @Test func `the estimate of a shape is near the size of a store of that shape`() throws {
    let store = try ModelStore.temporary(models: [Note.self])
    let count = 12_000
    try fill(store, upTo: count)
    // A key is “Note:” and a UUID; a record has the names of three fields, a text of 150 bytes, a
    // text of 36 and a date.
    let estimate = try estimate("--nodes", "\(count)", "--key", "41", "--bytes", "214")
    let ratio =
      Double(estimate.fileBytes - estimate.changeLogBytes) / Double(try byteCount(of: store))
    #expect(EstimateTests.tolerance.contains(ratio), "\(ratio): \(estimate)")
    store.close()
  }

  @Test func `the estimate counts children and indexes`() throws {
    let store = try ModelStore.temporary(models: [Message.self])
    let count = 9_000
    let notes = (0..<count / 3).map { Note(id: UUID(), text: "\($0)", created: .now) }
    for start in stride(from: 0, to: count * 2 / 3, by: 500) {
      try store.write { transaction in
        for _ in start..<start + 500 {
          try transaction.set(
            Message(
              id: UUID(), title: "Title of some words", text: String(repeating: "a", count: 90),
              author: Message.key(UUID()),
              answers: (0..<3).map { _ in notes[Int.random(in: 0..<notes.count)] }))
        }
      }
    }
    // Two thirds of the nodes are messages, with two indexes and three children of 3 000 notes.
    let messages = try estimate(
      "--nodes", "6000", "--key", "44", "--bytes", "250", "--children", "3", "--index", "19",
      "--index", "44")
    let rest = try estimate("--nodes", "3000", "--key", "41", "--bytes", "66")
    let expected =
      messages.bytesPerNode * 6000 + rest.bytesPerNode * 3000
    let ratio = expected / Double(try byteCount(of: store))
    #expect(EstimateTests.tolerance.contains(ratio), "\(ratio): \(messages) \(rest)")
    store.close()
  }

  @Test func `a small store is scaled to a large one`() throws {
    let store = try ModelStore.temporary(models: [Note.self])
    try fill(store, upTo: 1500)
    let estimate = try estimate(store.path, "--nodes", "12000")
    try fill(store, from: 1500, upTo: 12_000)
    let ratio =
      Double(estimate.fileBytes - estimate.changeLogBytes) / Double(try byteCount(of: store))
    #expect(EstimateTests.tolerance.contains(ratio), "\(ratio): \(estimate)")
    store.close()
  }

  @Test func `an estimate needs a number of nodes, and a store enough of them`() throws {
    #expect(try PandoProcess.failure(2, "estimate").contains("--nodes is missing"))
    #expect(try PandoProcess.failure(2, "estimate", "--nodes", "0").contains("1 to"))
    #expect(
      try PandoProcess.failure(2, "estimate", "--nodes", "9", "--key", "3").contains("8 to 400"))
    let store = try ModelStore.temporary(models: [Note.self])
    try fill(store, upTo: 10)
    let line = try PandoProcess.failure(1, "estimate", store.path, "--nodes", "100")
    #expect(line.contains("10 nodes, too few to scale; store at least 1 000"))
    #expect(
      try PandoProcess.failure(2, "estimate", store.path, "--nodes", "9", "--bytes", "3")
        .contains("without STORE"))
    store.close()
  }
}

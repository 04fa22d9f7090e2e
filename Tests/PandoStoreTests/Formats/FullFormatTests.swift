import Foundation
import PandoFixtures
import PandoModels
import PandoStore
import Testing

/// A store of the present format that an earlier build has written, with rows of every kind.
///
/// `PANDO_WRITE_FIXTURE=1 swift test --filter FullFormatTests` writes it again. Do that only for a new format: name
/// the file after it, and keep the former one.
@Suite struct FullFormatTests {
  private static let file =
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().path
    + "/Stores/version-6-full.mdb.gz"

  private func withFixture(
    isReadOnly: Bool, _ body: (ModelStore) throws -> Void
  ) throws {
    try withTemporaryDirectory { path throws in
      let outcome = try ChildProcess.run(
        "/bin/sh", ["-c", "zcat '\(FullFormatTests.file)' > '\(path)/data.mdb'"])
      try #require(outcome.status == 0, "\(outcome.errors)")
      var configuration = ModelStore.Configuration()
      configuration.isReadOnly = isReadOnly
      let store = try ModelStore(
        path: path, models: isReadOnly ? [] : FullStore.types, configuration: configuration)
      defer { store.close() }
      try body(store)
    }
  }

  private func dump(_ store: ModelStore) throws -> [String] {
    var lines: [String] = []
    try store.dump { lines.append($0) }
    // The first line has the identifier of the store.
    return Array(lines.dropFirst())
  }

  private func makeStore() throws -> ModelStore {
    let store = try ModelStore.temporary(models: FullStore.types)
    try FullStore.fill(store)
    return store
  }

  @Test(.enabled(if: ProcessInfo.processInfo.environment["PANDO_WRITE_FIXTURE"] != nil))
  func `the fixture is written`() throws {
    let store = try makeStore()
    defer { store.close() }
    try withTemporaryDirectory { directory throws in
      try store.copy(to: directory + "/copy", compacting: true)
      let outcome = try ChildProcess.run(
        "/bin/sh", ["-c", "gzip -9n < '\(directory)/copy/data.mdb' > '\(FullFormatTests.file)'"])
      #expect(outcome.status == 0, "\(outcome.errors)")
    }
  }

  @Test(arguments: [true, false])
  func `a store of an earlier build has what this build writes`(isReadOnly: Bool) throws {
    let present = try makeStore()
    defer { present.close() }
    try withFixture(isReadOnly: isReadOnly) { store throws in
      #expect(try dump(store) == dump(present))
      let report = try store.verify()
      #expect(report.isClean, "\(report.problems)")
      let (indexes, presentIndexes) = (
        try store.read { try $0.indexes() }, try present.read { try $0.indexes() }
      )
      func text(_ index: ModelIndex) -> String {
        "\(index.typeName) \(index.field) \(index.isUnique) \(index.sums ?? [])"
      }
      #expect(Set(indexes.map(text)) == Set(presentIndexes.map(text)))
      #expect(indexes.count == presentIndexes.count && indexes.count >= 9)
      for reader in [store, present] {
        try reader.read { snapshot throws in
          #expect(try snapshot.property("fixture") == FullStore.property)
          #expect(try snapshot.deletionRules(ofType: "Order").count == 2)
          #expect(try snapshot.collectionCount("values") == FullStore.listCount + 1)
        }
      }
      let since = CommitNumber(value: 30)
      let changes = try store.read { try $0.changes(since: since) }
      let expected = try present.read { try $0.changes(since: since) }
      #expect(changes.map(\.commitNumber.value) == expected.map(\.commitNumber.value))
      #expect(changes.map(\.inserted) == expected.map(\.inserted))
      #expect(changes.map(\.updated) == expected.map(\.updated))
      #expect(changes.map(\.deleted) == expected.map(\.deleted))
      #expect(changes.map(\.collections) == expected.map(\.collections))
      #expect(try store.cursors().map(\.name) == ["fixture"])
    }
  }

  @Test func `its indexes answer queries, and its models decode`() throws {
    try withFixture(isReadOnly: false) { store throws in
      let orders = (1...120).filter { $0 != 9 }.map(FullStore.order)
      func check(_ filter: Filter<FullStore.Order>, _ holds: (FullStore.Order) -> Bool) throws {
        let query = Query(filter: filter)
        let found = try store.find(query).entities.map(\.number)
        #expect(found.sorted() == orders.filter(holds).map(\.number), "\(filter)")
        #expect(try "\(store.explain(query))".contains("index"), "\(filter)")
      }
      try check(\.state == .shipped) { $0.state == .shipped }
      try check(.contains(\.lines, \.product, "p2")) { $0.lines.contains { $0.product == "p2" } }
      try check(\.payment.paid?.reference == "R-40") { $0.payment.paid?.reference == "R-40" }
      try check(\.total > 100) { $0.total > 100 }
      try check(.contains(\.tags, "t3")) { $0.tags.contains("t3") }
      try check(\.shop == "süd" && \.number == 11) { $0.number == 11 }
      for order in orders {
        #expect(try store.get(order.key) == order)
      }
      let days = Query(filter: \FullStore.Sale.day >= 10 && \.day < 20)
      let total: Decimal = try store.answer(.sum(\.total), to: days)
      #expect(total == (90..<180).reduce(0) { $0 + Decimal($1) / 4 })
    }
  }

  @Test func `a store of an earlier build can be written, and its rules hold`() throws {
    try withFixture(isReadOnly: false) { store throws in
      let customer = FullStore.Customer.key(3)
      let refused = #expect(throws: StoreError.self) { try store.write { try $0.delete(customer) } }
      #expect(refused?.code == .restricted)
      let taken = #expect(throws: StoreError.self) {
        try store.write { try $0.insert(FullStore.Customer(id: 99, email: "c3@example.org")) }
      }
      #expect(taken?.code == .valueTaken)
      try store.update(FullStore.Order.key("north/1", 12)) { order in
        order.total += 1
        order.customer.email = "new@example.org"
      }
      try store.write { transaction in
        try transaction.deleteAll(matching: Query(filter: \FullStore.Sale.day < 20))
      }
      let report = try store.verify()
      #expect(report.isClean, "\(report.problems)")
    }
  }
}

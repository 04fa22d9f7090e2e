import PandoFixtures
import PandoModels
import PandoSystem
import Testing

@testable import PandoStore

@Suite(.overBothBackings) struct VersionTests {
  @Test func `the newest version is that of a snapshot until the next commit`() throws {
    let store = try ModelStore.forTest()
    let first = try store.read { $0.version }
    #expect(store.newestVersion == first)
    try store.write { try $0.set(Person(id: 1, name: "Ada")) }
    let second = try store.read { $0.version }
    #expect(second > first)
    #expect(store.newestVersion == second)
    // No node changes, and the file does.
    try store.write { try $0.setProperty("name", to: [1]) }
    #expect(store.newestVersion == second + 1)
    try store.read { snapshot in
      try store.write { try $0.set(Person(id: 1, name: "Grace")) }
      #expect(snapshot.version == second + 1)
      #expect(store.newestVersion == second + 2)
    }
    store.close()
    #expect(store.newestVersion == nil)
  }

  @Test func `the newest version can be asked for while the map grows`() throws {
    var configuration = ModelStore.Configuration.forTests
    configuration.mapSizeInBytes = 1 << 20
    let store = try ModelStore.forTest(configuration)
    let asked = (0..<2).map { _ in Event() }
    for event in asked {
      startThread(named: "test.version") {
        var last: UInt64 = 0
        while last < 40 {
          guard let version = store.newestVersion else { break }
          #expect(version >= last)
          last = version
        }
        event.signal()
      }
    }
    let name = String(repeating: "x", count: 500)
    for number in 0..<60 {
      try store.write { transaction in
        for part in 0..<50 { try transaction.set(Person(id: number * 50 + part, name: name)) }
      }
    }
    for event in asked { event.wait() }
    store.close()
  }
}

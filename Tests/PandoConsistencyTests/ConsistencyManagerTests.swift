import PandoConsistency
import Testing

@Suite struct ConsistencyManagerTests {
  @Test func `a new manager has no live types of a node`() {
    #expect(ConsistencyManager().liveTypes(of: "Person:1").isEmpty)
  }
}

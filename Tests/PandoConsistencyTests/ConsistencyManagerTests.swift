import PandoConsistency
import Testing

@Suite struct ConsistencyManagerTests {
  @Test func `nobody holds a node of a new manager`() {
    #expect(ConsistencyManager().liveTypes(of: "Person:1").isEmpty)
  }
}

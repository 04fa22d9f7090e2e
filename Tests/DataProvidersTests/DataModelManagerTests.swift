import Consistency
import DataProviders
import Testing

@Suite struct DataModelManagerTests {
  @Test func `a manager has a consistency manager that nobody listens to`() {
    #expect(DataModelManager().consistencyManager.liveTypes(of: "Person:1").isEmpty)
  }
}

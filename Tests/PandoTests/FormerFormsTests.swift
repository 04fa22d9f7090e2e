import PandoFixtures
import Testing

/// What no one calls any more is a compile error that says what to declare.
@Suite struct FormerFormsTests {
  private static func compile(_ body: String) throws -> (status: Int32, output: String) {
    try PandoFixtures.compile(
      """
      import Pando
      protocol APIClient {}
      struct APIClientQueue {}
      \(body)
      """)
  }

  private static func delegate(_ method: String) -> String {
    """
    final class Watcher: ConsistencyManagerDelegate {
      func consistencyManager(_ manager: ConsistencyManager, \(method)) {}
    }
    """
  }

  @Test(arguments: [
    (delegate("found mistake: ConsistencyError")),
    (delegate(
      """
      willReplace model: SimpleModel, with newModel: SimpleModel?, context: (any Sendable)?
      """)),
    "final class Watcher: ConsistencyManagerDelegate {}",
    """
    @MainActor final class View: @preconcurrency DataProviderDelegate {
      func dataProviderHasUpdatedData<T>(
        _ provider: DataProvider<T>, context: (any Sendable)?
      ) {}
    }
    """,
    """
    struct Draft: LocalEntity {
      var id: EntityIdentifier<Draft>
      static func stores(with configuration: StackConfiguration) -> [any Storing<Draft>] { [] }
    }
    struct Book: PersistentEntity { var id: EntityIdentifier<Book> }
    """,
  ])
  func `a form of now compiles`(body: String) throws {
    let (status, output) = try Self.compile(body)
    #expect(status == 0, "\(output)")
  }

  @Test(arguments: [
    (delegate("failedWithCriticalError error: String"), "found mistake: ConsistencyError)'"),
    (
      delegate("willReplaceModel model: Model, withModel newModel: Model?, context: Any?"),
      "willReplace model: any SimpleModel, with newModel: (any SimpleModel)?"
    ),
    (
      delegate("willReplace model: Model, with newModel: Model?, context: (any Sendable)?"),
      "willReplace model: any SimpleModel, with newModel: (any SimpleModel)?"
    ),
    (
      delegate("willReplace model: SimpleModel, with newModel: SimpleModel?, context: Any?"),
      "context: (any Sendable)?)' with these types"
    ),
  ])
  func `a former method of a delegate is a compile error that names the present one`(
    body: String, present: String
  ) throws {
    let (status, output) = try Self.compile(body)
    #expect(status != 0, "it compiles")
    #expect(output.contains(present), "\(output)")
  }

  @Test(arguments: [
    "with client: APIClient, clientQueue: inout APIClientQueue",
    "with client: (any APIClient)?, clientQueue: inout APIClientQueue",
    "with client: (any APIClient)?, clientQueue: APIClientQueue?",
  ])
  func `a former way to name the stores of a type is a compile error that names the present one`(
    parameters: String
  ) throws {
    for type in ["LocalEntity", "PersistentEntity"] {
      let (status, output) = try Self.compile(
        """
        struct Draft: \(type) {
          var id: EntityIdentifier<Draft>
          static func stores(
            \(parameters), cacheLimit: Int,
            diskStoreConfig: CoreManagerContainer.DiskStoreConfig
          ) -> [any Storing<Draft>] { [] }
        }
        """)
      #expect(status != 0, "it compiles")
      #expect(output.contains("static func stores(with configuration: StackConfiguration)"))
    }
  }
}

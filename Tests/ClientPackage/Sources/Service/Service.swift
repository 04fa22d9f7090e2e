import Consistency
import CoreManagers
import DataProviders
import Environment
import ExampleServer
import LMDB
import Locking
import ModelCore
import Pando
import StoreEngine
import TestSupport
import inbox
import library

// What web frameworks and database libraries call their types; none of them comes with Pando.
struct Environment {}
struct Table {}
struct Cursor {}
struct Snapshot {}
struct Entry {}

// What Pando calls its types too; the code of the macros names those of Pando.
struct Field {}
struct Key {}
struct FieldSource {}

@Model struct Person {
  @Pando.Key var id: Int
  @Indexed var name: String
}

@Model struct Message {
  @Pando.Key var id: Int
  var text: String
  var author: Person
}

/// Uses the store, the providers and a durability, through `import Pando` alone.
@main struct Service {
  static func main() async throws {
    var configuration = ModelStore.Configuration()
    configuration.durability = .unsynchronized
    let store = try ModelStore.temporary(configuration: configuration)
    let manager = try DataModelManager(store: store)
    let provider = DataProvider<Message>(dataModelManager: manager)
    let ada = Person(id: 12, name: "Ada")
    try await provider.setData(Message(id: 34, text: "Hello", author: ada), updateCache: true)
      .committed()
    try await store.write { try $0.set(Person(id: 12, name: "Ada L.")) }
    await manager.drain()
    let names = [
      nameOfLocking, nameOfLMDB, nameOflibrary, nameOfinbox, nameOfConsistency, nameOfModelCore,
      nameOfStoreEngine, nameOfDataProviders, nameOfCoreManagers, nameOfEnvironment,
      nameOfTestSupport, nameOfExampleServer,
    ]
    let own: [Any.Type] = [
      Environment.self, Table.self, Cursor.self, Snapshot.self, Entry.self, Field.self, Key.self,
      FieldSource.self,
    ]
    print(provider.data?.author.name ?? "nobody", "with \(names.count) targets, \(own.count) types")
    await manager.close()
    await store.close()
  }
}

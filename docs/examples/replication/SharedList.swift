#if NATS
  import Foundation
  import Pando
  import PandoNATSLog
  import PandoReplication

  /// Says something at once, also to a file.
  func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

  /// Something to buy.
  @Model struct Item {
    @Key var name: String
    var buyer: String?
  }

  /// A shopping list of several machines: each has all of it in a store of its own, and reads that.
  ///
  /// It takes commands from standard input, a line each, and says what it shows.
  @main struct SharedList {
    let name: String
    let replica: ReplicatedStore
    let list: CollectionDataProvider<Item>

    static func main() async throws {
      let arguments = Array(CommandLine.arguments.dropFirst())
      guard arguments.count >= 3 else {
        say("usage: shared-list NAME FOLDER [--new] SERVER…, as nats://127.0.0.1:4222")
        exit(2)
      }
      var configuration = NATSLogConfiguration(
        servers: arguments[2...].filter { $0 != "--new" }, stream: "shopping")
      // The first machine makes the streams; one that always does would begin another log where this one was lost.
      configuration.makesStream = arguments[2] == "--new"
      let replica = try await whenReachable { [configuration] in
        let log = try NATSLog(configuration)
        return try ReplicatedStore(path: arguments[1], log: log)
      }
      let manager = try DataModelManager(store: replica.store)
      let list = CollectionDataProvider<Item>(dataModelManager: manager)
      try await whenReachable { try await replica.caughtUp() }
      try await list.fetchDataFromCache(withCacheKey: "shopping")
      let machine = SharedList(name: arguments[0], replica: replica, list: list)
      machine.show()
      while let line = readLine(), line != "quit" {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        switch (words.first, words.count > 1 ? words[1] : "") {
        case ("add", let item): try await machine.add(item)
        case ("buy", let item): try await machine.buy(item)
        case ("wait", let text): try await machine.wait(for: text)
        case ("show", _): machine.show()
        default: say("\(machine.name): commands are add, buy, wait, show, quit")
        }
      }
      await manager.close()
      await replica.close()
    }

    /// Does something as soon as the servers can be reached.
    private static func whenReachable<Result>(
      _ body: () async throws -> Result
    ) async throws -> Result {
      while true {
        do {
          return try await body()
        } catch let error as StoreError where error.code == .unavailable {
          say("waiting: \(error.reason)")
        } catch LogFault.unavailable(let reason) {
          say("waiting: \(reason)")
        }
      }
    }

    /// Writes what the closure says, as soon as the servers can be reached.
    private func write(
      _ body: @escaping @Sendable (inout ModelTransaction) throws -> Void
    ) async throws {
      try await Self.whenReachable { try await replica.store.write(body) }
    }

    private func add(_ item: String) async throws {
      // It may run again on what others have written meanwhile, or find that it was done.
      try await write { transaction in
        guard try !transaction.snapshot.contains(Item.key(item)) else { return }
        try transaction.append([Item(name: item)], toCollection: "shopping")
      }
      say("\(name): added \(item)")
    }

    /// Of several that buy the same thing at once, one does.
    private func buy(_ item: String) async throws {
      let name = name
      try await write { transaction in
        try transaction.updateIfPresent(Item.key(item)) { if $0.buyer == nil { $0.buyer = name } }
      }
      let buyer = try await replica.store.get(Item.key(item))?.buyer
      say("\(name): \(item) is bought by \(buyer ?? "nobody")")
    }

    /// Waits until the list shows something.
    private func wait(for text: String) async throws {
      for try await items in list.values where text == Self.text(items) { break }
      show()
    }

    private func show() { say("\(name): \(Self.text(list.data))") }

    private static func text(_ items: [Item]) -> String {
      if items.isEmpty { return "nothing" }
      return items.map { item in item.buyer.map { "\(item.name) (\($0))" } ?? item.name }
        .joined(separator: ", ")
    }
  }
#else
  @main struct SharedList {
    static func main() { print("built without NATS: swift build --traits NATS") }
  }
#endif

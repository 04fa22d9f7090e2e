import FoundationEssentials
import Pando

/// `pando demo`: the main features in one minute.
enum DemoCommand: Command {
  static let declaration = CommandDeclaration(
    name: "demo",
    summary: "show what a store does, with a few messages, people and images",
    positionals: [
      Positional("STORE", count: .optional, "where to store; a temporary directory unless given")
    ],
    notes: [
      """
      The demo stores some models and shows the tree of a message. It changes one person, and \
      shows every tree changed by one written record. A live provider and a list receive the \
      changes of other writers. The demo deletes a required child and shows the cascade, reports \
      commits to a second process, reopens the store, and shows that all data is still there.
      """
    ],
    examples: [
      .init("pando demo", "in a temporary directory, which is removed at the end"),
      .init("pando demo forest && pando ls forest", "in a store that stays, to look into"),
    ])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    if let path = arguments.optional(0) {
      try await Demo(path: path, output).run()
      try output.line("The store stays in \(path): try  pando ls \(path)")
      return
    }
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("pando-demo-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    try await Demo(path: directory.path, output).run()
    try output.line("The store was temporary and is gone; keep one with  pando demo STORE")
  }
}

/// The steps of `pando demo`.
struct Demo {
  /// The messages of one sender in the last step: enough to show that the cost of one change stays
  /// constant, and quick to store.
  static let archiveCount = 10_000

  private let path: String
  private let output: StandardOutput
  private let startedAt = ContinuousClock.now

  /// Makes a demo that uses a store.
  ///
  /// - Parameters:
  ///   - path: The store's directory.
  ///   - output: The output of the demo.
  init(path: String, _ output: StandardOutput) {
    self.path = path
    self.output = output
  }

  /// Runs the demo.
  func run() async throws {
    try output.line("Pando: model trees on one root system, in \(path)")
    try await StoreAccess.create.open(path, for: DemoCommand.declaration) { store in
      try await storeModels(store)
      try showTree(store)
      try await changeOne(store)
      try await changeOneAmongMany(store)
      try await watch(store)
      try await deleteRequired(store)
      try await tellAnotherProcess(store)
    }
    try await StoreAccess.create.open(path, for: DemoCommand.declaration) { store in
      try showAgain(store)
    }
  }

  private func storeModels(_ store: ModelStore) async throws {
    try title("Store three messages, three people, five images and a contact list")
    let (commit, time) = try await timed {
      try await store.commit { transaction in
        try transaction.setCollection(DemoModels.inboxKey, to: DemoModels.messages)
        try transaction.set(DemoModels.contacts)
      }
    }
    let written = (commit.changeSet?.inserted.count ?? 0) + (commit.changeSet?.updated.count ?? 0)
    try say(
      "One transaction, \(Figures.count(written, "node")) written, each once, in \(time).")
  }

  private func showTree(_ store: ModelStore) throws {
    try title("A message is a tree, and its parts are nodes that other trees hold too")
    let tree = try store.read { try $0.tree("Message:demo-1") }
    for line in tree.map({ TreePicture(of: $0).lines }) ?? [] { try say(line) }
    let holders = try store.read { try $0.ancestors(of: "Image:demo-ada") }
    try say("")
    try say("Image:demo-ada is held by " + holders.sorted().joined(separator: ", "))
  }

  private func changeOne(_ store: ModelStore) async throws {
    try title("Ada changes her name: one record is written, every tree shows it")
    try showNames(store, "before")
    let (changeSet, time) = try await timed {
      try await store.commit { transaction in
        guard var ada = try transaction.snapshot.get("Person:demo-ada", as: Person.self) else {
          return
        }
        ada.name = "Ada Lovelace"
        try transaction.set(ada)
      }.changeSet
    }
    try showNames(store, "after")
    let roots = try await store.read { try $0.roots(of: "Person:demo-ada") }
    try say(
      "\(Figures.count(changeSet?.updated.count ?? 0, "record")) written in \(time); "
        + "\(Figures.count(roots.count, "stored tree")) changed: "
        + roots.sorted().joined(separator: ", "))
  }

  private func showNames(_ store: ModelStore, _ moment: String) throws {
    let (messages, contacts) = try store.read { snapshot in
      (
        try snapshot.collection(DemoModels.inboxKey, as: Message.self) ?? [],
        try snapshot.get("ContactList:demo", as: ContactList.self)
      )
    }
    let senders = messages.map(\.sender.name).joined(separator: ", ")
    let people = (contacts?.people ?? []).map(\.name).joined(separator: ", ")
    try say("\(moment == "after" ? "after " : moment)  senders: \(senders); contacts: \(people)")
  }

  private func changeOneAmongMany(_ store: ModelStore) async throws {
    let count = Demo.archiveCount
    try title("The same among \(Figures.count(count)) more messages, all from Grace")
    let (_, storing) = try await timed {
      try await store.write { transaction in
        for message in DemoModels.archive(count: count) { try transaction.set(message) }
      }
    }
    try say("stored in \(storing)")
    let (changeSet, changing) = try await timed {
      try await store.commit { transaction in
        var grace = DemoModels.grace
        grace.name = "Rear Admiral Grace Hopper"
        try transaction.set(grace)
      }.changeSet
    }
    try say(
      "Grace is promoted: \(Figures.count(changeSet?.updated.count ?? 0, "record")) "
        + "written in \(changing)")
    let (promoted, reading) = try await timed {
      try store.read { snapshot in
        var promoted = 0
        try snapshot.forEachModel(of: Message.self) { message in
          if message.sender.name == "Rear Admiral Grace Hopper" { promoted += 1 }
          return true
        }
        return promoted
      }
    }
    try say("\(Figures.count(promoted)) messages read in \(reading) show her new rank")
  }

  private func deleteRequired(_ store: ModelStore) async throws {
    try title("Delete Ada: a message cannot be without its sender, a contact list can")
    let (deletion, time) = try await timed {
      try await store.write { try $0.deleteIfPresent("Person:demo-ada") }
    }
    guard let deletion else { return }
    try say("deleted     " + deletion.deleted.joined(separator: ", "))
    try say("updated     " + deletion.updated.joined(separator: ", "))
    try say("collections " + deletion.collections.joined(separator: ", "))
    try say("One transaction, \(time); nothing points to what is gone.")
  }

  private func tellAnotherProcess(_ store: ModelStore) async throws {
    try title("Another process has the same store open: pando watch")
    let last = try await store.read { try $0.commitValue }
    // Its first line reports an existing commit: after that line, the process waits for new ones.
    let watcher = try SecondProcess(["watch", path, "--since", String(last - 1), "--json"])
    _ = try watcher.nextLine()
    var delays: [String] = []
    var line = ""
    for name in ["Grace B. Hopper", "Grace Brewster Hopper", "Grace Hopper"] {
      var grace = DemoModels.grace
      grace.name = name
      let person = grace
      try await store.write { try $0.set(person) }
      let committed = ContinuousClock.now
      line = try watcher.nextLine()
      delays.append(Figures.duration(ContinuousClock.now - committed))
    }
    watcher.end()
    try say("it prints " + line)
    try say(
      "Its lines were here \(delays.joined(separator: ", ")) after the commits had returned.")
  }

  private func showAgain(_ store: ModelStore) throws {
    try title("Close the store, open it again: all is as it was")
    try showNames(store, "now")
    let report = try store.verify()
    let statistics = try store.statistics()
    let state = report.isClean ? "clean" : "damaged: \(report.problems)"
    try say(
      "verified \(state): \(Figures.count(statistics.nodeCount, "node")), "
        + "\(Figures.count(statistics.edgeCount, "edge")), "
        + "\(Figures.count(statistics.commitNumber.value, "commit")), "
        + "\(Figures.bytes(statistics.usedSizeInBytes)) used")
    try say("the whole story took \(Figures.duration(ContinuousClock.now - startedAt))")
    try output.line()
  }

  func title(_ text: String) throws {
    try output.line()
    try output.line("● " + text)
    try output.flush()
  }

  func say(_ text: String) throws {
    try output.line(text.isEmpty ? "" : "  " + text)
  }

  func timed<Result>(
    _ body: () async throws -> Result
  ) async throws -> (Result, String) {
    let startedAt = ContinuousClock.now
    let result = try await body()
    return (result, Figures.duration(ContinuousClock.now - startedAt))
  }
}

import Pando

/// Writes in transactions; each moves the clock, and all that it sets has the number that the clock then says.
struct ProcessWriter {
  private static let listMaximum = 14

  private let views: ProcessViews
  private let settings: ProcessSettings
  private var choices: Choices

  init(_ views: ProcessViews, _ settings: ProcessSettings, _ choices: Choices) {
    self.views = views
    self.settings = settings
    self.choices = choices
  }

  mutating func run(until mustPause: () -> Bool) async throws {
    while !mustPause(), !views.ledger.hasFinding {
      // Many at once, or one after another with time in between, in which all watchers sleep.
      if choices.chance(25) { try await Task.sleep(for: .microseconds(choices.below(6_000))) }
      if choices.chance(10) { views.pause(choices.chance(50)) }
      try await write()
    }
  }

  /// The number of the clock.
  func count() throws -> Int {
    try views.store.read { try $0[Models.Clock.key]?.count ?? 0 }
  }

  /// Writes once.
  mutating func write() async throws {
    let seed = UInt64(choices.below(.max))
    views.ledger.step(settings.process, "writes")
    try await views.store.write { [settings] transaction in
      // The closure may run again.
      var choices = Choices(seed: seed)
      let clock = try transaction.snapshot[Models.Clock.key]
      var number = (clock?.count ?? 0) + 1
      if settings.control == .turnsBack, number > 3, choices.chance(20) { number -= 2 }
      for _ in 0...choices.below(3) { try Self.act(number, &choices, &transaction) }
      try transaction.set(
        Models.Clock(count: number, process: settings.process, time: ClockWatch.now))
    }
  }

  private static func act(
    _ number: Int, _ choices: inout Choices, _ transaction: inout ModelTransaction
  ) throws {
    let group = choices.pick(Array(ProcessViews.clockedGroups))
    let name = choices.pick(LiveNames.items(of: group))
    switch choices.below(16) {
    case 0...1: try transaction.set(Models.Item(name, number))
    case 2:
      // The other type of an item that is there.
      if try transaction.snapshot.contains(LiveNames.item(name)) {
        try transaction.set(Models.Card(name, number))
      }
    case 3...4:
      let books = LiveNames.items(of: group).filter { _ in choices.chance(50) }
      let lead = choices.chance(50) ? Models.Item(name, number) : nil
      try transaction.set(
        Models.Shelf(
          id: .remote(group), name: "shelf \(number)",
          books: books.map { Models.Item($0, number) }, lead: lead))
    case 5: try transaction.set(Models.Box(name: group, item: Models.Item(name, number)))
    // With the box that can't do without it, and from shelves and lists.
    case 6...7: try transaction.deleteIfPresent(LiveNames.item(name))
    case 8:
      try transaction.deleteIfPresent(
        choices.chance(50) ? LiveNames.shelf(group) : LiveNames.box(group))
    default:
      let key = choices.chance(50) ? LiveNames.sharedList : LiveNames.list(of: group)
      try edit(key, Models.Item(name, number), &choices, &transaction)
    }
  }

  private static func edit(
    _ key: String, _ item: Models.Item, _ choices: inout Choices,
    _ transaction: inout ModelTransaction
  ) throws {
    let count = try transaction.snapshot.collectionCount(key) ?? 0
    let (place, target) = (choices.below(count + 1), choices.below(max(1, count)))
    let kind = choices.below(6)
    if count > listMaximum {
      try transaction.removeElements(in: target..<min(count, target + 6), fromCollection: key)
    } else if kind == 0 {
      try transaction.append([item], toCollection: key)
    } else if kind == 1 || count == 0 {
      try transaction.insert([item], at: place, inCollection: key)
    } else if kind == 2 {
      try transaction.update(item, at: target, inCollection: key)
    } else if kind == 3 {
      try transaction.removeElements(in: target..<target + 1, fromCollection: key)
    } else {
      try transaction.moveElement(
        from: target, to: choices.below(count), inCollection: key)
    }
  }
}

import Pando

/// Writes through the providers of a process: models, a list that all processes change, pauses.
struct SoakEditor {
  private static let markCount = 12
  private static let listMaximum = 40

  private let views: SoakViews
  private var random: SeededGenerator
  private var number = 0

  init(_ views: SoakViews, _ seed: UInt64) {
    self.views = views
    random = SeededGenerator(seed: seed, views.process, -2)
  }

  mutating func run(_ path: String, until deadline: ContinuousClock.Instant) async throws {
    let lock = try QuietLock(path)
    while ContinuousClock.now < deadline {
      // Some calls at once: what a provider shows runs ahead of what is committed.
      let writes = (0..<Int.random(in: 1...4, using: &random)).map { _ in call() }
      try await lock.working {
        views.pause(&random)
        for write in writes.map({ $0() }) {
          do {
            try await write.committed()
          } catch let error as DataProviderError
            where error.code == .indexOutOfRange || error.code == .superseded
          {
            // Another process has meanwhile removed the element.
          }
        }
      }
    }
    say("edits \(views.process) \(number)")
  }

  private mutating func mark() -> SoakModels.Mark {
    number += 1
    let name = Int.random(in: 0..<Self.markCount, using: &random)
    return SoakModels.Mark(id: "mark:\(name)", number: views.process << 32 + number)
  }

  /// Returns a call that is made later.
  private mutating func call() -> () -> PendingWrite {
    let mark = mark()
    let place = Int.random(in: 0..<Self.listMaximum, using: &random)
    let target = Int.random(in: 0..<Self.listMaximum, using: &random)
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<4:
      let note = SoakModels.Note(
        id: "note:\(views.process)", number: mark.number, mark: random.chance(60) ? mark : nil)
      return { [views] in views.notes[2 * views.process].set(note) }
    case 4:
      return { [views] in views.manager.deleteModel(mark) }
    case 5:
      return { [views] in views.manager.updateModel(mark) }
    default:
      return edit { list in
        let count = list.count
        if count >= Self.listMaximum { return list.remove(at: (count / 2)..<count) }
        if count <= max(place, target) { return list.insert([mark], at: min(place, count)) }
        return switch mark.number % 4 {
        case 0: list.insert([mark], at: place)
        case 1: list.update(mark, at: place)
        case 2: list.remove(at: place)
        default: list.move(from: place, to: target)
        }
      }
    }
  }

  private func edit(
    _ body: @escaping (CollectionDataProvider<SoakModels.Mark>) -> PendingWrite
  ) -> () -> PendingWrite {
    { [views] in
      let list = views.marks[0]
      let write = body(list.provider)
      list.follow(write.change)
      return write
    }
  }
}
